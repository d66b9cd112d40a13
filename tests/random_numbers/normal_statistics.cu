// Sums over normals as paths draw them. NORMAL (float or double), ASSETS and THREADS are macros. Stands behind philox.cuh
// and normals.cuh.
//
// sums[block of threads, statistic]: of z, z^2, .. z^8; how many |z| are beyond 1, .. 6 and 6.5; how many are no finite
// numbers; then for two neighbours z and w the sums of z w and of (z^2 - 1) (w^2 - 1): next step, next step but one, next
// path (of those of a warp), next asset.

typedef NORMAL normal;
constexpr int STEPS = Normals<normal>::PER_BLOCK, POWERS = 8, TAILS = 7, PAIRS = 4, COUNT = POWERS + TAILS + 1 + 2 * PAIRS;
__host__ __device__ constexpr double beyond(int tail) { return tail < 6 ? tail + 1 : 6.5; }

struct Sums {
  double power[POWERS], product[PAIRS], squares[PAIRS];
  unsigned tail[TAILS], bad;

  __device__ __forceinline__ void add(double z) {
    double p = 1;
#pragma unroll
    for (int k = 0; k < POWERS; k++) power[k] += p *= z;
#pragma unroll
    for (int k = 0; k < TAILS; k++) tail[k] += abs(z) > beyond(k);
    bad += !(abs(z) < 100);
  }

  __device__ __forceinline__ void add_pair(int k, double z, double w, double square, double other) {
    product[k] = fma(z, w, product[k]);
    squares[k] = fma(square, other, squares[k]);
  }

  __device__ __forceinline__ double number(int k) const {
    if (k < POWERS) return power[k];
    if (k < POWERS + TAILS) return tail[k - POWERS];
    if (k == POWERS + TAILS) return bad;
    const int pair = k - POWERS - TAILS - 1;
    return pair % 2 ? squares[pair / 2] : product[pair / 2];
  }
};

extern "C" __global__ void __launch_bounds__(THREADS)
statistics(double* sums, unsigned long long n, unsigned long long seed, int blocks) {
  __shared__ double of_warp[THREADS / 32][COUNT];
  const int lane = threadIdx.x & 31;
  Sums own = {};
  for (unsigned long long path = (unsigned long long)blockIdx.x * THREADS + threadIdx.x; path < n; path += gridDim.x * THREADS) {
    const Philox philox(path, seed);
    double z1[ASSETS] = {}, z2[ASSETS] = {}, s1[ASSETS] = {}, s2[ASSETS] = {};  // the step before, and the one before that
#pragma unroll 1
    for (int block = 0; block < blocks; block++) {
      normal r[ASSETS][STEPS / 2], d[ASSETS][STEPS];
#pragma unroll
      for (int a = 0; a < ASSETS; a++) {
        unsigned w[4];
        philox.words(block, a, w);
        Normals<normal>::block(w, 1, r[a], d[a]);
      }
#pragma unroll
      for (int j = 0; j < STEPS; j++) {
        double left = 0, left_square = 0;  // of the asset before
#pragma unroll
        for (int a = 0; a < ASSETS; a++) {
          const double z = r[a][j / 2] * d[a][j], square = z * z - 1;
          own.add(z);
          own.add_pair(0, z, z1[a], square, s1[a]);
          own.add_pair(1, z, z2[a], square, s2[a]);
          const double next = __shfl_down_sync(0xffffffffu, z, 1);
          if (lane < 31) own.add_pair(2, z, next, square, next * next - 1);
          own.add_pair(3, z, left, square, left_square);
          z2[a] = z1[a], s2[a] = s1[a], z1[a] = left = z, s1[a] = left_square = square;
        }
      }
    }
  }
#pragma unroll
  for (int k = 0; k < COUNT; k++) {
    double total = own.number(k);
    for (int away = 16; away; away /= 2) total += __shfl_down_sync(0xffffffffu, total, away);
    if (lane == 0) of_warp[threadIdx.x / 32][k] = total;
  }
  __syncthreads();
  if (threadIdx.x >= COUNT) return;
  double total = 0;
  for (int warp = 0; warp < THREADS / 32; warp++) total += of_warp[warp][threadIdx.x];
  sums[blockIdx.x * COUNT + threadIdx.x] = total;
}
