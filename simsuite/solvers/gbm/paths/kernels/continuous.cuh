// What prices do between the ends of time steps, see continuous.py: a part of paths.cu, whose types it takes.

__host__ __device__ constexpr bool least(Kind kind) { return kind == LEAST || kind == LOWEST; }
__host__ __device__ constexpr bool largest(Kind kind) { return kind == LARGEST || kind == HIGHEST; }
__host__ __device__ constexpr bool sampled(Kind kind) { return kind == LOWEST || kind == HIGHEST; }
__host__ __device__ constexpr bool leaning(Kind kind) { return kind == AT_LOWEST || kind == AT_HIGHEST; }
__host__ __device__ constexpr bool bridged(int a) { return any(LOWEST, SURVIVAL, a, false); }
constexpr bool BRIDGED = bridged(-1);
constexpr unsigned FIRST_STREAM = 1u << 30;

template <typename real> struct Between;

template <> struct Between<float> {
  // Probability that a level was reached.
  static __device__ __forceinline__ float reached(float d0, float d1, float sharpness) {
    return Normals<float>::exp2(fminf(-sharpness * d0 * d1, 0));
  }

  // -2 variance log U for step j of a block, of the second of a pair -2 variance log(1 - U).
  static __device__ __forceinline__ float spread(const unsigned (&w)[4], int j, bool opposite, float variance) {
    const float u = fmaf((float)(opposite ? ~w[j] : w[j]), 0x1p-32f, 0x1p-33f);
    return -1.38629436f * variance * approximate_log2(u);
  }

  static __device__ __forceinline__ float root(float v) {
    return approximate_root(v);
  }

  // Of a number that is not negative; 0 of 0.
  static __device__ __forceinline__ float inverse(float v) { return v > 0 ? __fdividef(1, v) : 0; }
};

template <> struct Between<double> {
  static __device__ __forceinline__ double reached(double d0, double d1, double sharpness) {
    return Normals<double>::exp2(fmin(fmax(-sharpness * d0 * d1, -1000.0), 0.0));
  }

  static __device__ __forceinline__ double spread(const unsigned (&w)[4], int j, bool opposite, double variance) {
    const unsigned high = opposite ? ~w[2 * j] : w[2 * j], low = opposite ? ~w[2 * j + 1] : w[2 * j + 1];
    const double u = fma(Normals<double>::of_words(high >> 11, __funnelshift_r(low, high, 11)), 0x1p-53, 0x1p-54);
    return Normals<double>::scaled_log(u, -2.0 * variance);
  }

  static __device__ __forceinline__ double root(double v) { return Normals<double>::root(v); }

  static __device__ __forceinline__ double inverse(double v) {
    const double y = approximate_inverse(v), rest = fma(-v, y, 1.0);
    return v > 0 ? fma(fma(rest, rest, rest), y, y) : 0;
  }
};

// Random words from which the extremes of bridges in a block of steps are drawn.
struct Chances {
  unsigned w[COUNT][4];

  __device__ __forceinline__ Chances(Source& philox, int block) {
#pragma unroll
    for (int f = 0; f < COUNT; f++) {
      const Functional own = functionals[f];
#if !SOBOL
      if (sampled(own.kind)) philox.words(block, FIRST_STREAM + 2 * own.asset + (own.kind == HIGHEST), w[f]);
#endif
    }
  }
};

// Bridges of a path over the steps of a block, one after another. Extremes are kept as
// twice their logarithm until the block ends.
struct Bridges {
  normal x[ASSETS], level[COUNT];  // the path where a step begins, and levels counted from the same point
  Row<normal> fall[ASSETS], variance[ASSETS], sharpness[ASSETS];
  normal at[COUNT];  // weights of functionals where a step begins

  // p: where the path is, less `centre`.
  __device__ __forceinline__ Bridges(const Path& path, const normal (&p)[ASSETS], const Tables& tables, int block) {
#pragma unroll
    for (int a = 0; a < ASSETS; a++) {
      if (!bridged(a)) continue;
      x[a] = p[a] + (block ? tables.centre[(size_t)a * tables.length + block * STEPS - 1] : 0);
      if (PAYING) fall[a] = row_of(tables.dividend_drops, tables.length, a, block);
      if (VARYING) variance[a] = row_of(tables.bridges, tables.length, a, block);
      if (VARYING) sharpness[a] = row_of(tables.bridges, tables.length, ASSETS + a, block);
#pragma unroll
      for (int j = 0; j < STEPS && !VARYING; j++)
        variance[a].v[j] = tables.variance[a], sharpness[a].v[j] = tables.sharpness[a];
    }
#pragma unroll
    for (int f = 0; f < COUNT; f++) {
      const Functional own = functionals[f];
      if (own.kind == SURVIVAL) level[f] = MIXED ? (normal)(tables.level[f] - path.y[own.asset]) : (normal)tables.level[f];
      if (own.kind == SLOPE || leaning(own.kind))
        at[f] = block               ? tables.growth[(size_t)(ASSETS + own.row) * tables.length + block * STEPS - 1]
                : own.kind == SLOPE ? (normal)tables.level[f]
                                    : 0;
    }
  }

  // Step j, which ends at p.
  __device__ __forceinline__ void take(normal (&sum)[COUNT], const normal (&p)[ASSETS],
                                       const Row<normal> (&centre)[ASSETS], const Row<normal> (&weight)[COUNT], int j,
                                       const Chances& chances, bool opposite) {
    normal end[ASSETS], after[ASSETS];
    normal before[COUNT], steepness[COUNT];      // SURVIVAL before the step, and q times sharpness
    normal edge[COUNT], share[COUNT];            // twice the extreme in the step, and its derivative by the end
#pragma unroll
    for (int a = 0; a < ASSETS; a++) {
      if (!bridged(a)) continue;
      after[a] = p[a] + centre[a].v[j];
      end[a] = PAYING ? after[a] + fall[a].v[j] : after[a];
    }
#pragma unroll
    for (int f = 0; f < COUNT; f++) {
      const Kind kind = functionals[f].kind;
      const int a = functionals[f].asset;
      if (kind == SURVIVAL) {
        const normal d = end[a] - level[f], q = Between<normal>::reached(x[a] - level[f], d, sharpness[a].v[j]);
        before[f] = sum[f], steepness[f] = q < 1 ? q * sharpness[a].v[j] : 0;
        sum[f] = fma(-q, sum[f], sum[f]);
        if (PAYING && !(d * (after[a] - level[f]) > 0)) sum[f] = 0;
      }
      if (sampled(kind)) {
        const normal d = end[a] - x[a], middle = end[a] + x[a];
        const normal width =
            Between<normal>::root(fma(d, d, Between<normal>::spread(chances.w[f], j, opposite, variance[a].v[j])));
        edge[f] = kind == LOWEST ? middle - width : middle + width;
        share[f] = fma((normal)(kind == LOWEST ? -0.5 : 0.5) * d, Between<normal>::inverse(width), (normal)0.5);
        sum[f] = kind == LOWEST ? min(sum[f], edge[f]) : max(sum[f], edge[f]);
        if (PAYING && kind == LOWEST) sum[f] = min(sum[f], 2 * after[a]);
        if (PAYING && kind == LOWEST && 2 * after[a] < edge[f]) edge[f] = 2 * after[a], share[f] = 1;
      }
      const int h = functionals[f].partner;
      if (leaning(kind)) {
        const normal now = weight[f].v[j];
        if (sum[h] == edge[h]) sum[f] = fma(share[h], now - at[f], at[f]);
        at[f] = now;
      }
      if (kind == SLOPE) {
        const normal now = weight[f].v[j], d = end[a] - level[h];
        const normal moved = fma(d, at[f], (x[a] - level[h]) * now);
        const normal q = Between<normal>::reached(x[a] - level[h], d, sharpness[a].v[j]);
        sum[f] = sum[h] != 0 ? fma(before[h] * steepness[h], moved, fma(-q, sum[f], sum[f])) : 0;
        at[f] = now;
      }
    }
#pragma unroll
    for (int a = 0; a < ASSETS; a++)
      if (bridged(a)) x[a] = after[a];
  }
};
