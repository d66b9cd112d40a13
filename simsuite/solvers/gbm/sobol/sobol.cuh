// Increments of paths from scrambled Sobol points by a Brownian bridge: see brownian_bridge.py and simsuite/sobol for
// the methods.
//
// The threads of a warp have the points 32 k .. 32 k + 31, and all of them stay until the end, whether or not their points
// are wanted: bits 5 and up of the index are the same for a warp, so lane b looks at bit b for all. What the control flow
// depends on is the same for all threads of a launch.

#include "../random_numbers/special.cuh"

template <typename real> struct InverseNormal;

// M. B. Giles' polynomials, as in simsuite/sobol/normal.py, with the logarithm of the special function unit.
template <> struct InverseNormal<float> {
  typedef float real;

  template <int N> static __device__ __forceinline__ float polynomial(const float (&c)[N], float x) {
    float p = c[0];
#pragma unroll
    for (int i = 1; i < N; i++) p = fma(p, x, c[i]);
    return p;
  }

  static __device__ __forceinline__ float of(unsigned x, const float*) {
    constexpr float CENTRE[] = {2.81022636e-08f, 3.43273939e-07f,  -3.5233877e-06f,  -4.39150654e-06f, 0.00021858087f,
                                -0.00125372503f, -0.00417768164f, 0.246640727f, 1.50140941f};
    constexpr float TAIL[] = {3.5214292e-05f,  -3.823271e-06f, -0.00029633232f, 0.00064354116f, -0.00084714463f,
                              0.001278483f, -0.0023671815f, 0.0037010077f,  1.0069339f,     3.2725382f};
    const unsigned upper = (int)x >> 31;  // all bits, in the upper half
    const float r = fma((float)(int)(x ^ upper), 0x1p-32f, 0x1p-33f);  // from the nearer end
    const float w = fma(approximate_log2(fma(-r, r, r)), -0.693147181f, -1.38629436f);
    float p;
    if (w < 5.0f) p = polynomial(CENTRE, w - 2.5f);
    else p = polynomial(TAIL, approximate_root(w) - 3.4375f);
    const float z = fma(r, 2.82842712f, -1.41421356f) * p;
    return __uint_as_float(__float_as_uint(z) ^ (upper & 0x80000000u));
  }
};

// In constant memory, from which an instruction can take one; as literals each would take an instruction more.
__constant__ double INVERSE_CENTRE[] = {
    -3.6444120640178196996e-21, -1.685059138182016589e-19,  1.2858480715256400167e-18,  1.115787767802518096e-17,
    -1.333171662854620906e-16,  2.0972767875968561637e-17,  6.6376381343583238325e-15,  -4.0545662729752068639e-14,
    -8.1519341976054721522e-14, 2.6335093153082322977e-12,  -1.2975133253453532498e-11, -5.4154120542946279317e-11,
    1.051212273321532285e-09,   -4.1126339803469836976e-09, -2.9070369957882005086e-08, 4.2347877827932403518e-07,
    -1.3654692000834678645e-06, -1.3882523362786468719e-05, 0.0001867342080340571352,   -0.00074070253416626697512,
    -0.0060336708714301490533,  0.24015818242558961693,     1.6536545626831027356};
__constant__ double INVERSE_TAIL[] = {
    2.2137376921775787049e-09,  9.0756561938885390979e-08,  -2.7517406297064545428e-07, 1.8239629214389227755e-08,
    1.5027403968909827627e-06,  -4.013867526981545969e-06,  2.9234449089955446044e-06,  1.2475304481671778723e-05,
    -4.7318229009055733981e-05, 6.8284851459573175448e-05,  2.4031110387097893999e-05,  -0.0003550375203628474796,
    0.00095328937973738049703,  -0.0016882755560235047313,  0.0024914420961078508066,   -0.0037512085075692412107,
    0.005370914553590063617,    1.0052589676941592334,      3.0838856104922207635};
__constant__ double INVERSE_FAR_TAIL[] = {
    -2.7109920616438573243e-11, -2.5556418169965252055e-10, 1.5076572693500548083e-09,  -3.7894654401267369937e-09,
    7.6157012080783393804e-09,  -1.4960026627149240478e-08, 2.9147953450901080826e-08,  -6.7711997758452339498e-08,
    2.2900482228026654717e-07,  -9.9298272942317002539e-07, 4.5260625972231537039e-06,  -1.9681778105531670567e-05,
    7.5995277030017761139e-05,  -0.00021503011930044477347, -0.00013871931833623122026, 1.0103004648645343977,
    4.8499064014085844221};
__constant__ double INVERSE_LOG[] = {1.479819860510658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01,
                                     2.222219843214978396e-01, 2.857142874366239149e-01, 3.999999999940941908e-01,
                                     6.666666666666735130e-01};
__constant__ double INVERSE_LN2 = 0.69314718055994530942, INVERSE_SCALE = 2.8284271247461900976;

template <> struct InverseNormal<double> {
  typedef double real;

  template <int N> static __device__ __forceinline__ double polynomial(const double (&c)[N], double x) {
    double p = c[0];
#pragma unroll
    for (int i = 1; i < N; i++) p = fma(p, x, c[i]);
    return p;
  }

  // -log(4 v): fdlibm's e_log.c.
  static __device__ __forceinline__ double minus_log4(double v) {
    const int high = __double2hiint(v) + (0x3ff00000 - 0x3fe6a09e);
    const double e = __hiloint2double(0x43300000, high >> 20) - (0x1p52 + 1023 - 2);
    const double f = __hiloint2double((high & 0xfffff) + 0x3fe6a09e, __double2loint(v)) - 1.0, d = f + 2.0;
    double inverse = approximate_inverse(d), rest = fma(-d, inverse, 1.0);
    rest = fma(rest, rest, rest);
    inverse = fma(inverse, rest, inverse);
    const double s = f * inverse, q = s * s, half = 0.5 * f * f;
    return fma(-e, INVERSE_LN2, half - s * fma(polynomial(INVERSE_LOG, q), q, half) - f);
  }

  static __device__ __forceinline__ double root(double v) {
    const double y = approximate_inverse_root(v);
    double g = v * y, h = 0.5 * y, r = fma(-g, h, 0.5);
    g = fma(g, r, g), h = fma(h, r, h);
    return fma(fma(-g, g, v), h, g);
  }

  static __device__ __forceinline__ double of(unsigned x, const double* offset) {
    const double signed_bits = __hiloint2double(0x43300000, x) - (0x1p52 + 0x1p31);
    const double p = (signed_bits + *offset) * 0x1p-32;  // u - 1/2, to the bit
    const double r = 0.5 - fabs(p), w = minus_log4(fma(-r, r, r));
    double y;
    if (w < 6.25) {
      y = polynomial(INVERSE_CENTRE, w - 3.125);
    } else {
      const double s = root(w);
      y = s < 4.0 ? polynomial(INVERSE_TAIL, s - 3.25) : polynomial(INVERSE_FAR_TAIL, s - 5.0);
    }
    return INVERSE_SCALE * p * y;
  }
};

template <typename normal> struct __align__(2 * sizeof(normal)) Weights {
  normal of_gain, of_number;
};

// On the device, in order of visits but for `opened`.
template <typename normal> struct BridgeTables {
  const int* __restrict__ opened;               // [block]
  const Weights<normal>* __restrict__ weights;  // [visit]
  const Weights<normal>* __restrict__ inside;   // [2][split]: of all blocks but the last, and of the last
  const uint2* __restrict__ points;             // [visit][component][32]: what bits 0 to 4 and the shift make; directions
  const normal* __restrict__ offset;            // [visit][component]
  int blocks;
};

// The increments of `COMPONENTS` standard Brownian motions in blocks of steps, one block after another from any on. The
// stack is the caller's, as deep as the host has counted: an array that is indexed by a variable is in local memory, and a
// structure that it is part of would be there with it.
template <typename normal, int COMPONENTS> struct Bridge {
  typedef normal real;
  static constexpr int STEPS = 16 / sizeof(normal), SPLITS = STEPS - 1;
  const BridgeTables<normal> tables;
  const uint2* __restrict__ const points;  // of the lane
  const unsigned mask;
  int visit = 0, depth = 0;
  normal (*waiting)[COMPONENTS], whole[COMPONENTS];
  Weights<normal> inside[SPLITS];

  __device__ __forceinline__ Bridge(const BridgeTables<normal>& tables, unsigned point, int begin,
                                    normal (*stack)[COMPONENTS])
      : tables(tables), points(tables.points + (point & 31)), mask(lane_bit(point)), waiting(stack) {
#pragma unroll
    for (int i = 0; i < SPLITS; i++) inside[i] = tables.inside[i];
    const normal deviation = tables.weights[0].of_number;
#pragma unroll
    for (int a = 0; a < COMPONENTS; a++) whole[a] = deviation * number(0, a);
    visit = 1;
#pragma unroll 1
    for (int l = 0, r = tables.blocks; l < begin && r - l > 1;) {
      const int fours = ((r - l) * STEPS + 3) / 4, m = fours > 1 ? l + (fours + 1) / 2 * 4 / STEPS : l + 1;
      open();
      if (begin < m) {
        r = m;
      } else {
        take();
        visit += (m - l) * STEPS - 1;
        l = m;
      }
    }
  }

  __device__ __forceinline__ Bridge& neighbour(int) { return *this; }  // a thread has one path

  __device__ __forceinline__ void block(int b, normal (&dw)[COMPONENTS][STEPS]) {
#pragma unroll 1
    for (int n = tables.opened[b]; n > 0; n--) open();
    if (b == tables.blocks - 1)
#pragma unroll
      for (int i = 0; i < SPLITS; i++) inside[i] = tables.inside[SPLITS + i];
#pragma unroll
    for (int a = 0; a < COMPONENTS; a++) {
      const normal half = left(inside[0], whole[a], visit, a), rest = whole[a] - half;
      if (STEPS == 2) {
        dw[a][0] = half;
        dw[a][1] = rest;
      } else {
        dw[a][0] = left(inside[1 % SPLITS], half, visit + 1, a);
        dw[a][1] = half - dw[a][0];
        dw[a][STEPS - 2] = left(inside[2 % SPLITS], rest, visit + 2, a);
        dw[a][STEPS - 1] = rest - dw[a][STEPS - 2];
      }
    }
    visit += SPLITS;
    if (depth) take();  // unless it was the last block
  }

private:
  // All ones if bit number `lane` of the index is 5 or higher, and so the same in a warp, and set; else 0.
  static __device__ __forceinline__ unsigned lane_bit(unsigned point) {
    const unsigned lane = point & 31;
    return lane >= 5 && (point >> lane & 1) ? 0xffffffffu : 0;
  }

  __device__ __forceinline__ normal number(int visit, int a) const {
    const uint2 own = points[((long long)visit * COMPONENTS + a) * 32];
    return InverseNormal<normal>::of(own.x ^ over_warp(own.y & mask), tables.offset + visit * COMPONENTS + a);
  }

  __device__ __forceinline__ normal left(const Weights<normal>& own, normal gain, int visit, int a) const {
    return fma(own.of_gain, gain, own.of_number * number(visit, a));
  }

  // Splits what is to come: the left half is next, the right half waits.
  __device__ __forceinline__ void open() {
    const Weights<normal> own = tables.weights[visit];
#pragma unroll
    for (int a = 0; a < COMPONENTS; a++) {
      const normal first = left(own, whole[a], visit, a);
      waiting[depth][a] = whole[a] - first;
      whole[a] = first;
    }
    depth++, visit++;
  }

  // Goes on with what has waited the shortest.
  __device__ __forceinline__ void take() {
    depth--;
#pragma unroll
    for (int a = 0; a < COMPONENTS; a++) whole[a] = waiting[depth][a];
  }
};
