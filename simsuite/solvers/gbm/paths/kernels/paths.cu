// Steps of geometric Brownian motion for many paths: see paths/stepper.py for the scheme and the arrays.
//
// Compiled at run time, with the macros ASSETS, STATE (float or double: of what is added up), NORMAL (float or double: of
// random numbers and prices), SIGNS (1, or 2: antithetic paths are done together), FUNCTIONALS (a list of {kind, asset,
// due, row, partner}, where due is -1 for every step or else a bit of a table, row that of its weights, and partner the
// functional that goes with it), COUNT (of them, at least 1), RIGHTS (a list of {degree, call} of those that are
// EXERCISED), WIDTH (of a row of their rules, see exercise_policy.py), VARYING (1: increments depend on the step), PAYING (1:
// bridges end before dividends that are paid at the ends of steps), SCHEME, JUMPING and IN_CASH (lists of 0 or 1: whether an
// asset jumps, and whether it pays dividends in cash), LOOKS (1: there are frames before the end), DENSE (1: every step is a
// frame), EACH (paths of a thread, or pairs of them), UNROLL (blocks of steps in a turn), THREADS (of a block) and BOUNDS
// (the same, and blocks a multiprocessor at least). For Sobol points also SOBOL (1), GROUP (see numbering.py) and STACK (see
// sobol.cuh). SUMMED (1): a step is the sum of two whose normals are drawn.

#include "../path_arguments.cuh"
#include "kinds.cuh"
#include "../../random_numbers/normals.cuh"
#include "../../random_numbers/philox.cuh"
#include "schemes.cuh"
#include "cash_dividends.cuh"
#include "jumps.cuh"

#include "sources.cuh"

constexpr int STEPS = Normals<normal>::PER_BLOCK;
constexpr bool MIXED = sizeof(state) > sizeof(normal);
constexpr bool FOLDED =  // the standard deviation goes into the radius
    ASSETS == 1 && !VARYING && scheme == EXACT;
TABLE bool jumping[] = {JUMPING}, paying[] = {IN_CASH};
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
TABLE Functional functionals[] = {FUNCTIONALS};

// Whether there is a functional of a kind from .. to, of an asset (-1: of any), that is taken by a schedule if `scheduled`,
// else at every step.
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
         functionals[f].kind == SQUARES || functionals[f].kind >= AT_LOWEST;
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
  const normal *__restrict__ bridges, *__restrict__ dividend_drops;
  normal variance[ASSETS], sharpness[ASSETS];  // of all steps, if these are alike
  state level[COUNT];
  const int* __restrict__ policy_row;  // the row of the rules for a step, of each right
  const normal* __restrict__ rules;
};

struct Path {
  state y[ASSETS], f[COUNT];
};

#include "continuous.cuh"
#include "exercise.cuh"
#include "increments.cuh"
#include "frames.cuh"

// Takes the functionals of every step, or those that a schedule has now. y, base: noise and price when the block began,
// if p counts from there.
template <bool NOW>
__device__ __forceinline__ void take(normal (&sum)[COUNT], int (&taken)[COUNT], const normal (&p)[ASSETS],
                                     const Row<normal> (&centre)[ASSETS], const Row<normal> (&growth)[ASSETS],
                                     const Row<normal> (&weight)[COUNT], const state (&y)[ASSETS],
                                     const normal (&base)[ASSETS], const Row<int> (&policy_row)[N_RIGHTS],
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
      if (p[a] < -1000) price[a] = 0;  // exp2 of doubles does not take such numbers
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
      const bool held = sum[f] < 0;
      exercise(sum[f], rights[right], noise, whole, rules + (size_t)policy_row[right].v[j] * WIDTH);
#pragma unroll
      for (int g = 0; g < COUNT; g++)
        if (functionals[g].kind == AT_EXERCISED && functionals[g].partner == f && held && sum[f] > 0) sum[g] = weight[g].v[j];
    }
  }
}

// What a path does in a block of steps, given the increments dw. PART: it does only the first `valid` of them. DUE:
// schedules have a date in the block. which: the number of this path among those of the thread.
template <bool PART, bool DUE>
__device__ __forceinline__ void follow(Path& path, const Increments& dw, int opposite, const Tables& tables, int block,
                                       const Row<unsigned>& due, int valid, const Chances& chances, int which, Seen& seen) {
  // p and sum count from where the block begins if MIXED, so that little is lost in float32; base: the price there
  normal p[ASSETS], base[ASSETS], sum[COUNT];
  Row<int> policy_row[N_RIGHTS];
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
    if (EXERCISES) policy_row[r] = row_of(tables.policy_row, tables.length, r, block);
#pragma unroll
  for (int j = 0; j < STEPS; j++) {
    if (PART && j >= valid) break;
#pragma unroll
    for (int a = 0; a < ASSETS; a++) {
      p[a] = dw.added_to(p[a], path.y[a], a, j, opposite);
      if (DENSE) seen.at[j][a].v[which] = MIXED ? path.y[a] + (state)p[a] : (state)p[a];
    }
    take<false>(sum, taken, p, centre, growth, weight, path.y, base, policy_row, tables.rules, j, 0);
    if (DUE && due.v[j]) take<true>(sum, taken, p, centre, growth, weight, path.y, base, policy_row, tables.rules, j, due.v[j]);
    if (BRIDGED) bridges.take(sum, p, centre, weight, j, chances, opposite);
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
    if (own.kind == SURVIVAL) {
#pragma unroll
      for (int g = 0; g < COUNT; g++)
        if (functionals[g].kind == SLOPE && functionals[g].partner == f)
          path.f[g] = fma(path.f[f], (state)sum[g], path.f[g] * (state)sum[f]);
      path.f[f] *= (state)sum[f];
    }
    if (own.kind == WEIGHTED) path.f[f] += (state)(MIXED ? base[own.asset] * sum[f] : sum[f]);
    if (own.kind == NOISY)
      path.f[f] += MIXED ? (state)base[own.asset] * fma(y, (state)sum[own.partner], (state)sum[f]) : (state)sum[f];
    if (own.kind == AT_LEAST || own.kind == AT_LARGEST || leaning(own.kind)) {  // its partner is up to date
      const state found = leaning(own.kind) ? (state)sum[own.partner] / 2 : (state)sum[own.partner];
      path.f[f] = path.f[own.partner] == y + found ? (state)sum[f] : path.f[f];
    }
    if (own.kind == SQUARES) path.f[f] += (state)sum[f];
    if (own.kind == LATEST) path.f[f] = y + (state)sum[f];
    if (own.kind == EXERCISED && path.f[f] < 0) {
      path.f[f] = (state)sum[f];
#pragma unroll
      for (int g = 0; g < COUNT; g++)
        if (functionals[g].kind == AT_EXERCISED && functionals[g].partner == f) path.f[g] = (state)sum[g];
    }
  }
#pragma unroll
  for (int a = 0; a < ASSETS; a++) path.y[a] = MIXED ? path.y[a] + (state)p[a] : (state)p[a];
}

// A block of steps of all paths of a thread. PART: the run ends amid it.
template <bool PART>
__device__ __forceinline__ void pass(Path (&paths)[EACH][SIGNS], Source& source, const normal (&mix)[ASSETS][ASSETS],
                                     const Tables& tables, int block, int n_steps, Watch& watch, Rows& rows) {
  Row<unsigned> now;
  unsigned ever = 0;
  Seen seen;
  const int valid = PART ? n_steps - block * STEPS : STEPS;
#pragma unroll
  for (int e = 0; e < EACH; e++) {
    auto&& own = source.neighbour(e);
    const Increments dw(own, mix, tables, block);
    const Chances chances(own, block);
    if (SCHEDULED && e == 0) {
      now = row_of(tables.due, 0, 0, block);
#pragma unroll
      for (int j = 0; j < STEPS; j++) ever |= now.v[j];
    }
    if (LOOKS && !DENSE && block == watch.next.block) watch.look(paths[e], dw);
#pragma unroll
    for (int s = 0; s < SIGNS; s++)
      if (ever)
        follow<PART, SCHEDULED>(paths[e][s], dw, s, tables, block, now, valid, chances, e * SIGNS + s, seen);
      else
        follow<PART, false>(paths[e][s], dw, s, tables, block, now, valid, chances, e * SIGNS + s, seen);
  }
  if (DENSE) rows.keep(seen, valid);
}

// What `advance` does. NVRTC makes use of __restrict__ on arguments, but not on fields of a struct: so the fields are passed
// as arguments.
__device__ __forceinline__ void
advance_paths(state* x, state* f, state* seen, unsigned n, unsigned long long room, unsigned long long first,
        unsigned long long seed, int begin, int end, const Mark* __restrict__ marks, int n_steps,
        const normal* __restrict__ mixing, const normal* __restrict__ scale, const normal* __restrict__ centre,
        const normal* __restrict__ growth, const unsigned* __restrict__ due, int length,
        const normal* __restrict__ bridges, const normal* __restrict__ dividend_drops, const state* __restrict__ levels,
        const normal* __restrict__ drift, const normal* __restrict__ jumps,
        const unsigned long long* __restrict__ thresholds, int n_thresholds, const normal* __restrict__ cash,
        const int* __restrict__ policy_row, const normal* __restrict__ rules RESTRICTED) {
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
  const unsigned i = (blockIdx.x * THREADS + threadIdx.x) * EACH;
  const Philox source(first + i, seed);
  if (i >= n) return;
  constexpr bool wanted = true;
#endif
  Tables tables = {scale, centre, growth, due, length, drift, cash, {jumps, thresholds, n_thresholds},
                   bridges, dividend_drops};
  tables.policy_row = policy_row, tables.rules = rules;
#pragma unroll
  for (int a = 0; a < ASSETS; a++)
    if (BRIDGED && !VARYING) tables.variance[a] = bridges[a], tables.sharpness[a] = bridges[ASSETS + a];
#pragma unroll
  for (int k = 0; k < COUNT; k++)
    if (functionals[k].kind == SURVIVAL || functionals[k].kind == SLOPE) tables.level[k] = levels[k];
  normal mix[ASSETS][ASSETS];
#pragma unroll
  for (int a = 0; a < ASSETS; a++)
#pragma unroll
    for (int b = 0; b <= (FULL ? ASSETS - 1 : a); b++) mix[a][b] = mixing[a * ASSETS + b];

  Path paths[EACH][SIGNS];
  const size_t at = (size_t)i * SIGNS;
#pragma unroll
  for (int t = 0; t < TOGETHER; t++) {
    const int e = t / SIGNS, s = t % SIGNS;
    const bool known = begin && wanted && i + e < n;
#pragma unroll
    for (int a = 0; a < ASSETS; a++) paths[e][s].y[a] = known ? x[a * room + at + t] : (state)0;
#pragma unroll
    for (int k = 0; k < COUNT; k++) {
      const Kind kind = functionals[k].kind;
      if (kind == NOTHING) continue;
      const state none = kind == LEAST       ? (state)INFINITY
                         : kind == LARGEST   ? -(state)INFINITY
                         : kind == EXERCISED ? -1
                                             : kind == SURVIVAL;
      paths[e][s].f[k] = known ? f[k * room + at + t] : none;
    }
  }
  Watch watch = {marks, *marks, seen + at, room, wanted};
  Rows rows = {(char*)seen, room * sizeof(state), (unsigned)(at * sizeof(state)), 0};
  if (wanted) rows.wanted = (int)min(n - i, (unsigned)EACH) * SIGNS;
  const int complete = min(end, n_steps / STEPS);
  constexpr int TURN = UNROLL;  // nvcc takes no macro after the pragma
#pragma unroll TURN
  for (int block = begin; block < complete; block++)
    pass<false>(paths, source, mix, tables, block, n_steps, watch, rows);
  if (complete < end) pass<true>(paths, source, mix, tables, complete, n_steps, watch, rows);
  if (!wanted) return;
#pragma unroll
  for (int t = 0; t < TOGETHER; t++) {
    const Path& path = paths[t / SIGNS][t % SIGNS];
    if (t / SIGNS >= n - i) break;
#pragma unroll
    for (int a = 0; a < ASSETS; a++) x[a * room + at + t] = path.y[a];
#pragma unroll
    for (int k = 0; k < COUNT; k++)
      if (functionals[k].kind != NOTHING) f[k * room + at + t] = path.f[k];
  }
}

// x, f: noise and functionals of paths, [row][room]. seen: noise at frames, see frames.cuh. n, first: how many paths, or
// pairs if SIGNS is 2, and the number of the first. begin, end: blocks of steps. marks: see Mark. m, q: see
// path_arguments.py. Without __grid_constant__ the compiler makes local copies of the structs and loads their fields in
// another way: terminal prices in float64 took 6 % longer.
extern "C" __global__ void __launch_bounds__(BOUNDS)
advance(state* x, state* f, state* seen, unsigned n, unsigned long long room, unsigned long long first,
        unsigned long long seed, int begin, int end, const Mark* __restrict__ marks, const __grid_constant__ Market m POINTS) {
  advance_paths(x, f, seen, n, room, first, seed, begin, end, marks, m.n_steps, m.mix, m.scale, m.centre, m.growth, m.due,
                m.length, m.bridges, m.dividend_drops, m.levels, m.drift, m.jumps, m.thresholds, m.n_thresholds, m.cash,
                m.policy_row, m.rules FIELDS);
}
