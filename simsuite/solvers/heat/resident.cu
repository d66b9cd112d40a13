// Explicit steps of a small grid whose cells stay in registers, constant coefficients: see explicit.py for the scheme,
// resident.py for how the work is laid out.
//
// Compiled at run time, with macros: REAL (float or double), DEPTH (steps between exchanges), LANE (neighbouring cells of
// a row that a lane holds), TOGETHER (of which so many are loaded at once), ROWS (of them), WARPS (a block, one above the
// other), EVEN (1 where edges lie between lanes), EARLY (1 where there are registers to compute ahead). The grid is as large as a block or larger.

#include "exchange.cuh"

typedef REAL real;

constexpr unsigned ALL = ~0u;
constexpr int WIDTH = 32 * LANE, HEIGHT = WARPS * ROWS;  // cells a block holds
constexpr int POINTS = 2 * (WIDTH + HEIGHT);             // of its edges: left, right, bottom, top

struct Cells {
  alignas(sizeof(real) * TOGETHER) real v[TOGETHER];
};
struct alignas(2 * sizeof(real)) Point {
  real beta, gamma;
};
struct Memory {
  real rows[2][WARPS][2][WIDTH];   // the first and the last row of each warp, of two steps by turns
  real differences[DEPTH][POINTS];  // to the ghosts, of all steps since the last exchange
  real sums[POINTS];               // the ledger
  Point edge[1];                   // beta and gamma, for each of these steps if they change
};
struct Grid {
  int nx, ny;
  bool wrap_x, wrap_y;
  int x0, x1, y0, y1;  // cells that are this block's own
};

// The cell that i stands for, at most a block away from the grid.
__device__ __forceinline__ int within(int i, int n, bool wrap) {
  return wrap ? (i < 0 ? i + n : i >= n ? i - n : i) : min(max(i, 0), n - 1);
}

// SIDES: whether the block reaches beyond the left or the right edge; ENDS: beyond the bottom or the top. What does not
// need other warps comes before the barrier of each step, if there are registers for it.
template <bool SIDES, bool ENDS>
__device__ __forceinline__ void advance(real (&v)[ROWS][LANE], const Grid g, Memory& memory, bool moving, real rx, real q,
                                        int count) {
  const int lane = threadIdx.x & 31, warp = __shfl_sync(ALL, threadIdx.x >> 5, 0);
  const int x = g.x0 - DEPTH + lane * LANE, y = g.y0 - DEPTH + warp * ROWS;  // of this lane's first cell
  const int left = SIDES && !g.wrap_x ? -x : -1, right = SIDES && !g.wrap_x ? g.nx - 1 - x : -1;  // their cells here
  const int low = ENDS && !g.wrap_y ? -y : -1, high = ENDS && !g.wrap_y ? g.ny - 1 - y : -1;
  const bool at_right = right >= 0 && right < LANE, at_side = at_right || (left >= 0 && left < LANE);
  const int side = (at_right ? HEIGHT : 0) + warp * ROWS;  // point of this lane's first row, if it is at a side

#pragma unroll 1
  for (int t = 0; t < count; t++) {
    real(&rows)[WARPS][2][WIDTH] = memory.rows[t & 1];
#pragma unroll
    for (int k = 0; k < LANE; k++) {
      rows[warp][0][lane + 32 * k] = v[0][k];
      rows[warp][1][lane + 32 * k] = v[ROWS - 1][k];
    }
    const Point* edge = memory.edge + (moving ? t * POINTS : 0);
    real across[EARLY ? ROWS : 1][LANE], under[LANE], over[LANE];
    auto prepare = [&](int r) {  // what does not need other warps
      const real west = __shfl_up_sync(ALL, v[r][LANE - 1], 1), east = __shfl_down_sync(ALL, v[r][0], 1);
      real to_west = v[r][0] - west, booked = 0;
      Point point;
      if (SIDES) point = edge[side + r];
#pragma unroll
      for (int k = 0; k < LANE; k++) {
        const real middle = v[r][k];
        real to_east = (k < LANE - 1 ? v[r][k + 1] : east) - middle;
        if (SIDES && (!EVEN || k == 0 || k == LANE - 1)) {
          const real d = fma(-point.beta, middle, point.gamma);
          if (!EVEN || k == 0) to_west = left == k ? -d : to_west, booked = left == k ? d : booked;
          if (!EVEN || k == LANE - 1) to_east = right == k ? d : to_east, booked = right == k ? d : booked;
        }
        across[EARLY ? r : 0][k] = to_east - to_west;
        to_west = to_east;
      }
      if (SIDES && at_side) memory.differences[t][side + r] = booked;
      if (ENDS && (r == low || r == high)) {
#pragma unroll
        for (int k = 0; k < LANE; k++) {
          const int p = 2 * HEIGHT + lane * LANE + k;
          if (r == low) under[k] = memory.differences[t][p] = fma(-edge[p].beta, v[r][k], edge[p].gamma);
          if (r == high)
            over[k] = memory.differences[t][WIDTH + p] = fma(-edge[WIDTH + p].beta, v[r][k], edge[WIDTH + p].gamma);
        }
      }
    };
    if (EARLY) {
#pragma unroll
      for (int r = 0; r < ROWS; r++) prepare(r);
    }
    __syncthreads();
    real below[LANE], north[LANE];
#pragma unroll
    for (int k = 0; k < LANE; k++) {
      below[k] = v[0][k] - rows[max(warp - 1, 0)][1][lane + 32 * k];
      north[k] = rows[min(warp + 1, WARPS - 1)][0][lane + 32 * k];
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      if (!EARLY) prepare(r);
#pragma unroll
      for (int k = 0; k < LANE; k++) {
        const real middle = v[r][k];
        real above = (r < ROWS - 1 ? v[r + 1][k] : north[k]) - middle;
        if (ENDS && r == low) below[k] = -under[k];
        if (ENDS && r == high) above = over[k];
        v[r][k] = fma(rx, fma(q, above - below[k], across[EARLY ? r : 0][k]), middle);
        below[k] = above;
      }
    }
  }
}

// Blocks are numbered row by row; all of them run at once if count > DEPTH. rims: two fields through which they
// exchange the cells within DEPTH of their edges, by turns. turns: how many exchanges each block has begun.
extern "C" __global__ void __launch_bounds__(32 * WARPS, 1)
steps(const real* __restrict__ T, real* __restrict__ out, const real* __restrict__ table, long long at, long long stride,
      real* ledger, int nx, int ny, int wrap_x, int wrap_y, real rx, real q, int count, real* rims, int* turns, int columns,
      int lines) {
  extern __shared__ __align__(16) char shared[];
  Memory& memory = *(Memory*)shared;
  int block, column, line, first_x, first_y, x, y;
  Grid g;
  // Anew after each turn, as if the number of the block were another: the registers are those of the steps between.
  auto locate = [&] {
    block = blockIdx.x;
    asm volatile("" : "+r"(block));
    column = block % columns, line = block / columns;
    const int groups = (nx + LANE - 1) / LANE;
    g = {nx,
         ny,
         wrap_x != 0,
         wrap_y != 0,
         column * groups / columns * LANE,
         min((column + 1) * groups / columns * LANE, nx),
         line * ny / lines,
         (line + 1) * ny / lines};
    first_x = g.x0 - DEPTH, first_y = g.y0 - DEPTH;
    x = first_x + (threadIdx.x & 31) * LANE, y = first_y + __shfl_sync(ALL, threadIdx.x >> 5, 0) * ROWS;
  };
  locate();
  const bool sides = !g.wrap_x && (first_x <= 0 || first_x + WIDTH >= nx);
  const bool ends = !g.wrap_y && (first_y <= 0 || first_y + HEIGHT >= ny);
  const bool moving = stride != 0;
  const int points = 2 * (nx + ny);

  // Point p of the block in the ledger and the table, and whether its booking is up to this block.
  auto point_of = [&](int p) {
    if (p < 2 * HEIGHT) return (p < HEIGHT ? 0 : ny) + within(first_y + p % HEIGHT, ny, g.wrap_y);
    return 2 * ny + (p < 2 * HEIGHT + WIDTH ? 0 : nx) + within(first_x + (p - 2 * HEIGHT) % WIDTH, nx, g.wrap_x);
  };
  auto own = [&](int p) {
    const int i = p < 2 * HEIGHT ? first_y + p % HEIGHT : first_x + (p - 2 * HEIGHT) % WIDTH;
    if (p < 2 * HEIGHT) return !g.wrap_x && i >= g.y0 && i < g.y1 && (p < HEIGHT ? g.x0 == 0 : g.x1 == nx);
    return !g.wrap_y && i >= g.x0 && i < g.x1 && (p < 2 * HEIGHT + WIDTH ? g.y0 == 0 : g.y1 == ny);
  };
  real v[ROWS][LANE];
  // A group of cells along x: its place in a row, beyond the grid that of another group; whether it is this block's own,
  // and whether it is so near to an edge of the block that others want it.
  constexpr int GROUPS = LANE / TOGETHER;
  struct Group {
    int place;
    bool mine, wanted;
  };
  auto group = [&](int i) {
    const bool own = i >= g.x0 && i < g.x1;
    return Group{g.wrap_x ? within(i, nx, true) : min(max(i, 0), nx - TOGETHER), own,
                 own && (i < g.x0 + DEPTH || i + TOGETHER > g.x1 - DEPTH)};
  };
  auto row = [&](int i) { return (long long)within(i, ny, g.wrap_y) * nx; };
  auto load = [&](const real* field, int r, int j, int place) {
    const Cells cells = *(const Cells*)(field + place);
#pragma unroll
    for (int i = 0; i < TOGETHER; i++) v[r][j * TOGETHER + i] = cells.v[i];
  };
  auto look_up = [&](int done, int n) {
    for (int i = threadIdx.x; i < n * POINTS; i += 32 * WARPS) {
      const real* beta = table + at + (done + i / POINTS) * stride + point_of(i % POINTS);
      memory.edge[i] = {beta[0], beta[points]};
    }
  };

#pragma unroll
  for (int r = 0; r < ROWS; r++)
#pragma unroll
    for (int j = 0; j < GROUPS; j++) load(T + row(y + r), r, j, group(x + j * TOGETHER).place);
  if (sides || ends) {
    for (int p = threadIdx.x; p < POINTS; p += 32 * WARPS) memory.sums[p] = own(p) ? ledger[point_of(p)] : 0;
    look_up(0, moving ? min(count, DEPTH) : 1);
  }
  int turn = count > DEPTH ? turns[block] : 0;  // the same for all blocks
  if (WARPS > 1) __syncthreads();

#pragma unroll 1
  for (int done = 0;;) {
    const int n = min(DEPTH, count - done);
    if (sides && ends)
      advance<true, true>(v, g, memory, moving, rx, q, n);
    else if (sides)
      advance<true, false>(v, g, memory, moving, rx, q, n);
    else if (ends)
      advance<false, true>(v, g, memory, moving, rx, q, n);
    else
      advance<false, false>(v, g, memory, moving, rx, q, n);
    done += n;
    locate();

    const bool last = done >= count;
    real* const target = last ? out : rims + (turn & 1) * ((long long)nx * ny);
    Group groups_now[GROUPS];
#pragma unroll
    for (int j = 0; j < GROUPS; j++) groups_now[j] = group(x + j * TOGETHER);
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      const int i = y + r;
      if (i < g.y0 || i >= g.y1) continue;
      const bool all = last || i < g.y0 + DEPTH || i >= g.y1 - DEPTH;
      real* const to = target + row(i);
#pragma unroll
      for (int j = 0; j < GROUPS; j++) {
        Cells cells;
#pragma unroll
        for (int c = 0; c < TOGETHER; c++) cells.v[c] = v[r][j * TOGETHER + c];
        if (all ? groups_now[j].mine : groups_now[j].wanted) *(Cells*)(to + groups_now[j].place) = cells;
      }
    }
    if (!last) __threadfence();
    __syncthreads();
    if (!last && threadIdx.x == 0) announce(turns + block, turn + 1);
    if (sides || ends)
      for (int p = threadIdx.x; p < POINTS; p += 32 * WARPS) {
        real sum = memory.sums[p];
        const real r = p < 2 * HEIGHT ? rx : rx * q;
        for (int t = 0; t < n; t++) sum = own(p) ? fma(r, memory.differences[t][p], sum) : sum;
        memory.sums[p] = sum;
        if (last && own(p)) ledger[point_of(p)] = sum;
      }
    if (last) return;

    if ((sides || ends) && moving) look_up(done, min(DEPTH, count - done));
    turn++;
    if (threadIdx.x < 9) {
      const int dx = (int)threadIdx.x % 3 - 1, dy = (int)threadIdx.x / 3 - 1;
      const int other_x = g.wrap_x ? (column + dx + columns) % columns : column + dx;
      const int other_y = g.wrap_y ? (line + dy + lines) % lines : line + dy;
      if (other_x >= 0 && other_x < columns && other_y >= 0 && other_y < lines)
        wait_for(turns + other_y * columns + other_x, turn);
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      const int i = y + r;
      const bool other = i < g.y0 || i >= g.y1;
      const real* const from = target + row(i);
#pragma unroll
      for (int j = 0; j < GROUPS; j++)
        if (other || !groups_now[j].mine) load(from, r, j, groups_now[j].place);
    }
  }
}
