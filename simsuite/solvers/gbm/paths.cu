// Steps of geometric Brownian motion for many paths: see exact.py for the scheme, the arrays and the arguments.
//
// Compiled at run time, with the macros ASSETS, STATE (float or double: of what is added up), NORMAL (float or double: of
// random numbers and prices), SIGNS (1, or 2: antithetic paths are done together), FUNCTIONALS (a list of {kind, asset,
// due, row, partner}, where due is -1 for every step or else a bit of a table, row that of its weights, and partner the
// functional that goes with it), COUNT (of them, at least 1), RIGHTS (a list of {degree, call} of those that are
// EXERCISED), WIDTH (of a row of their rules, see exercise.py), VARYING (1: increments depend on the step), PAYING (1:
// prices fall where dividends are paid, and it matters when), SCHEME, JUMPING and IN_CASH (lists of 0 or 1: whether an
// asset jumps, and whether it pays dividends in cash), DENSE (1: every step is a frame), UNROLL (blocks of steps in a
// turn), THREADS (of a block) and BOUNDS (the same, and blocks a multiprocessor at least). For Sobol points also SOBOL (1),
// GROUP (see sharing.py) and STACK (see sobol.cuh).

#include "kinds.cuh"
#include "normals.cuh"
#include "philox.cuh"
#include "special.cuh"
#include "schemes.cuh"
#include "cash.cuh"
#include "jumps.cuh"

typedef STATE state;
typedef NORMAL normal;
#if SOBOL
#include "sharing.cuh"
#include "sobol.cuh"
typedef Bridge<normal, ASSETS> Source;  // of random numbers
constexpr bool FULL = true;              // principal components are in all assets
#define POINTS                                                                                                       \
  , const int *__restrict__ opened, const Weights<normal> *__restrict__ weights,                                     \
      const Weights<normal> *__restrict__ inside, const uint2 *__restrict__ points,                                  \
      const normal *__restrict__ offset, int blocks, unsigned replicates, unsigned long long whole, unsigned each
#else
typedef const Philox Source;
constexpr bool FULL = false;  // a Cholesky factor
#define POINTS
#endif
constexpr int STEPS = Normals<normal>::PER_BLOCK;
constexpr bool MIXED = sizeof(state) > sizeof(normal);
constexpr bool FOLDED = ASSETS == 1 && !VARYING && scheme == EXACT;  // the standard deviation goes into the radius
constexpr bool jumping[] = {JUMPING}, paying[] = {IN_CASH};
__host__ __device__ constexpr bool besides() {
  for (int a = 0; a < ASSETS; a++)
    if (jumping[a] || paying[a]) return true;
  return scheme != EXACT;
}
constexpr bool BESIDES = besides();  // there is more in a step than a normal increment

struct Functional {
  Kind kind;
  int asset, due, row, partner;
};
constexpr Functional functionals[] = {FUNCTIONALS};

// Whether functionals of this kind or those after it, of an asset or of any (-1), are taken at every step, or by schedule.
__host__ __device__ constexpr bool any(Kind from, Kind to, int asset, bool scheduled) {
  for (int f = 0; f < COUNT; f++)
    if (functionals[f].kind >= from && functionals[f].kind <= to && (asset < 0 || functionals[f].asset == asset) &&
        (functionals[f].due >= 0) == scheduled)
      return true;
  return false;
}
constexpr bool SCHEDULED = any(SUM, EXERCISED, -1, true);
constexpr bool EXERCISES = any(EXERCISED, EXERCISED, -1, true) || any(EXERCISED, EXERCISED, -1, false);
__host__ __device__ constexpr bool is_weighted(int f) {
  return functionals[f].kind == WEIGHTED || functionals[f].kind == AT_LEAST || functionals[f].kind == AT_LARGEST ||
         functionals[f].kind == SQUARES;
}
__host__ __device__ constexpr bool priced(int a, bool scheduled) {
  return any(SUM, SUM, a, scheduled) || any(EXERCISED, EXERCISED, a, scheduled);
}

template <typename T> struct __align__(STEPS * sizeof(T)) Row {
  T v[STEPS];
};
template <typename T> __device__ __forceinline__ Row<T> row_of(const T* table, int length, int row, int block) {
  return ((const Row<T>*)(table + (size_t)row * length))[block];
}

struct Tables {
  const normal *__restrict__ scale, *__restrict__ centre, *__restrict__ growth;
  const unsigned* __restrict__ due;
  int length;  // of their rows
  const normal *__restrict__ drift, *__restrict__ cash;
  Jumps<normal> jumps;
  const normal *__restrict__ bridges, *__restrict__ falls;
  normal variance[ASSETS], sharpness[ASSETS];  // of all steps, if these are alike
  state level[COUNT];
  const int* __restrict__ turn;  // the row of the rules for a step, of each right
  const normal* __restrict__ rules;
};

struct Path {
  state y[ASSETS], f[COUNT];
};

#include "continuous.cuh"
#include "exercise.cuh"

// Of a scheme, for an asset in a block of steps.
struct Drift {
  normal a[VARYING ? STEPS : 1], c[VARYING ? STEPS : 1];

  __device__ __forceinline__ void read(const Tables& tables, int asset, int block) {
    if (!VARYING) {
      a[0] = tables.drift[asset], c[0] = tables.drift[ASSETS + asset];
      return;
    }
    const Row<normal> as = row_of(tables.drift, tables.length, asset, block);
    const Row<normal> cs = row_of(tables.drift, tables.length, ASSETS + asset, block);
#pragma unroll
    for (int j = 0; VARYING && j < STEPS; j++) a[j] = as.v[j], c[j] = cs.v[j];
  }
};

// Where the steps of a block go if all of them are frames: to seen[which, asset, path], as they are made. Bytes, of rows
// that all paths share and of 32 bits within a row: an instruction takes an address in these two parts.
struct Rows {
  char* first;
  size_t row;
  unsigned at;
  bool wanted;

  __device__ __forceinline__ void keep(int j, int a, int s, state y) const {
    if (wanted) *(state*)(first + (j * ASSETS + a) * row + (at + s * (unsigned)sizeof(state))) = y;
  }
};

// Of all assets in a block of steps.
struct Increments {
  normal r[ASSETS][STEPS / 2], d[ASSETS][STEPS];
  Drift drift[ASSETS];
  Jump<normal> jumps[ASSETS][STEPS];
  Row<normal> cash[2 * ASSETS];

#if SOBOL
  __device__ __forceinline__ Increments(Source& bridge, const normal (&mix)[ASSETS][ASSETS], const Tables& tables,
                                        int block) {
    if (FOLDED) {
      bridge.block(block, d);
#pragma unroll
      for (int j = 0; j < STEPS / 2; j++) r[0][j] = mix[0][0];
      return;
    }
    normal w[ASSETS][STEPS];
    bridge.block(block, w);
#pragma unroll
    for (int a = 0; a < ASSETS; a++)
#pragma unroll
      for (int j = 0; j < STEPS; j++) {
        d[a][j] = mix[a][0] * w[0][j];
#pragma unroll
        for (int b = 1; b < ASSETS; b++) d[a][j] = fma(mix[a][b], w[b][j], d[a][j]);
        if (VARYING) d[a][j] *= row_of(tables.scale, tables.length, a, block).v[j];
      }
  }
#else
  __device__ __forceinline__ Increments(const Philox& philox, const normal (&mix)[ASSETS][ASSETS], const Tables& tables,
                                        int block) {
#pragma unroll
    for (int a = 0; a < ASSETS; a++) {
      unsigned w[4];
      philox.words(block, a, w);
      Normals<normal>::block(w, FOLDED ? mix[0][0] : 1, r[a], d[a]);
    }
    if (BESIDES) besides(philox, tables, block);
    if (FOLDED) return;
#pragma unroll
    for (int j = 0; j < STEPS; j++) {
      normal z[ASSETS];
#pragma unroll
      for (int a = 0; a < ASSETS; a++) z[a] = r[a][j / 2] * d[a][j];
#pragma unroll
      for (int a = 0; a < ASSETS; a++) {
        d[a][j] = mix[a][0] * z[0];
#pragma unroll
        for (int b = 1; b <= a; b++) d[a][j] = fma(mix[a][b], z[b], d[a][j]);
        if (VARYING) d[a][j] *= row_of(tables.scale, tables.length, a, block).v[j];
      }
    }
  }
#endif

  __device__ __forceinline__ void besides(const Philox& philox, const Tables& tables, int block) {
#pragma unroll
    for (int a = 0; a < ASSETS; a++) {
      if (scheme != EXACT) drift[a].read(tables, a, block);
      if (paying[a]) cash[a] = row_of(tables.cash, tables.length, a, block);
      if (paying[a]) cash[ASSETS + a] = row_of(tables.cash, tables.length, ASSETS + a, block);
#pragma unroll
      for (int j = 0; j < STEPS; j++)
        if (jumping[a]) jumps[a][j].draw(philox, tables.jumps, block * STEPS + j, a);
    }
  }

  __device__ __forceinline__ normal diffused(normal p, int a, int j, bool opposite) const {
    if (FOLDED) return fma(opposite ? -r[a][j / 2] : r[a][j / 2], d[a][j], p);
    return opposite ? p - d[a][j] : p + d[a][j];
  }

  // What has been added since the block began, where y was.
  __device__ __forceinline__ normal added_to(normal p, state y, int a, int j, bool opposite) const {
    if (!BESIDES) return diffused(p, a, j, opposite);
    if (scheme == EXACT)
      p = diffused(p, a, j, opposite);
    else
      p += discretised(opposite ? -d[a][j] : d[a][j], drift[a].a[VARYING ? j : 0], drift[a].c[VARYING ? j : 0]);
    if (jumping[a]) p += jumps[a][j].common + (opposite ? -jumps[a][j].own : jumps[a][j].own);
    if (paying[a] && cash[a].v[j] > 0) p += fall(MIXED ? (normal)(y + (state)p) : p, cash[a].v[j], cash[ASSETS + a].v[j]);
    return p;
  }
};

// Takes the functionals of every step, or those that a schedule has now. y, base: noise and price when the block began,
// if p counts from there.
template <bool NOW>
__device__ __forceinline__ void take(normal (&sum)[COUNT], int (&taken)[COUNT], const normal (&p)[ASSETS],
                                     const Row<normal> (&centre)[ASSETS], const Row<normal> (&growth)[ASSETS],
                                     const Row<normal> (&weight)[COUNT], const state (&y)[ASSETS],
                                     const normal (&base)[ASSETS], const Row<int> (&turn)[N_RIGHTS],
                                     const normal* rules, int j, unsigned due) {
  normal x[ASSETS], price[ASSETS];
#pragma unroll
  for (int a = 0; a < ASSETS; a++) {
    if (any(LEAST, LARGEST, a, NOW)) x[a] = p[a] + centre[a].v[j];
    if (priced(a, NOW)) price[a] = Normals<normal>::exp2(p[a]);
  }
  if (BESIDES) {
#pragma unroll
    for (int a = 0; a < ASSETS; a++)
      if (p[a] < -1000) price[a] = 0;  // which is beyond the double exp2
  }
#pragma unroll
  for (int f = 0; f < COUNT; f++) {
    const Functional own = functionals[f];
    if (own.kind == NOTHING || (own.due >= 0) != NOW || (NOW && !(due >> own.due & 1))) continue;
    if (own.kind == SUM) sum[f] = fma(price[own.asset], growth[own.asset].v[j], sum[f]);
    if (own.kind == LOGARITHMS) sum[f] += p[own.asset], taken[f]++;
    if (own.kind == LEAST) sum[f] = min(sum[f], x[own.asset]);
    if (own.kind == LARGEST) sum[f] = max(sum[f], x[own.asset]);
    if (own.kind == WEIGHTED) sum[f] = fma(price[own.asset] * growth[own.asset].v[j], weight[f].v[j], sum[f]);
    if (own.kind == NOISY) sum[f] = fma(price[own.asset] * growth[own.asset].v[j], p[own.asset], sum[f]);
    if (own.kind == AT_LEAST || own.kind == AT_LARGEST)
      sum[f] = sum[own.partner] == x[own.asset] ? weight[f].v[j] : sum[f];
    if (own.kind == SQUARES) {
      const normal d = p[own.asset] - sum[own.partner];
      sum[f] = fma(d * d, weight[f].v[j], sum[f]);
    }
    if (own.kind == LATEST) sum[f] = p[own.asset];
    if (own.kind == EXERCISED) {
      const int a = own.asset, right = right_of(f);
      const normal noise = MIXED ? (normal)y[a] + p[a] : p[a], whole = MIXED ? base[a] * price[a] : price[a];
      exercise(sum[f], rights[right], noise, whole, rules + (size_t)turn[right].v[j] * WIDTH);
    }
  }
}

// What a path does in a block of steps, given the increments dw. PART: it does only the first `valid` of them. DUE:
// schedules have something there.
template <bool PART, bool DUE>
__device__ __forceinline__ void follow(Path& path, const Increments& dw, int opposite, const Tables& tables, int block,
                                       const Row<unsigned>& due, int valid, const Chances& chances, const Rows& rows) {
  normal p[ASSETS], base[ASSETS], sum[COUNT];  // since the block began: increments in `normal` lose nothing there
  Row<int> turn[N_RIGHTS];
  int taken[COUNT];
  Row<normal> centre[ASSETS], growth[ASSETS], weight[COUNT];
#pragma unroll
  for (int a = 0; a < ASSETS; a++) {
    p[a] = MIXED ? 0 : (normal)path.y[a];
    if (MIXED && (priced(a, true) || priced(a, false))) base[a] = Normals<normal>::exp2((normal)path.y[a]);
    if (DUE || any(LEAST, LARGEST, a, false) || bridged(a)) centre[a] = row_of(tables.centre, tables.length, a, block);
    if (DUE || any(SUM, SUM, a, false)) growth[a] = row_of(tables.growth, tables.length, a, block);
  }
#pragma unroll
  for (int f = 0; f < COUNT; f++) {
    const Kind kind = functionals[f].kind;
    sum[f] = least(kind) ? (normal)INFINITY : largest(kind) ? -(normal)INFINITY : kind == SURVIVAL ? 1 : 0;
    if (kind == LATEST) sum[f] = path.f[f] - (MIXED ? path.y[functionals[f].asset] : 0);
    if (is_weighted(f) && (DUE || functionals[f].due < 0))
      weight[f] = row_of(tables.growth, tables.length, ASSETS + functionals[f].row, block);
    if (kind == EXERCISED) sum[f] = path.f[f] < 0 ? -1 : 1;
    taken[f] = 0;
  }
  Bridges bridges(path, p, tables, block);
#pragma unroll
  for (int r = 0; r < N_RIGHTS; r++)
    if (EXERCISES) turn[r] = row_of(tables.turn, tables.length, r, block);
#pragma unroll
  for (int j = 0; j < STEPS; j++) {
    if (PART && j >= valid) break;
#pragma unroll
    for (int a = 0; a < ASSETS; a++) {
      p[a] = dw.added_to(p[a], path.y[a], a, j, opposite);
      if (DENSE) rows.keep(j, a, opposite, MIXED ? path.y[a] + (state)p[a] : (state)p[a]);
    }
    take<false>(sum, taken, p, centre, growth, weight, path.y, base, turn, tables.rules, j, 0);
    if (DUE && due.v[j]) take<true>(sum, taken, p, centre, growth, weight, path.y, base, turn, tables.rules, j, due.v[j]);
    if (BRIDGED) bridges.take(sum, p, centre, j, chances, opposite);
  }
#pragma unroll
  for (int f = 0; f < COUNT; f++) {
    const Functional own = functionals[f];
    const state y = MIXED ? path.y[own.asset] : (state)0;
    if (!DUE && own.due >= 0) continue;
    if (own.kind == SUM) path.f[f] += (state)(MIXED ? base[own.asset] * sum[f] : sum[f]);
    if (own.kind == LOGARITHMS) path.f[f] += MIXED ? fma((state)taken[f], y, (state)sum[f]) : (state)sum[f];
    if (own.kind == LEAST) path.f[f] = min(path.f[f], y + (state)sum[f]);
    if (own.kind == LARGEST) path.f[f] = max(path.f[f], y + (state)sum[f]);
    if (own.kind == LOWEST) path.f[f] = min(path.f[f], y + (state)sum[f] / 2);
    if (own.kind == HIGHEST) path.f[f] = max(path.f[f], y + (state)sum[f] / 2);
    if (own.kind == SURVIVAL) path.f[f] *= (state)sum[f];
    if (own.kind == WEIGHTED) path.f[f] += (state)(MIXED ? base[own.asset] * sum[f] : sum[f]);
    if (own.kind == NOISY)
      path.f[f] += MIXED ? (state)base[own.asset] * fma(y, (state)sum[own.partner], (state)sum[f]) : (state)sum[f];
    if (own.kind == AT_LEAST || own.kind == AT_LARGEST)  // the partner has got what the block has
      path.f[f] = path.f[own.partner] == y + (state)sum[own.partner] ? (state)sum[f] : path.f[f];
    if (own.kind == SQUARES) path.f[f] += (state)sum[f];
    if (own.kind == LATEST) path.f[f] = y + (state)sum[f];
    if (own.kind == EXERCISED && path.f[f] < 0) path.f[f] = (state)sum[f];
  }
#pragma unroll
  for (int a = 0; a < ASSETS; a++) path.y[a] = MIXED ? path.y[a] + (state)p[a] : (state)p[a];
}

// A block of steps amid or after which frames are looked at: those after the steps whose bit is set.
struct Mark {
  int block;
  unsigned watched;
};

// Frames to come, and where what is seen there goes: to seen[which, asset, path].
struct Watch {
  const Mark *mark, *beyond;
  int next, never;  // block of the mark, and one that does not come
  state* seen;
  size_t room;
  bool wanted;

  // A path that is at y when the block begins, `s` of those of a thread.
  __device__ __forceinline__ void look(const state (&y)[ASSETS], const Increments& dw, int s, unsigned watched) const {
    normal p[ASSETS];
#pragma unroll
    for (int a = 0; a < ASSETS; a++) p[a] = MIXED ? 0 : (normal)y[a];
#pragma unroll
    for (int j = 0; j < STEPS; j++) {
      const int which = __popc(watched & (1u << j) - 1);
#pragma unroll
      for (int a = 0; a < ASSETS; a++) {
        p[a] = dw.added_to(p[a], y[a], a, j, s);
        if (wanted && watched >> j & 1)
          seen[((size_t)which * ASSETS + a) * room + s] = MIXED ? y[a] + (state)p[a] : (state)p[a];
      }
    }
  }

  __device__ __forceinline__ void go_on(unsigned watched) {
    seen += (size_t)__popc(watched) * ASSETS * room;
    next = ++mark < beyond ? mark->block : never;
  }
};

// A block of steps of all paths of a thread. PART: the run ends amid it.
template <bool PART>
__device__ __forceinline__ void pass(Path (&paths)[SIGNS], Source& source, const normal (&mix)[ASSETS][ASSETS],
                                     const Tables& tables, int block, int n_steps, Watch& watch, Rows& rows) {
  const Increments dw(source, mix, tables, block);
  const Chances chances(source, block);
  Row<unsigned> now;
  unsigned ever = 0;
  if (SCHEDULED) {
    now = row_of(tables.due, 0, 0, block);
#pragma unroll
    for (int j = 0; j < STEPS; j++) ever |= now.v[j];
  }
  state before[SIGNS][ASSETS];
  const int valid = PART ? n_steps - block * STEPS : STEPS;
#pragma unroll
  for (int s = 0; s < SIGNS; s++) {
#pragma unroll
    for (int a = 0; a < ASSETS; a++) before[s][a] = paths[s].y[a];
    if (ever)
      follow<PART, SCHEDULED>(paths[s], dw, s, tables, block, now, valid, chances, rows);
    else
      follow<PART, false>(paths[s], dw, s, tables, block, now, valid, chances, rows);
  }
  if (DENSE) {
    rows.first += STEPS * ASSETS * rows.row;
    return;
  }
  if (block != watch.next) return;
  const unsigned watched = watch.mark->watched;
#pragma unroll
  for (int s = 0; s < SIGNS; s++) watch.look(before[s], dw, s, watched);
  watch.go_on(watched);
}

extern "C" __global__ void __launch_bounds__(BOUNDS)
advance(state* x, state* f, state* seen, unsigned n, unsigned long long room, unsigned long long first,
        unsigned long long seed, int begin, int end, const Mark* __restrict__ marks, int n_marks, int n_steps,
        const normal* __restrict__ mixing, const normal* __restrict__ scale, const normal* __restrict__ centre,
        const normal* __restrict__ growth, const unsigned* __restrict__ due, int length,
        const normal* __restrict__ bridges, const normal* __restrict__ falls, const state* __restrict__ levels,
        const normal* __restrict__ drift, const normal* __restrict__ jumps,
        const unsigned long long* __restrict__ thresholds, int n_thresholds, const normal* __restrict__ cash,
        const int* __restrict__ turn, const normal* __restrict__ rules POINTS) {
#if SOBOL
  const Place place({replicates, whole, each}, first, n, blockIdx.x * THREADS + threadIdx.x);
  const unsigned i = place.column;
  const bool wanted = place.wanted;
  if (!__any_sync(0xffffffffu, wanted)) return;
  normal waiting[STACK][ASSETS];
  const size_t coordinates = (size_t)place.replicate * blocks * STEPS * ASSETS;
  Source source({opened, weights, inside, points + coordinates * 32, offset + coordinates, blocks}, place.point, begin,
                waiting);
#else
  const unsigned i = blockIdx.x * THREADS + threadIdx.x;
  const Philox source(first + i, seed);
  if (i >= n) return;
  constexpr bool wanted = true;
#endif
  Tables tables = {scale, centre, growth, due, length, drift, cash, {jumps, thresholds, n_thresholds}, bridges, falls};
  tables.turn = turn, tables.rules = rules;
#pragma unroll
  for (int a = 0; a < ASSETS; a++)
    if (BRIDGED && !VARYING) tables.variance[a] = bridges[a], tables.sharpness[a] = bridges[ASSETS + a];
#pragma unroll
  for (int k = 0; k < COUNT; k++)
    if (functionals[k].kind == SURVIVAL) tables.level[k] = levels[k];
  normal mix[ASSETS][ASSETS];
#pragma unroll
  for (int a = 0; a < ASSETS; a++)
#pragma unroll
    for (int b = 0; b <= (FULL ? ASSETS - 1 : a); b++) mix[a][b] = mixing[a * ASSETS + b];

  Path paths[SIGNS];
  const size_t at = (size_t)i * SIGNS;
#pragma unroll
  for (int s = 0; s < SIGNS; s++) {
#pragma unroll
    for (int a = 0; a < ASSETS; a++) paths[s].y[a] = begin && wanted ? x[a * room + at + s] : (state)0;
#pragma unroll
    for (int k = 0; k < COUNT; k++) {
      const Kind kind = functionals[k].kind;
      if (kind == NOTHING) continue;
      const state none = kind == LEAST       ? (state)INFINITY
                         : kind == LARGEST   ? -(state)INFINITY
                         : kind == EXERCISED ? -1
                                             : kind == SURVIVAL;
      paths[s].f[k] = begin && wanted ? f[k * room + at + s] : none;
    }
  }
  Watch watch = {marks, marks + n_marks, n_marks ? marks->block : end, end, seen + at, room, wanted};
  Rows rows = {(char*)seen, room * sizeof(state), (unsigned)at * (unsigned)sizeof(state), wanted};
  const int complete = min(end, n_steps / STEPS);
#pragma unroll UNROLL
  for (int block = begin; block < complete; block++)
    pass<false>(paths, source, mix, tables, block, n_steps, watch, rows);
  if (complete < end) pass<true>(paths, source, mix, tables, complete, n_steps, watch, rows);
  if (!wanted) return;
#pragma unroll
  for (int s = 0; s < SIGNS; s++) {
#pragma unroll
    for (int a = 0; a < ASSETS; a++) x[a * room + at + s] = paths[s].y[a];
#pragma unroll
    for (int k = 0; k < COUNT; k++)
      if (functionals[k].kind != NOTHING) f[k * room + at + s] = paths[s].f[k];
  }
}
