// DEPTH explicit steps in one pass over the field, coefficients that differ from cell to cell: see operator.py for the
// scheme, general.py for what is kept where.
//
// Compiled at run time, with the macros of tiles.cuh, AHEAD (rows on their way at once), HEATED (1: with sources that
// stay the same), TERMS (number of products in x and y that make up the other sources), UNIFORM (1: all inner faces
// conduct alike, and those of an edge), EVEN (1: 1/(ρc) is the same number everywhere), HELD (1: cells are held at a
// temperature) and COMPENSATED (1: what rounding has lost of the temperatures follows them in memory, see compensated.py).

#include "../../copies.cuh"
#include "tiles.cuh"
#include "held.cuh"

struct Field {
  const real* __restrict__ T;
  real* __restrict__ out;
  int nx, ny;
  real dt;
  const Plate& plate;
  const Sources& sources;
};

// Kinds of coefficients: conductances of faces to the east and to the north, 1/(ρc), source.
constexpr int KINDS = 2 * !UNIFORM + !EVEN + HEATED;
constexpr int PLANES = COMPENSATED ? 2 : 1;  // of the field
constexpr int ROWS = (AHEAD + 1) * PLANES, RING = DEPTH + AHEAD;  // kept of the field, and of the coefficients
__device__ constexpr int row_bytes(int lane) { return 32 * lane * sizeof(real); }
__device__ constexpr int ring_bytes(int lane) { return (ROWS + RING * KINDS) * row_bytes(lane); }
__device__ constexpr int kept_bytes(int lane) { return ring_bytes(lane) + DEPTH * TERMS * row_bytes(lane); }
__device__ constexpr int edge_bytes(int lane) { return kept_bytes(lane) + 7 * DEPTH * sizeof(real); }
__device__ constexpr int larger(int a, int b) { return a > b ? a : b; }
constexpr int MEMORY = larger(kept_bytes(LANE), larger(edge_bytes(SIDE_LANE), edge_bytes(BAND_LANE)));  // of a warp

// What flows through a face, to be added to one cell and taken from the other. Like the kernel that takes one step at a
// time, it adds a zero, after which no zero is negative.
__device__ __forceinline__ real through(real conducts, real difference) { return fma(conducts, difference, real(0)); }

template <int W, int K> __device__ __forceinline__ void read(real (&v)[K], const char* row, int plane) {
#pragma unroll
  for (int p = 0; p < K / W; p++) {
    const Cells<W> part = *(const Cells<W>*)(row + p * plane);
#pragma unroll
    for (int w = 0; w < W; w++) v[p * W + w] = part.v[w];
  }
}

// A warp walks up a tile as in streamed.cu. Heat flows through a face are computed once, for both of its cells. When row
// j of a level arrives, row j - 1 is complete: G has the coefficients for that in its row j. Of G a ring of rows is
// kept, which all levels read, each one row later than the level before.
template <int K, int W, int SIDES, int ENDS>
__device__ __forceinline__ void sweep(const Field& f, const Edges& e, const Tile tile, char* memory) {
  constexpr int PARTS = K / W, HALO = halo(W), TURN = SIDES || ENDS ? 1 : UNROLL;
  constexpr int BYTES = W * sizeof(real), ROW = row_bytes(K), PLANE = ROW / PARTS;
  typedef Cells<W> Part;
  const int lane = threadIdx.x & 31, nx = f.nx, ny = f.ny;
  const long long plane = (long long)nx * ny;
  const real* const gx = f.plate.gx;
  const real dt = f.dt, even = f.dt * f.plate.c;
  const int first = tile.x0 - HALO;  // column of lane 0
  const int begin = ENDS & BOTTOM && !WRAP_Y ? max(tile.y0 - DEPTH, 0) : tile.y0 - DEPTH, end = tile.y1 + DEPTH;

  // Parts of a row are copied by neighbouring lanes in turn. Those that a lane works on lie in one plane each.
  unsigned to[PARTS];
  int from[PARTS];
  unsigned own_rows[PARTS];  // of the result, from tile.y0 on: none where the columns are another tile's
#pragma unroll
  for (int p = 0; p < PARTS; p++) {
    const int part = p * 32 + lane;
    to[p] = shared_address(memory) + part % PARTS * PLANE + part / PARTS * BYTES;
    int x = first + part * W;
    if (WRAP_X) x = (x % nx + nx) % nx;
    from[p] = min(max(x, 0), nx - W);
    const int own = first + lane * K + p * W;
    own_rows[p] = own >= tile.x0 && own < tile.x1 ? tile.y1 - tile.y0 : 0;
  }
  constexpr bool INNER = !SIDES && !ENDS && !WRAP_X;  // all columns exist
  const int shift = INNER ? first + lane * W : 0, around = (begin % ny + ny) % ny;
  const real* source = f.T + (long long)around * nx + shift;
  const real* coefficients = f.plate.G + (long long)around * KINDS * nx + shift;
  const real* const last = f.T + (long long)(ny - 1) * nx + shift;
  real* target = f.out + (long long)(begin - DEPTH) * nx + first + lane * K;
  int fill = 0, fill_ring = ROWS * ROW;
  auto fetch = [&](int row) {
    if (row < end && (!(ENDS & TOP) || WRAP_Y || row < ny)) {
#pragma unroll
      for (int a = 0; a < PLANES; a++)
#pragma unroll
        for (int p = 0; p < PARTS; p++)
          copy_async<BYTES>(to[p] + fill + a * ROW, source + a * plane + (INNER ? p * 32 * W : from[p]));
    }
    if (row < end && (!(ENDS & TOP) || WRAP_Y || row <= ny)) {
#pragma unroll
      for (int a = 0; a < KINDS; a++)
#pragma unroll
        for (int p = 0; p < PARTS; p++)
          copy_async<BYTES>(to[p] + fill_ring + a * ROW, coefficients + (long long)a * nx + (INNER ? p * 32 * W : from[p]));
    }
    end_group();
    const bool turn = WRAP_Y && source == last;
    source = turn ? source - (long long)(ny - 1) * nx : source + nx;
    coefficients = turn ? coefficients - (long long)(ny - 1) * KINDS * nx : coefficients + KINDS * nx;
    fill = fill == AHEAD * PLANES * ROW ? 0 : fill + PLANES * ROW;
    fill_ring = fill_ring == (ROWS + (RING - 1) * KINDS) * ROW ? ROWS * ROW : fill_ring + KINDS * ROW;
  };

  const Sources& moving = f.sources;
  // Sources that move: of all levels the factors in x, which stay the same all the way up; of level `lane` those in y,
  // in the row that is complete there, loaded a row ahead.
#pragma unroll
  for (int t = 0; t < DEPTH; t++)
#pragma unroll
    for (int i = 0; i < TERMS; i++)
#pragma unroll
      for (int p = 0; p < PARTS; p++)
        copy_async<BYTES>(to[p] + ring_bytes(K) + (t * TERMS + i) * ROW, moving.xs + t * moving.x_stride + i * nx + from[p]);
  constexpr int SOME = TERMS ? TERMS : 1;
  real next_y[SOME];
  auto look_up_y = [&](int row) {
    if (TERMS && lane < DEPTH) {
      const int y = row - lane - 1, inside = WRAP_Y ? (y % ny + ny) % ny : min(max(y, 0), ny - 1);
#pragma unroll
      for (int i = 0; i < TERMS; i++) next_y[i] = __ldg(moving.ys + lane * moving.y_stride + (long long)i * ny + inside);
    }
  };
  look_up_y(begin);

  // The row that arrived last, minus what flows into it from below, and what rounding has lost of it.
  real c[DEPTH][K], below[DEPTH][K], lost[DEPTH][K];
#pragma unroll
  for (int t = 0; t < DEPTH; t++)
#pragma unroll
    for (int k = 0; k < K; k++) c[t][k] = below[t][k] = lost[t][k] = 0;

  // Of tiles at edges: the lanes and cells of the first and the last column, and the ledger of one row a lane.
  const int points = 2 * (nx + ny);
  const int left = SIDES & LEFT && tile.x0 == 0 ? HALO : -1;
  int right = SIDES & RIGHT ? 32 * K - HALO - 1 : -1;
  if (SIDES & RIGHT && ENDS) right = first > nx - 1 || first + 32 * K <= nx - 1 ? -1 : nx - 1 - first;
  real left_sum = 0, right_sum = 0, left_conducts = 0, right_conducts = 0;
  const bool book_left = left >= 0, book_right = right >= 0 && tile.x1 == nx;
  // Beta and gamma of every level for the row that is complete there, the differences at the sides, and conductances
  // of the faces at the left.
  real* const sides = (real*)(memory + kept_bytes(K));
  real left_beta = 0, left_gamma = 0, left_face = 0, right_beta = 0, right_gamma = 0;  // of level `lane`, a row ahead
  auto look_up = [&](int row) {
    if (lane < DEPTH) {
      const int y = row - lane - 1, inside = WRAP_Y ? (y % ny + ny) % ny : min(max(y, 0), ny - 1);
      const real* beta = e.table + lane * e.stride + inside;
      if (SIDES & LEFT && left >= 0)
        left_beta = __ldg(beta), left_gamma = __ldg(beta + points), left_face = __ldg(gx + (long long)inside * (nx + 1));
      if (SIDES & RIGHT && right >= 0) right_beta = __ldg(beta + ny), right_gamma = __ldg(beta + points + ny);
    }
  };
  if (SIDES) look_up(begin);
  // Level `low` has row 0 arriving, level `high` has its last row complete: beta and gamma there, then the differences,
  // and what the faces conduct in a step.
  real low_difference[K], high_difference[K], low_conducts[K], high_conducts[K];
#pragma unroll
  for (int k = 0; k < K; k++) low_difference[k] = high_difference[k] = low_conducts[k] = high_conducts[k] = 0;

#pragma unroll
  for (int i = 0; i < AHEAD; i++) fetch(begin + i);
  int slot = 0, ring_slot = 0;  // of the row that arrives: its place in bytes, and its number
  const char* const mine = memory + lane * BYTES;
#pragma unroll 1
  for (int i = begin; i < end; i += TURN) {
#pragma unroll
    for (int turn = 0; turn < TURN; turn++) {
      const int row = i + turn;
      wait_for_groups<AHEAD - 1>();
      __syncwarp();
      fetch(row + AHEAD);  // into places that all lanes have read before the barrier
      real v[K], rest[K];  // the row that arrives, and what rounding has lost of it
      read<W>(v, mine + slot, PLANE);
      read<W>(rest, mine + slot + (PLANES - 1) * ROW, PLANE);
      slot = slot == AHEAD * PLANES * ROW ? 0 : slot + PLANES * ROW;
      if (SIDES && row - 1 >= tile.y0 && row - 1 < tile.y1 && lane == (row - 1 & 31)) {
        const real* faces = gx + (long long)(row - 1) * (nx + 1);
        if (SIDES & LEFT && book_left) left_sum = e.ledger[row - 1], left_conducts = dt * __ldg(faces);
        if (SIDES & RIGHT && book_right) right_sum = e.ledger[ny + row - 1], right_conducts = dt * __ldg(faces + nx);
      }
      if (SIDES) {
        if (lane < DEPTH) {
          if (SIDES & LEFT)
            sides[2 * lane] = left_beta, sides[2 * lane + 1] = left_gamma, sides[6 * DEPTH + lane] = left_face;
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
      real factor_y[SOME];
#pragma unroll
      for (int i = 0; i < TERMS; i++) factor_y[i] = next_y[i];
      look_up_y(row + 1);
      const char* const near = mine + ROWS * ROW + ring_slot * (KINDS * ROW);
      const char* const far = near + RING * KINDS * ROW;
#pragma unroll
      for (int t = 0; t < DEPTH; t++) {
        const char* const kept = (ring_slot >= t ? near : far) - t * KINDS * ROW;
        real to_east[K], to_north[K], inverse[K], heat[K];
#pragma unroll
        for (int k = 0; k < K; k++) {
          const bool edge = (SIDES & RIGHT && right == lane * K + k), end = ENDS && (t == low || t == high);
          to_east[k] = edge ? f.plate.edge_x : f.plate.inner_x, to_north[k] = end ? f.plate.edge_y : f.plate.inner_y;
          heat[k] = 0;
        }
        if (!UNIFORM) {
          read<W>(to_east, kept, PLANE);
          read<W>(to_north, kept + ROW, PLANE);
        }
        if (!EVEN) read<W>(inverse, kept + 2 * ROW, PLANE);
        if (HEATED) read<W>(heat, kept + (KINDS - 1) * ROW, PLANE);
#pragma unroll
        for (int i = 0; i < TERMS; i++) {
          real factor[K];
          read<W>(factor, mine + ring_bytes(K) + (t * TERMS + i) * ROW, PLANE);
          const real y = __shfl_sync(ALL, factor_y[i], t);
#pragma unroll
          for (int k = 0; k < K; k++) heat[k] = fma(factor[k], y, heat[k]);
        }
        const real east = __shfl_down_sync(ALL, c[t][0], 1);
        real flow[K];  // through faces to the east
#pragma unroll
        for (int k = 0; k < K; k++) {
          real difference = (k < K - 1 ? c[t][k + 1] : east) - c[t][k];
          if (SIDES & RIGHT && (ENDS || (32 * K - HALO - 1) % K == k)) {
            const real d = fma(-sides[2 * (DEPTH + t)], c[t][k], sides[2 * (DEPTH + t) + 1]);
            if (right == lane * K + k) difference = d, sides[5 * DEPTH + t] = d;
          }
          flow[k] = through(to_east[k], difference);
        }
        real from_west = __shfl_up_sync(ALL, flow[K - 1], 1);
        real along_x[K], along_y[K];
#pragma unroll
        for (int k = 0; k < K; k++) {
          const real middle = c[t][k];
          if (SIDES & LEFT && HALO % K == k) {
            const real d = fma(-sides[2 * t], middle, sides[2 * t + 1]);
            if (left == lane * K + k) from_west = -through(sides[6 * DEPTH + t], d), sides[4 * DEPTH + t] = d;
          }
          real above = through(to_north[k], v[k] - middle);
          real next_below = above;
          if (ENDS & BOTTOM && t == low) {
            low_difference[k] = fma(-low_beta[k], v[k], low_gamma[k]), low_conducts[k] = dt * to_north[k];
            next_below = -through(to_north[k], low_difference[k]);
          }
          if (ENDS & TOP && t == high) {
            high_difference[k] = fma(-high_beta[k], middle, high_gamma[k]), high_conducts[k] = dt * to_north[k];
            above = through(to_north[k], high_difference[k]);
          }
          along_x[k] = flow[k] - from_west, along_y[k] = above - below[t][k];
          real total = along_x[k] + along_y[k];
          if (HEATED || TERMS) total = total + heat[k];
          const real warms = EVEN ? even : HELD && mark_of(inverse[k]) < 0 ? 0 : dt * inverse[k];
          from_west = flow[k];
          below[t][k] = next_below;
          c[t][k] = v[k];
          if (COMPENSATED) {
            const real rise = fma(warms, total, lost[t][k]);
            v[k] = middle + rise;
            lost[t][k] = rest[k];
            rest[k] = rise - (v[k] - middle);
          } else
            v[k] = fma(warms, total, middle);
        }
        if (HELD) book_held<K>(inverse, along_x, along_y, dt, e.ledger, first + lane * K, row - t - 1, tile);
      }
      ring_slot = ring_slot == RING - 1 ? 0 : ring_slot + 1;
      if (SIDES) {
        __syncwarp();
        const int t = row - 1 - lane & 31, y = row - 1 - t;
        if (t < DEPTH && y >= tile.y0 && y < tile.y1) {
          left_sum = fma(left_conducts, sides[4 * DEPTH + t], left_sum);
          right_sum = fma(right_conducts, sides[5 * DEPTH + t], right_sum);
        }
      }
      if (ENDS && (low >= 0 && tile.y0 == 0 || high >= 0 && tile.y1 == ny)) {
#pragma unroll
        for (int k = 0; k < K; k++) {
          const int x = first + lane * K + k;
          if (x < tile.x0 || x >= tile.x1) continue;
          real* sum = e.ledger + 2 * ny + x;
          if (low >= 0 && tile.y0 == 0) sum[0] = fma(low_conducts[k], low_difference[k], sum[0]);
          if (high >= 0 && tile.y1 == ny) sum[nx] = fma(high_conducts[k], high_difference[k], sum[nx]);
        }
      }
      const int finished = row - DEPTH;
      if (SIDES && finished >= tile.y0 && finished < tile.y1 && lane == (finished & 31)) {
        if (SIDES & LEFT && book_left) e.ledger[finished] = left_sum;
        if (SIDES & RIGHT && book_right) e.ledger[ny + finished] = right_sum;
      }
#pragma unroll
      for (int p = 0; p < PARTS; p++) {
        const bool own = (unsigned)(finished - tile.y0) < own_rows[p];
        real part[W], more[W];
#pragma unroll
        for (int w = 0; w < W; w++) part[w] = v[p * W + w], more[w] = rest[p * W + w];
        store_if(own, target + p * W, part);
        if (COMPENSATED) store_if(own, target + plane + p * W, more);
      }
      target += nx;
    }
  }
}

// at, x_at, y_at: where the rows of the edge table and of the factors of sources for the first step begin.
extern "C" __global__ void __launch_bounds__(32 * WARPS, BLOCKS)
steps(const real* __restrict__ T, real* __restrict__ out, int nx, int ny, Plate plate, Edges edges, long long at,
      Sources sources, long long x_at, long long y_at, real dt, Tiles tiles) {
  extern __shared__ __align__(16) char memory[];
  const int warp = WARPS > 1 ? __shfl_sync(ALL, threadIdx.x >> 5, 0) : 0;
  edges.table += at, sources.xs += x_at, sources.ys += y_at;
  const Field f = {T, out, nx, ny, dt, plate, sources};
  sweep_up(blockIdx.x * WARPS + warp, tiles, f, edges, memory + warp * MEMORY);
}

// Row y of G has, of the cells of row y - 1, the conductances of their faces to the east and to the north, 1/(ρc), and
// what heats them: all that a level needs when row y arrives there. Row 0 has the faces at the bottom.
extern "C" __global__ void
pack(const real* __restrict__ gx, const real* __restrict__ gy, const real* __restrict__ c, const real* __restrict__ q,
     real* __restrict__ G, int nx, int ny) {
  const int columns = (nx + blockDim.x - 1) / blockDim.x;
  const int x = blockIdx.x % columns * blockDim.x + threadIdx.x, y = blockIdx.x / columns;
  if (x >= nx) return;
  const long long of = y > 0 ? y - 1 : ny - 1;
  real* const to = G + (long long)y * KINDS * nx + x;
  if (!UNIFORM) to[0] = gx[of * (nx + 1) + x + 1], to[nx] = gy[(long long)y * nx + x];
  if (!EVEN) to[2 * nx] = c[of * nx + x];
  if (HEATED) to[(KINDS - 1) * nx] = q[of * nx + x];
}

// Marks the cells (y, x) that are held, whose entries in the ledger begin at `entry`.
extern "C" __global__ void
mark(const long long* __restrict__ held, real* __restrict__ G, int count, int entry, int nx, int ny) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const Mark mark = HELD_MARK | (Mark)(entry + i);
  const long long y = held[2 * i], x = held[2 * i + 1];
  memcpy(G + ((y + 1) * KINDS + 2) * nx + x, &mark, sizeof(real));
  if (y == ny - 1) memcpy(G + 2 * (long long)nx + x, &mark, sizeof(real));
}
