// DEPTH explicit steps in one pass over the field, constant coefficients: see explicit.py for the scheme, streamed.py for
// how the work is laid out.
//
// Compiled at run time, with the macros of tiles.cuh, TOGETHER (rows computed at once), SLOTS (rows on their way at once),
// TEAM (warps that work on an inner tile together: 1, or all of a block; then SLOTS has room for two turns of the inner
// loop) and COMPENSATED (0 or 1: what rounding has lost of the temperatures follows them in memory, see compensated.py).

#include "../../copies.cuh"
#include "../../exchange.cuh"
#include "tiles.cuh"

struct Field {
  const real* __restrict__ T;
  real* __restrict__ out;
  int nx, ny;
  real rx, q;
};

constexpr int ROW_BYTES = (COMPENSATED ? 2 : 1) * 32 * LANE * sizeof(real);  // of a slot
constexpr int MEMORY = SLOTS * ROW_BYTES + 6 * DEPTH * sizeof(real);  // of a warp

template <int W> __device__ __forceinline__ void store(char* to, const real (&v)[W]) {
  Cells<W> together;
#pragma unroll
  for (int w = 0; w < W; w++) together.v[w] = v[w];
  *(Cells<W>*)to = together;
}

// A warp walks up a tile. It holds one row of each of DEPTH levels in time, K cells a lane. When row j of a level
// arrives, row j - 1 of the next level is complete, and is the row that arrives there: so DEPTH steps cost one read and
// one write. Cells up to DEPTH around the tile are computed too.
//
// Where warps are teams, each of them has its share of the levels of an inner tile, and leaves rows of the last of these
// in shared memory for the next warp, which takes them a turn later. Barriers are met by all of them equally often,
// before, in and after their loops; all run the same code, which has to fit the instruction cache.
template <int K, int W, int SIDES, int ENDS>
__device__ __forceinline__ void sweep(const Field& f, const Edges& e, const Tile tile, char* memory) {
  constexpr int RANKS = SIDES || ENDS ? 1 : TEAM;
  const int rank = RANKS > 1 ? __shfl_sync(ALL, threadIdx.x >> 5, 0) : 0;
  const bool leads = RANKS == 1 || rank == 0, closes = RANKS == 1 || rank == RANKS - 1;
  constexpr int TURN = SIDES || ENDS ? 1 : UNROLL, ROWS = SIDES || ENDS ? 1 : TOGETHER, LEVELS = DEPTH / RANKS;
  constexpr int PARTS = K / W, HALO = halo(W), BYTES = W * sizeof(real), PLANE = 32 * K * sizeof(real);
  constexpr int PLANES = COMPENSATED ? 2 : 1, ROW = PLANES * PLANE;
  typedef Cells<W> Part;
  const int lane = threadIdx.x & 31, nx = f.nx, ny = f.ny;
  const long long plane = (long long)nx * ny;
  const real rx = f.rx, q = f.q;
  const int first = tile.x0 - HALO;  // column of lane 0
  const int begin = ENDS & BOTTOM && !WRAP_Y ? max(tile.y0 - DEPTH, 0) : tile.y0 - DEPTH, end = tile.y1 + DEPTH;

  // Parts of a row are copied by neighbouring lanes in turn, and read by the lane that works on them.
  auto place = [](int part) { return (PARTS % 2 == 0 ? part ^ (part >> 3 & 1) : part) * BYTES; };
  unsigned to[PARTS];
  int from[PARTS];
  char* at[PARTS];
  unsigned own_rows[PARTS];  // of the result, from tile.y0 on: none where the columns are another tile's
#pragma unroll
  for (int p = 0; p < PARTS; p++) {
    to[p] = shared_address(memory) + place(p * 32 + lane);
    at[p] = memory + place(lane * PARTS + p);
    int x = first + (p * 32 + lane) * W;
    if (WRAP_X) x = (x % nx + nx) % nx;
    from[p] = min(max(x, 0), nx - W);
    const int own = first + lane * K + p * W;
    own_rows[p] = own >= tile.x0 && own < tile.x1 ? tile.y1 - tile.y0 : 0;
  }
  constexpr bool INNER = !SIDES && !ENDS && !WRAP_X;  // all columns exist
  const real* source = f.T + (long long)((begin % ny + ny) % ny) * nx + (INNER ? first + lane * W : 0);
  const real* const last = f.T + (long long)(ny - 1) * nx + (INNER ? first + lane * W : 0);
  real* target = f.out + (long long)(begin - DEPTH) * nx + first + lane * K;
  auto fetch = [&](int slot, int row) {
    const bool there = row < end && (!(ENDS & TOP) || WRAP_Y || row < ny);
#pragma unroll
    for (int p = 0; p < PARTS; p++) {
      const real* const part = source + (INNER ? p * 32 * W : from[p]);
      copy_async<BYTES>(to[p] + slot, part, there);
      if (COMPENSATED) copy_async<BYTES>(to[p] + slot + PLANE, part + plane, there);
    }
    end_group();
    source = WRAP_Y && source == last ? source - (long long)(ny - 1) * nx : source + nx;
  };

  // The row that arrived last, its difference to the row below, and what rounding has lost of it.
  real c[LEVELS][K], below[LEVELS][K], lost[LEVELS][K];
#pragma unroll
  for (int t = 0; t < LEVELS; t++)
#pragma unroll
    for (int k = 0; k < K; k++) c[t][k] = below[t][k] = lost[t][k] = 0;

  // Of tiles at edges: the lanes and cells of the first and the last column, and the ledger of one row a lane.
  const int points = 2 * (nx + ny);
  const int left = SIDES & LEFT && tile.x0 == 0 ? HALO : -1;
  int right = SIDES & RIGHT ? 32 * K - HALO - 1 : -1;
  if (SIDES & RIGHT && ENDS) right = first > nx - 1 || first + 32 * K <= nx - 1 ? -1 : nx - 1 - first;
  real left_sum = 0, right_sum = 0;
  const bool book_left = left >= 0, book_right = right >= 0 && tile.x1 == nx;
  // Beta and gamma of every level for the row that is complete there, and the differences at the sides.
  real* const sides = (real*)(memory + SLOTS * ROW_BYTES);
  real left_beta = 0, left_gamma = 0, right_beta = 0, right_gamma = 0;  // of level `lane`, loaded a row ahead
  auto look_up = [&](int row) {
    if (lane < DEPTH) {
      const int y = row - lane - 1, inside = WRAP_Y ? (y % ny + ny) % ny : min(max(y, 0), ny - 1);
      const real* beta = e.table + lane * e.stride + inside;
      if (SIDES & LEFT && left >= 0) left_beta = __ldg(beta), left_gamma = __ldg(beta + points);
      if (SIDES & RIGHT && right >= 0) right_beta = __ldg(beta + ny), right_gamma = __ldg(beta + points + ny);
    }
  };
  if (SIDES) look_up(begin);
  // Level `low` has row 0 arriving, level `high` has its last row complete: beta and gamma there, then the differences.
  real low_difference[K], high_difference[K];
#pragma unroll
  for (int k = 0; k < K; k++) low_difference[k] = high_difference[k] = 0;

  if (leads)
#pragma unroll
    for (int i = 0; i < (RANKS > 1 ? SLOTS - TURN : SLOTS - 1); i++) fetch(i * ROW, begin + i);
  int slot = 0;
  for (int turn = 0; RANKS > 1 && turn < rank; turn++) meet();
#pragma unroll 1
  for (int i = begin; i < end; i += TURN) {
    if (RANKS > 1) {
      if (leads) wait_for_groups<SLOTS - 2 * TURN>();
      meet();
      if (leads)  // into slots that all lanes have read before the barrier
#pragma unroll
        for (int r = 0; r < TURN; r++)
          fetch((slot == 0 ? (SLOTS - TURN) * ROW : slot - TURN * ROW) + r * ROW, i + r + SLOTS - TURN);
    }
#pragma unroll
    for (int turn = 0; turn < TURN; turn += ROWS) {
      const int row = i + turn;
      if (RANKS == 1) {
        wait_for_groups<SLOTS - 1 - ROWS>();
        __syncwarp();
      }
      real v[ROWS][K], rest[ROWS][K];  // the row that arrives, and what rounding has lost of it
#pragma unroll
      for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int p = 0; p < PARTS; p++) {
          const char* const here = at[p] + slot + (turn + r) * ROW;
          const Part part = *(const Part*)here, more = *(const Part*)(here + (PLANES - 1) * PLANE);
#pragma unroll
          for (int w = 0; w < W; w++) v[r][p * W + w] = part.v[w], rest[r][p * W + w] = more.v[w];
        }
      if (RANKS == 1) {  // Into slots that all lanes have read before the last barrier.
        fetch(turn > 0 ? slot + (turn - 1) * ROW : slot == 0 ? (SLOTS - 1) * ROW : slot - ROW, row + SLOTS - 1);
        if (ROWS > 1) __syncwarp();
#pragma unroll
        for (int r = 1; r < ROWS; r++) fetch(slot + (turn + r - 1) * ROW, row + r + SLOTS - 1);
      }
      if (SIDES && row - 1 >= tile.y0 && row - 1 < tile.y1 && lane == (row - 1 & 31)) {
        if (SIDES & LEFT && book_left) left_sum = e.ledger[row - 1];
        if (SIDES & RIGHT && book_right) right_sum = e.ledger[ny + row - 1];
      }
      if (SIDES) {
        if (lane < DEPTH) {
          if (SIDES & LEFT) sides[2 * lane] = left_beta, sides[2 * lane + 1] = left_gamma;
          if (SIDES & RIGHT) sides[2 * (DEPTH + lane)] = right_beta, sides[2 * (DEPTH + lane) + 1] = right_gamma;
        }
        __syncwarp();
        look_up(row + 1);
      }
      const int low = ENDS & BOTTOM && !WRAP_Y && row < DEPTH ? row : -1;
      const int high = ENDS & TOP && !WRAP_Y && row >= ny ? row - ny : -1;
      real low_beta[K], low_gamma[K], high_beta[K], high_gamma[K];
      if (ENDS && (low >= 0 || high >= 0)) {
#pragma unroll
        for (int k = 0; k < K; k++) {
          const int x = first + lane * K + k, within = WRAP_X ? (x % nx + nx) % nx : min(max(x, 0), nx - 1);
          const real* beta = e.table + 2 * ny + within;
          if (low >= 0) {
            low_beta[k] = __ldg(beta + low * e.stride);
            low_gamma[k] = __ldg(beta + low * e.stride + points);
          }
          if (high >= 0) {
            high_beta[k] = __ldg(beta + high * e.stride + nx);
            high_gamma[k] = __ldg(beta + high * e.stride + points + nx);
          }
        }
      }
#pragma unroll
      for (int t = 0; t < LEVELS; t++)
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
          const real last = __shfl_down_sync(ALL, c[t][0], 1) - c[t][K - 1];
          real g = __shfl_up_sync(ALL, last, 1);
#pragma unroll
          for (int k = 0; k < K; k++) {
            const real middle = c[t][k];
            real to_east = k < K - 1 ? c[t][k + 1] - middle : last;
            real above = v[r][k] - middle;
            real next_below = above;
            if (SIDES & LEFT && HALO % K == k) {
              const real d = fma(-sides[2 * t], middle, sides[2 * t + 1]);
              if (left == lane * K + k) g = -d, sides[4 * DEPTH + t] = d;
            }
            if (SIDES & RIGHT && (ENDS || (32 * K - HALO - 1) % K == k)) {
              const real d = fma(-sides[2 * (DEPTH + t)], middle, sides[2 * (DEPTH + t) + 1]);
              if (right == lane * K + k) to_east = d, sides[5 * DEPTH + t] = d;
            }
            if (ENDS & BOTTOM && t == low) {
              low_difference[k] = fma(-low_beta[k], v[r][k], low_gamma[k]);
              next_below = -low_difference[k];
            }
            if (ENDS & TOP && t == high) above = high_difference[k] = fma(-high_beta[k], middle, high_gamma[k]);
            const real total = fma(q, above - below[t][k], to_east - g);
            g = to_east;
            below[t][k] = next_below;
            c[t][k] = v[r][k];
            if (COMPENSATED) {
              const real rise = fma(rx, total, lost[t][k]);
              v[r][k] = middle + rise;
              lost[t][k] = rest[r][k];
              rest[r][k] = rise - (v[r][k] - middle);
            } else
              v[r][k] = fma(rx, total, middle);
          }
        }
      if (SIDES) {
        __syncwarp();
        const int t = row - 1 - lane & 31, y = row - 1 - t;
        if (t < DEPTH && y >= tile.y0 && y < tile.y1) {
          left_sum = fma(rx, sides[4 * DEPTH + t], left_sum);
          right_sum = fma(rx, sides[5 * DEPTH + t], right_sum);
        }
      }
      if (ENDS && (low >= 0 && tile.y0 == 0 || high >= 0 && tile.y1 == ny)) {
#pragma unroll
        for (int k = 0; k < K; k++) {
          const int x = first + lane * K + k;
          if (x < tile.x0 || x >= tile.x1) continue;
          real* sum = e.ledger + 2 * ny + x;
          if (low >= 0 && tile.y0 == 0) sum[0] = fma(rx * q, low_difference[k], sum[0]);
          if (high >= 0 && tile.y1 == ny) sum[nx] = fma(rx * q, high_difference[k], sum[nx]);
        }
      }
      const int finished = row - DEPTH;
      if (SIDES && finished >= tile.y0 && finished < tile.y1 && lane == (finished & 31)) {
        if (SIDES & LEFT && book_left) e.ledger[finished] = left_sum;
        if (SIDES & RIGHT && book_right) e.ledger[ny + finished] = right_sum;
      }
#pragma unroll
      for (int r = 0; r < ROWS; r++) {
#pragma unroll
        for (int p = 0; p < PARTS; p++) {
          const bool own = (unsigned)(finished + r - tile.y0) < own_rows[p];
          real part[W], more[W];
#pragma unroll
          for (int w = 0; w < W; w++) part[w] = v[r][p * W + w], more[w] = rest[r][p * W + w];
          if (closes) {
            store_if(own, target + p * W, part);
            if (COMPENSATED) store_if(own, target + plane + p * W, more);
          } else {
            char* const next = at[p] + MEMORY + slot + (turn + r) * ROW;
            store(next, part);
            if (COMPENSATED) store(next + PLANE, more);
          }
        }
        target += nx;
      }
    }
    slot = slot == (SLOTS - TURN) * ROW ? 0 : slot + TURN * ROW;
  }
  for (int turn = rank; RANKS > 1 && turn < RANKS - 1; turn++) meet();
}

// The tile of a warp by its number, or -1. Of a team, all have the same inner tile, or one edge tile each.
__device__ __forceinline__ int tile_of(const Tiles& tiles, int ny, int warp) {
  if (TEAM == 1) return blockIdx.x * WARPS + warp;
  const int tall = tiles.strips * tiles.chunks, after = blockIdx.x - tall;
  const int edges = tiles.columns * (tiles.low + (tiles.high < ny ? 1 : 0)) + 2 * tiles.sides;
  const int edge_blocks = (edges + TEAM - 1) / TEAM, edge = after * TEAM + warp;
  if (after < 0) return blockIdx.x;
  if (after >= edge_blocks) return tall + edges + after - edge_blocks;
  return edge < edges ? tall + edge : -1;
}

// at: where the row of the edge table for the first step begins.
extern "C" __global__ void __launch_bounds__(32 * WARPS, BLOCKS)
steps(const real* __restrict__ T, real* __restrict__ out, int nx, int ny, Edges edges, long long at, Mesh mesh, real rx,
      Tiles tiles) {
  extern __shared__ __align__(16) char memory[];
  const int warp = WARPS > 1 ? __shfl_sync(ALL, threadIdx.x >> 5, 0) : 0;
  const Field f = {T, out, nx, ny, rx, mesh.q};
  const int number = tile_of(tiles, ny, warp);
  edges.table += at;
  if (TEAM == 1 || number >= 0) sweep_up(number, tiles, f, edges, memory + warp * MEMORY);
}
