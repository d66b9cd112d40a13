// Explicit steps of a small grid whose cells stay in registers, constant coefficients: see explicit.py for the scheme,
// resident.py for how the work is laid out.
//
// Compiled at run time, with macros: REAL (float or double), DEPTH (steps between exchanges), LANE (neighbouring cells of
// a row that a lane holds), TOGETHER (cells of these that are loaded at once), ROWS (rows of cells of a warp), WARPS (of a
// block, one above the other), EARLY (1 where there are registers to compute ahead), COMPENSATED (0 or 1: what rounding
// has lost of the temperatures follows them in memory, see compensated.py). The grid is as large as a block or larger.

#include "../../exchange.cuh"
#include "arguments.cuh"

constexpr unsigned ALL = ~0u;
constexpr int WIDTH = 32 * LANE, HEIGHT = WARPS * ROWS;  // cells a block holds
constexpr int HALO = (DEPTH + LANE - 1) / LANE * LANE;   // of them at a side, those of another block
constexpr int POINTS = HEIGHT + WIDTH;                   // of edges that a block may reach: of one side and one end
constexpr int GROUPS = LANE / TOGETHER;
constexpr int PLANES = COMPENSATED ? 2 : 1;    // of a field
constexpr bool LOW = ROWS < 8;                // few rows, whose sums a warp holds in registers
constexpr int NONE = 0, FIRST = 1, LAST = 2;  // edges: left or right are sides, bottom or top are ends

struct Cells {
  alignas(sizeof(real) * TOGETHER) real v[TOGETHER];
};
struct alignas(2 * sizeof(real)) Point {
  real beta, gamma;
};
struct Range {
  int begin, end;
};
struct Place {
  int column, line;        // of the block
  Range own_x, own_y;      // cells that are its own
  Range inner_x, inner_y;  // of these, those that no other block wants
  int first_x, first_y;    // the cell it holds first
  int side, end;           // the edges that its own cells touch
};
// Rows of a warp, a bit each: those of this block, of these the ones that other blocks want, and of others those that are
// wanted here. And where each begins in a field.
struct Lines {
  int own, rim, near;
  int at[ROWS];
};
struct Memory {
  real rows[2][WARPS][2][WIDTH];  // the first and the last row of each warp, of two steps by turns
  real sums[POINTS];              // the ledger
  Place here;
  Lines lines[WARPS];
  Point edge[1];  // beta and gamma, for each of the steps until the next exchange if they change
};

__device__ __forceinline__ bool in(int i, Range range) { return i >= range.begin && i < range.end; }

// The cell that i stands for, at most a block away from the grid.
__device__ __forceinline__ int within(int i, int n) { return i < 0 ? i + n : i >= n ? i - n : i; }

// The first cell of a part, of so many in all; parts are multiples of `unit` cells. At the edges of the domain a part has
// `halo` cells more, as it needs none of other blocks there.
__device__ __forceinline__ int border(int part, int parts, int n, int unit, int halo, bool wrap) {
  if (part == 0 || part == parts) return part == 0 ? 0 : n;
  const int extra = wrap ? 0 : halo;
  return extra + part * ((n - 2 * extra + unit - 1) / unit) / parts * unit;
}

__device__ __forceinline__ Place locate(int nx, int ny, bool wrap_x, bool wrap_y, int columns, int lines) {
  Place p;
  p.column = blockIdx.x % columns, p.line = blockIdx.x / columns;
  p.side = wrap_x ? NONE : p.column == 0 ? FIRST : p.column == columns - 1 ? LAST : NONE;
  p.end = wrap_y ? NONE : p.line == 0 ? FIRST : p.line == lines - 1 ? LAST : NONE;
  p.own_x = {border(p.column, columns, nx, LANE, HALO, wrap_x), border(p.column + 1, columns, nx, LANE, HALO, wrap_x)};
  p.own_y = {border(p.line, lines, ny, 1, DEPTH, wrap_y), border(p.line + 1, lines, ny, 1, DEPTH, wrap_y)};
  p.inner_x = {p.own_x.begin + (p.side == FIRST ? 0 : HALO), p.own_x.end - (p.side == LAST ? 0 : HALO)};
  p.inner_y = {p.own_y.begin + (p.end == FIRST ? 0 : DEPTH), p.own_y.end - (p.end == LAST ? 0 : DEPTH)};
  p.first_x = p.own_x.begin - HALO, p.first_y = p.own_y.begin - DEPTH;
  if (!wrap_x) p.first_x = max(0, min(p.first_x, nx - WIDTH));
  if (!wrap_y) p.first_y = max(0, min(p.first_y, ny - HEIGHT));
  return p;
}

__device__ __forceinline__ void list_lines(Lines& lines, const Place& p, int first, int nx, int ny) {
  int own = 0, rim = 0, near = 0;
#pragma unroll 1
  for (int r = 0; r < ROWS; r++) {
    const int y = first + r, bit = 1 << r;
    if (in(y, p.own_y))
      own |= bit, rim |= in(y, p.inner_y) ? 0 : bit;
    else
      near |= in(y, {p.own_y.begin - DEPTH, p.own_y.end + DEPTH}) ? bit : 0;
    lines.at[r] = within(y, ny) * nx;
  }
  lines.own = own, lines.rim = rim, lines.near = near;
}

// The column of the block that point i of an end belongs to: neighbouring lanes read neighbouring points.
__device__ __forceinline__ int end_column(int i) { return i % 32 * LANE + i / 32; }

// `count` steps of one warp. SIDE: the edge that its first or its last column touches; END: its first or its last row.
// What does not need other warps comes before the barrier of each step, if there are registers for it.
template <int SIDE, int END>
__device__ __forceinline__ void advance(real (&field)[PLANES][ROWS][LANE], Memory& memory, bool moving, real rx, real q,
                                        int count) {
  real(&v)[ROWS][LANE] = field[0], (&lost)[ROWS][LANE] = field[PLANES - 1];
  const int lane = threadIdx.x & 31, warp = __shfl_sync(ALL, threadIdx.x >> 5, 0);
  const bool at_side = lane == (SIDE == FIRST ? 0 : 31);
  constexpr int SIDE_CELL = SIDE == FIRST ? 0 : LANE - 1, END_ROW = END == FIRST ? 0 : ROWS - 1;
  real* const side_sums = memory.sums + warp * ROWS;
  real side_sum[LOW ? ROWS : 1], end_sum[LANE];
#pragma unroll
  for (int r = 0; r < ROWS; r++)
    if (LOW) side_sum[r] = SIDE ? side_sums[r] : 0;
#pragma unroll
  for (int k = 0; k < LANE; k++) end_sum[k] = END ? memory.sums[HEIGHT + lane + 32 * k] : 0;

#pragma unroll 1
  for (int t = 0; t < count; t++) {
    real(&rows)[WARPS][2][WIDTH] = memory.rows[t & 1];
#pragma unroll
    for (int k = 0; k < LANE; k++) {
      rows[warp][0][lane + 32 * k] = v[0][k];
      rows[warp][1][lane + 32 * k] = v[ROWS - 1][k];
    }
    const Point* const edge = memory.edge + (moving ? t * POINTS : 0);
    real across[EARLY ? ROWS : 1][LANE], outward[LANE];
    auto prepare = [&](int r) {
      const real west = __shfl_up_sync(ALL, v[r][LANE - 1], 1), east = __shfl_down_sync(ALL, v[r][0], 1);
      real to_west = v[r][0] - west, difference = 0;
      if (SIDE) {
        const Point point = edge[warp * ROWS + r];
        difference = fma(-point.beta, v[r][SIDE_CELL], point.gamma);
        if (LOW)
          side_sum[r] = fma(rx, difference, side_sum[r]);
        else if (at_side)
          side_sums[r] = fma(rx, difference, side_sums[r]);
        if (SIDE == FIRST) to_west = at_side ? -difference : to_west;
      }
#pragma unroll
      for (int k = 0; k < LANE; k++) {
        real to_east = (k < LANE - 1 ? v[r][k + 1] : east) - v[r][k];
        if (SIDE == LAST && k == LANE - 1) to_east = at_side ? difference : to_east;
        across[EARLY ? r : 0][k] = to_east - to_west;
        to_west = to_east;
      }
    };
    if (EARLY) {
#pragma unroll
      for (int r = 0; r < ROWS; r++) prepare(r);
    }
    if (END) {
#pragma unroll
      for (int k = 0; k < LANE; k++) {
        const Point point = edge[HEIGHT + lane + 32 * k];
        outward[k] = fma(-point.beta, v[END_ROW][k], point.gamma);
        end_sum[k] = fma(rx * q, outward[k], end_sum[k]);
      }
    }
    meet();
    real below[LANE], north[LANE];
#pragma unroll
    for (int k = 0; k < LANE; k++) {
      below[k] = END == FIRST ? -outward[k] : v[0][k] - rows[max(warp - 1, 0)][1][lane + 32 * k];
      north[k] = rows[min(warp + 1, WARPS - 1)][0][lane + 32 * k];
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      if (!EARLY) prepare(r);
#pragma unroll
      for (int k = 0; k < LANE; k++) {
        const real middle = v[r][k];
        real above = (r < ROWS - 1 ? v[r + 1][k] : north[k]) - middle;
        if (END == LAST && r == ROWS - 1) above = outward[k];
        const real total = fma(q, above - below[k], across[EARLY ? r : 0][k]);
        if (COMPENSATED) {
          const real rise = fma(rx, total, lost[r][k]);
          v[r][k] = middle + rise;
          lost[r][k] = rise - (v[r][k] - middle);
        } else
          v[r][k] = fma(rx, total, middle);
        below[k] = above;
      }
    }
  }
#pragma unroll
  for (int r = 0; r < ROWS; r++)
    if (LOW && SIDE && at_side) side_sums[r] = side_sum[r];
#pragma unroll
  for (int k = 0; k < LANE; k++)
    if (END) memory.sums[HEIGHT + lane + 32 * k] = end_sum[k];
}

// `count` steps. at: where the row of the edge table for the first of them begins. Blocks are numbered row by row; all of
// them run at once if count > DEPTH.
extern "C" __global__ void __launch_bounds__(32 * WARPS, 1)
steps(const real* __restrict__ T, real* __restrict__ out, int nx, int ny, Edges edges, long long at, Mesh mesh, real rx,
      int count, Exchange exchange) {
  const int wrap_x = mesh.wrap_x, wrap_y = mesh.wrap_y;
  const int columns = exchange.columns, lines = exchange.lines;
  const real q = mesh.q;
  const long long stride = edges.stride;
  const real* const table = edges.table;
  real *const ledger = edges.ledger, *const rims = exchange.rims;
  int* const turns = exchange.turns;
  extern __shared__ __align__(16) char shared[];
  Memory& memory = *(Memory*)shared;
  if (threadIdx.x == 0) memory.here = locate(nx, ny, wrap_x, wrap_y, columns, lines);
  __syncthreads();
  const volatile Place& kept = memory.here;  // volatile, as steps in between need its registers
  const int lane = threadIdx.x & 31, warp = __shfl_sync(ALL, threadIdx.x >> 5, 0);
  const bool moving = stride != 0;
  const int edge_points = 2 * (nx + ny);

  // Points of the block: whether there is an edge, its place in the ledger and the table, and whether it is this block's
  // to book.
  auto exists = [&](int p) { return (p < HEIGHT ? kept.side : kept.end) != NONE; };
  auto point_of = [&](int p) {
    if (p < HEIGHT) return (kept.side == LAST ? ny : 0) + within(kept.first_y + p, ny);
    return 2 * ny + (kept.end == LAST ? nx : 0) + within(kept.first_x + end_column(p - HEIGHT), nx);
  };
  auto own = [&](int p) {
    const int i = p < HEIGHT ? kept.first_y + p : kept.first_x + end_column(p - HEIGHT);
    return p < HEIGHT ? i >= kept.own_y.begin && i < kept.own_y.end : i >= kept.own_x.begin && i < kept.own_x.end;
  };
  auto look_up = [&](int done, int n) {
    for (int i = threadIdx.x; i < n * POINTS; i += 32 * WARPS) {
      if (!exists(i % POINTS)) continue;
      const real* beta = table + at + (done + i / POINTS) * stride + point_of(i % POINTS);
      memory.edge[i] = {__ldg(beta), __ldg(beta + edge_points)};
    }
  };

  real v[PLANES][ROWS][LANE];  // temperatures, then what rounding has lost of them
  auto load = [&](const real* from, int r, int j) {
#pragma unroll
    for (int p = 0; p < PLANES; p++) {
      const Cells cells = *(const Cells*)(from + p * nx * ny);
#pragma unroll
      for (int i = 0; i < TOGETHER; i++) v[p][r][j * TOGETHER + i] = cells.v[i];
    }
  };
  const bool bounded = kept.side != NONE || kept.end != NONE;
  {
    const int x = kept.first_x + lane * LANE, y = kept.first_y + warp * ROWS;
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
      for (int j = 0; j < GROUPS; j++) load(T + within(y + r, ny) * nx + within(x + j * TOGETHER, nx), r, j);
  }
  if (bounded) {
    for (int p = threadIdx.x; p < POINTS; p += 32 * WARPS) memory.sums[p] = exists(p) && own(p) ? ledger[point_of(p)] : 0;
    look_up(0, moving ? min(count, DEPTH) : 1);
  }
  if (lane == 0) list_lines(memory.lines[warp], memory.here, kept.first_y + warp * ROWS, nx, ny);
  int turn = count > DEPTH ? turns[blockIdx.x] : 0;  // the same for all blocks
  __syncthreads();

#pragma unroll 1
  for (int done = 0;;) {
    const int n = min(DEPTH, count - done);
    const int end = kept.end == FIRST && warp == 0 || kept.end == LAST && warp == WARPS - 1 ? kept.end : NONE;
    switch (3 * kept.side + end) {
      case 0: advance<NONE, NONE>(v, memory, moving, rx, q, n); break;
      case 1: advance<NONE, FIRST>(v, memory, moving, rx, q, n); break;
      case 2: advance<NONE, LAST>(v, memory, moving, rx, q, n); break;
      case 3: advance<FIRST, NONE>(v, memory, moving, rx, q, n); break;
      case 4: advance<FIRST, FIRST>(v, memory, moving, rx, q, n); break;
      case 5: advance<FIRST, LAST>(v, memory, moving, rx, q, n); break;
      case 6: advance<LAST, NONE>(v, memory, moving, rx, q, n); break;
      case 7: advance<LAST, FIRST>(v, memory, moving, rx, q, n); break;
      case 8: advance<LAST, LAST>(v, memory, moving, rx, q, n); break;
    }
    done += n;

    const bool last = done >= count;
    real* const target = last ? out : rims + (turn & 1) * PLANES * nx * ny;
    const Range own_x = {kept.own_x.begin, kept.own_x.end}, inner_x = {kept.inner_x.begin, kept.inner_x.end};
    const Lines& rows = memory.lines[warp];
    unsigned place[GROUPS];           // of a group in a row
    int ours = 0, rim = 0, near = 0;  // a bit for each group, as for rows
#pragma unroll
    for (int j = 0; j < GROUPS; j++) {
      const int x = kept.first_x + lane * LANE + j * TOGETHER;
      place[j] = within(x, nx);
      ours |= in(x, own_x) << j, rim |= (in(x, own_x) & !in(x, inner_x)) << j;
      near |= (in(x, {own_x.begin - HALO, own_x.end + HALO}) & !in(x, own_x)) << j;
    }
    const int own_rows = rows.own, whole_rows = last ? own_rows : rows.rim;
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      const int given = own_rows >> r & 1 ? (whole_rows >> r & 1 ? ours : rim) : 0;
      const unsigned at = rows.at[r];
#pragma unroll
      for (int j = 0; j < GROUPS; j++) {
#pragma unroll
        for (int p = 0; p < PLANES; p++) {
          Cells cells;
#pragma unroll
          for (int c = 0; c < TOGETHER; c++) cells.v[c] = v[p][r][j * TOGETHER + c];
          if (given >> j & 1) *(Cells*)(target + p * nx * ny + (at + place[j])) = cells;
        }
      }
    }
    __syncthreads();
    if (last) {
      for (int p = threadIdx.x; bounded && p < POINTS; p += 32 * WARPS)
        if (exists(p) && own(p)) ledger[point_of(p)] = memory.sums[p];
      if (threadIdx.x == 0 && count > DEPTH) turns[blockIdx.x] = turn;
      return;
    }
    turn++;
    if (threadIdx.x == 0) announce(turns + blockIdx.x, turn);
    if (bounded && moving) look_up(done, min(DEPTH, count - done));
    if (warp == WARPS - 1 && lane < 9) {  // another warp than the one that announces, which takes as long
      int column = kept.column + lane % 3 - 1, line = kept.line + lane / 3 - 1;
      if (wrap_x) column = within(column, columns);
      if (wrap_y) line = within(line, lines);
      if (in(column, {0, columns}) && in(line, {0, lines})) wait_for(turns + line * columns + column, turn);
    }
    __syncthreads();
    const int near_rows = rows.near;
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      const int taken = own_rows >> r & 1 ? near : near_rows >> r & 1 ? ours | near : 0;
      const unsigned at = rows.at[r];
#pragma unroll
      for (int j = 0; j < GROUPS; j++)
        if (taken >> j & 1) load(target + (at + place[j]), r, j);
    }
  }
}
