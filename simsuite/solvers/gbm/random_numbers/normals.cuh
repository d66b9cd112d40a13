// Standard normals by Box-Muller from the words of a Philox block, and powers of 2. As rng.py has them: the same words,
// the same uniform numbers, but for the last digits of what the functions here give.

#include "special.cuh"

#undef INFINITY  // which nvcc defines, and NVRTC does not
#define INFINITY __int_as_float(0x7f800000)

template <typename real> struct Normals;

// Four of a block, by the special function unit, to 2^-20 of a standard deviation. The angle is put together from bits:
// the unit is what threads wait for, and conversions would use it.
template <> struct Normals<float> {
  static constexpr int PER_BLOCK = 4;

  static __device__ __forceinline__ float exp2(float x) {
    return approximate_power(x);
  }

  static __device__ __forceinline__ void pair(unsigned a, unsigned b, float scale, float& r, float& p, float& q) {
    const float u = fmaf((float)a, 0x1p-32f, 0x1p-33f);
    const float angle = fmaf(__uint_as_float(b >> 9 | 0x3f800000u), 6.2831853f, -9.4247780f);  // less half a turn
    r = -approximate_root(scale * approximate_log2(u));
    p = approximate_cosine(angle);
    q = approximate_sine(angle);
  }

  // Number j of the block is r[j / 2] d[j], with standard deviation `sigma`.
  static __device__ __forceinline__ void block(const unsigned (&w)[4], float sigma, float (&r)[2], float (&d)[4]) {
    const float scale = -1.38629436f * sigma * sigma;  // -2 log 2 sigma^2
    pair(w[0], w[1], scale, r[0], d[0], d[1]);
    pair(w[2], w[3], scale, r[1], d[2], d[3]);
  }
};

// Coefficients, highest power first. In constant memory, from which an instruction can take one; as literals each would
// take an instruction more.
__constant__ double EXP2[] = {4.4558179083360645e-10, 7.074194297288521e-09,  1.0178057087733941e-07, 1.3215432535912375e-06,
                              1.5252733841556773e-05, 0.00015403530463724353, 0.001333355814640647,   0.009618129107587256,
                              0.055504108664821625,   0.24022650695910158,    0.6931471805599453,     1.0};
__constant__ double LOG[] = {1.479819860510658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01, 2.222219843214978396e-01,
                             2.857142874366239149e-01, 3.999999999940941908e-01, 6.666666666666735130e-01};
__constant__ double SINE[] = {1.58969099521155010221e-10,  -2.50507602534068634195e-08, 2.75573137070700676789e-06,
                              -1.98412698298579493134e-04, 8.33333333332248946124e-03,  -1.66666666666666324348e-01};
__constant__ double COSINE[] = {-1.13596475577881948265e-11, 2.08757232129817482790e-09, -2.75573143513906633035e-07,
                                2.48015872894767294178e-05,  -1.38888888888741095749e-03, 4.16666666666666019037e-02};
__constant__ double SIGNED_WORDS = 0x1.00000801p84, WORDS = 0x1.00000001p84, ROUND = 0x1.8p52, LN2 = 0.69314718055994530942,
                    ANGLE = 3.4061215800865545e-19;  // pi 2^-63

template <int N> __device__ __forceinline__ double polynomial(const double (&c)[N], double x) {
  double p = c[0];
#pragma unroll
  for (int i = 1; i < N; i++) p = fma(p, x, c[i]);
  return p;
}

// Two of a block, by polynomials that keep to the last digit but one: of fdlibm's e_log.c, k_sin.c and k_cos.c, and one
// that interpolates 2^x.
template <> struct Normals<double> {
  static constexpr int PER_BLOCK = 2;

  // (int64 or uint64) high 2^32 + low, rounded once. low counts as it is, high with or without its sign.
  static __device__ __forceinline__ double of_words(unsigned high, unsigned low) {
    return (__hiloint2double(0x45300000, high) - WORDS) + __hiloint2double(0x43300000, low);
  }
  static __device__ __forceinline__ double of_signed_words(unsigned high, unsigned low) {
    return (__hiloint2double(0x45300000, high ^ 0x80000000u) - SIGNED_WORDS) + __hiloint2double(0x43300000, low);
  }

  static __device__ __forceinline__ double exp2(double x) {
    const double shifted = x + ROUND, r = x - (shifted - ROUND);
    const int n = min(max(__double2loint(shifted), -1022), 1023);
    return polynomial(EXP2, r) * __hiloint2double((n + 1023) << 20, 0);
  }

  // scale * log(u), for u in (0, 1].
  static __device__ __forceinline__ double scaled_log(double u, double scale) {
    const int high = __double2hiint(u) + (0x3ff00000 - 0x3fe6a09e);
    const double e = __hiloint2double(0x43300000, high >> 20) - (0x1p52 + 1023);
    const double f = __hiloint2double((high & 0xfffff) + 0x3fe6a09e, __double2loint(u)) - 1.0, d = f + 2.0;
    double inverse = approximate_inverse(d);
    double rest = fma(-d, inverse, 1.0);
    rest = fma(rest, rest, rest);
    inverse = fma(inverse, rest, inverse);
    const double s = f * inverse, q = s * s;
    const double p = polynomial(LOG, q);
    const double half = 0.5 * f * f;
    const double log1p = f - (half - s * fma(p, q, half));
    return scale * fma(e, LN2, log1p);
  }

  static __device__ __forceinline__ double root(double v) {
    v = fmax(v, 1e-290);
    const double y = approximate_inverse_root(v);
    double g = v * y, h = 0.5 * y, r = fma(-g, h, 0.5);
    g = fma(g, r, g), h = fma(h, r, h);
    r = fma(-g, g, v);
    return fma(r, h, g);
  }

  static __device__ __forceinline__ void block(const unsigned (&w)[4], double sigma, double (&r)[1], double (&d)[2]) {
    const unsigned low = __funnelshift_r(w[1], w[0], 11);
    const double u = fma(of_words(w[0] >> 11, low), 0x1p-53, 0x1p-54);
    const double radius = root(scaled_log(u, -2.0 * sigma * sigma));
    const unsigned quarter = (w[2] + 0x20000000u) >> 30;  // turns, the nearest
    const double t = of_signed_words(w[2] - (quarter << 30), w[3]) * ANGLE, q = t * t;
    const double s = fma(polynomial(SINE, q), q * t, t);
    const double c = fma(polynomial(COSINE, q), q * q, fma(-0.5, q, 1.0));
    r[0] = __hiloint2double(__double2hiint(radius) ^ (quarter & 2) << 30, __double2loint(radius));
    d[0] = quarter & 1 ? -s : c;
    d[1] = quarter & 1 ? c : s;
  }
};
