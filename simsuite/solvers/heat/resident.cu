// Up to DEPTH explicit steps of a small grid in one launch, constant coefficients: see explicit.py for the scheme,
// resident.py for how the work is laid out.
//
// Compiled at run time, with macros: REAL (float or double), DEPTH (steps at most), LANE (neighbouring cells of a row
// that a lane holds), TOGETHER (of which so many are loaded at once), ROWS (of them), WARPS (a block, one above the
// other), EVEN (1 where edges lie between lanes). The grid is as large as a block or larger.

typedef REAL real;

constexpr unsigned ALL = ~0u;
constexpr int WIDTH = 32 * LANE, HEIGHT = WARPS * ROWS;  // cells a block holds
constexpr int OUT_X = WIDTH - 2 * DEPTH, OUT_Y = HEIGHT - 2 * DEPTH;  // those that are right after DEPTH steps
constexpr int POINTS = 2 * (WIDTH + HEIGHT);  // of its edges: left, right, bottom, top

struct Cells {
  alignas(sizeof(real) * TOGETHER) real v[TOGETHER];
};
struct alignas(2 * sizeof(real)) Point {
  real beta, gamma;
};
struct Memory {
  real rows[2][WARPS][2][WIDTH];  // the first and the last row of each warp, of two steps by turns
  real sums[2][HEIGHT];           // the ledger of the left and the right edge
  Point edge[1];                  // beta and gamma of all points, for each step if they change
};
struct Grid {
  int nx, ny;
  bool wrap_x, wrap_y;
  int x0, y0;  // first cell that this block has a result for
};

// The cell that i stands for, at most a block away from the grid.
__device__ __forceinline__ int within(int i, int n, bool wrap) {
  return wrap ? (i < 0 ? i + n : i >= n ? i - n : i) : min(max(i, 0), n - 1);
}

// SIDES: whether the block reaches beyond the left or the right edge; ENDS: beyond the bottom or the top.
template <bool SIDES, bool ENDS>
__device__ __forceinline__ void advance(real (&v)[ROWS][LANE], const Grid g, Memory& memory, bool moving, real* ledger,
                                        real rx, real q, int count) {
  const int lane = threadIdx.x & 31, warp = __shfl_sync(ALL, threadIdx.x >> 5, 0), nx = g.nx, ny = g.ny;
  const int x = g.x0 - DEPTH + lane * LANE, y = g.y0 - DEPTH + warp * ROWS;  // of this lane's first cell
  const int end_x = min(g.x0 + OUT_X, nx), end_y = min(g.y0 + OUT_Y, ny);
  const int left = SIDES && !g.wrap_x ? -x : -1, right = SIDES && !g.wrap_x ? nx - 1 - x : -1;  // their cells here
  const bool at_left = left >= 0 && left < LANE, at_right = right >= 0 && right < LANE, at_side = at_left || at_right;
  const int low = ENDS && !g.wrap_y ? -y : -1, high = ENDS && !g.wrap_y ? ny - 1 - y : -1;
  const int side = (at_right ? HEIGHT : 0) + warp * ROWS;  // point of this lane's first row, if it is at a side
  real* const sums = memory.sums[0] + side;
  const bool own_side = at_right ? end_x == nx : g.x0 == 0;
  real low_sum[LANE], high_sum[LANE];  // the ledger of cells at the bottom and the top
  if (SIDES && at_side) {
#pragma unroll
    for (int r = 0; r < ROWS; r++)
      sums[r] = own_side && y + r >= g.y0 && y + r < end_y ? ledger[(at_right ? ny : 0) + y + r] : 0;
  }
  if (ENDS) {
#pragma unroll
    for (int k = 0; k < LANE; k++) {
      const bool own = x + k >= g.x0 && x + k < end_x;
      low_sum[k] = own && low >= 0 && low < ROWS ? ledger[2 * ny + x + k] : 0;
      high_sum[k] = own && high >= 0 && high < ROWS ? ledger[2 * ny + nx + x + k] : 0;
    }
  }

#pragma unroll 1
  for (int t = 0; t < count; t++) {
    real below[LANE], north[LANE];
    if (WARPS > 1) {
      real(&rows)[WARPS][2][WIDTH] = memory.rows[t & 1];
#pragma unroll
      for (int k = 0; k < LANE; k++) {
        rows[warp][0][lane + 32 * k] = v[0][k];
        rows[warp][1][lane + 32 * k] = v[ROWS - 1][k];
      }
      __syncthreads();
#pragma unroll
      for (int k = 0; k < LANE; k++) {
        below[k] = v[0][k] - rows[max(warp - 1, 0)][1][lane + 32 * k];
        north[k] = rows[min(warp + 1, WARPS - 1)][0][lane + 32 * k];
      }
    } else {
#pragma unroll
      for (int k = 0; k < LANE; k++) below[k] = 0, north[k] = v[ROWS - 1][k];
    }
    const Point* edge = memory.edge + (moving ? t * POINTS : 0);
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      const real west = __shfl_up_sync(ALL, v[r][LANE - 1], 1), east = __shfl_down_sync(ALL, v[r][0], 1);
      real to_west = v[r][0] - west;
      Point point;
      if (SIDES) point = edge[side + r];
      real booked = 0;
      real above[LANE];
#pragma unroll
      for (int k = 0; k < LANE; k++) above[k] = (r < ROWS - 1 ? v[r + 1][k] : north[k]) - v[r][k];
      if (ENDS && (r == low || r == high)) {
#pragma unroll
        for (int k = 0; k < LANE; k++) {
          const Point* at = edge + 2 * HEIGHT + lane * LANE + k;
          if (r == low) {
            const real d = fma(-at[0].beta, v[r][k], at[0].gamma);
            low_sum[k] = fma(rx * q, d, low_sum[k]);
            below[k] = -d;
          }
          if (r == high) {
            above[k] = fma(-at[WIDTH].beta, v[r][k], at[WIDTH].gamma);
            high_sum[k] = fma(rx * q, above[k], high_sum[k]);
          }
        }
      }
#pragma unroll
      for (int k = 0; k < LANE; k++) {
        const real middle = v[r][k];
        real to_east = (k < LANE - 1 ? v[r][k + 1] : east) - middle;
        if (SIDES && (!EVEN || k == 0 || k == LANE - 1)) {
          const real d = fma(-point.beta, middle, point.gamma);
          if (!EVEN || k == 0) to_west = left == k ? -d : to_west, booked = left == k ? d : booked;
          if (!EVEN || k == LANE - 1) to_east = right == k ? d : to_east, booked = right == k ? d : booked;
        }
        v[r][k] = fma(rx, fma(q, above[k] - below[k], to_east - to_west), middle);
        to_west = to_east;
        below[k] = above[k];
      }
      if (SIDES && at_side) sums[r] = fma(rx, booked, sums[r]);
    }
  }

  if (SIDES && at_side && own_side) {
#pragma unroll
    for (int r = 0; r < ROWS; r++)
      if (y + r >= g.y0 && y + r < end_y) ledger[(at_right ? ny : 0) + y + r] = sums[r];
  }
  if (ENDS) {
#pragma unroll
    for (int k = 0; k < LANE; k++) {
      if (x + k < g.x0 || x + k >= end_x) continue;
      if (low >= 0 && low < ROWS && g.y0 == 0) ledger[2 * ny + x + k] = low_sum[k];
      if (high >= 0 && high < ROWS && end_y == ny) ledger[2 * ny + nx + x + k] = high_sum[k];
    }
  }
}

extern "C" __global__ void __launch_bounds__(32 * WARPS)
steps(const real* __restrict__ T, real* __restrict__ out, const real* __restrict__ table, long long at, long long stride,
      real* ledger, int nx, int ny, int wrap_x, int wrap_y, real rx, real q, int count, int columns) {
  extern __shared__ __align__(16) char shared[];
  Memory& memory = *(Memory*)shared;
  const Grid g = {nx, ny, wrap_x != 0, wrap_y != 0, (int)blockIdx.x % columns * OUT_X, (int)blockIdx.x / columns * OUT_Y};
  const int first_x = g.x0 - DEPTH, first_y = g.y0 - DEPTH;
  const int x = first_x + (threadIdx.x & 31) * LANE, y = first_y + (threadIdx.x >> 5) * ROWS;
  const bool sides = !wrap_x && (first_x <= 0 || first_x + WIDTH >= nx);
  const bool ends = !wrap_y && (first_y <= 0 || first_y + HEIGHT >= ny);

  real v[ROWS][LANE];
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    const real* row = T + (long long)within(y + r, ny, wrap_y) * nx;
#pragma unroll
    for (int k = 0; k < LANE; k += TOGETHER) {
      // Beyond the grid whole groups of cells are those of another group: nx is a multiple of their number.
      const int group = wrap_x ? within(x + k, nx, true) : min(max(x + k, 0), nx - TOGETHER);
      const Cells cells = *(const Cells*)(row + group);
#pragma unroll
      for (int i = 0; i < TOGETHER; i++) v[r][k + i] = cells.v[i];
    }
  }
  if (sides || ends)
    for (int i = threadIdx.x; i < (stride == 0 ? 1 : count) * POINTS; i += 32 * WARPS) {
      const int t = i / POINTS, p = i % POINTS;
      const int point = p < 2 * HEIGHT ? (p < HEIGHT ? 0 : ny) + within(first_y + p % HEIGHT, ny, wrap_y)
                                       : 2 * ny + (p < 2 * HEIGHT + WIDTH ? 0 : nx) +
                                             within(first_x + (p - 2 * HEIGHT) % WIDTH, nx, wrap_x);
      const real* beta = table + at + t * stride + point;
      memory.edge[i] = {beta[0], beta[2 * (nx + ny)]};
    }
  if (WARPS == 1) __syncwarp();  // otherwise the barrier of the first step does

  const bool moving = stride != 0;
  if (sides && ends)
    advance<true, true>(v, g, memory, moving, ledger, rx, q, count);
  else if (sides)
    advance<true, false>(v, g, memory, moving, ledger, rx, q, count);
  else if (ends)
    advance<false, true>(v, g, memory, moving, ledger, rx, q, count);
  else
    advance<false, false>(v, g, memory, moving, ledger, rx, q, count);

  const int end_x = min(g.x0 + OUT_X, nx), end_y = min(g.y0 + OUT_Y, ny);
#pragma unroll
  for (int r = 0; r < ROWS; r++)
#pragma unroll
    for (int k = 0; k < LANE; k += TOGETHER) {
      if (y + r < g.y0 || y + r >= end_y || x + k < g.x0 || x + k >= end_x) continue;
      Cells cells;
#pragma unroll
      for (int i = 0; i < TOGETHER; i++) cells.v[i] = v[r][k + i];
      *(Cells*)(out + (long long)(y + r) * nx + x + k) = cells;
    }
}
