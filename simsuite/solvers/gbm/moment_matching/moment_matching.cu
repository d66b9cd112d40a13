// Factors and shifts of moment matching, see moment_matching.py: a warp for each group of paths, block of steps and asset that
// comes its way. Sums are of all steps of a block at once.
//
// Compiled at run time, with the macros ASSETS, NORMAL (float or double), DRAWS (of a group: less than GROUP if paths are
// antithetic), GROUP, THREADS.

#include "../random_numbers/normals.cuh"
#include "../random_numbers/philox.cuh"

typedef NORMAL normal;
constexpr int STEPS = Normals<normal>::PER_BLOCK;

// The same total for all lanes of a warp: halves are added to each other.
__device__ __forceinline__ normal of_lanes(normal v) {
#pragma unroll
  for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
  return v;
}

__device__ __forceinline__ float root(float v) { return sqrtf(v); }
__device__ __forceinline__ double root(double v) { return sqrt(v); }

extern "C" __global__ void __launch_bounds__(THREADS)
measure(normal* match, unsigned groups, unsigned long long first, unsigned long long seed, int begin, int end,
        int longest) {
  const unsigned lane = threadIdx.x & 31, blocks = end - begin, warps = gridDim.x * (THREADS / 32);
  for (unsigned i = blockIdx.x * (THREADS / 32) + threadIdx.x / 32; i < groups * blocks * ASSETS; i += warps) {
    const unsigned a = i % ASSETS, block = i / ASSETS % blocks, group = i / ASSETS / blocks;
    Philox philox(first + group * (unsigned long long)DRAWS, seed);
    philox.low += lane;
    normal sum[STEPS], squares[STEPS];
#pragma unroll
    for (int j = 0; j < STEPS; j++) sum[j] = squares[j] = 0;
#pragma unroll 2
    for (int k = 0; k < DRAWS; k += 32, philox.low += 32) {
      unsigned w[4];
      normal r[STEPS / 2], d[STEPS];
      philox.words(begin + block, a, w);
      Normals<normal>::block(w, 1, r, d);
#pragma unroll
      for (int j = 0; j < STEPS; j++) {
        const normal z = r[j / 2] * d[j];
        sum[j] += z, squares[j] = fma(z, z, squares[j]);
      }
    }
    normal* found = match + (((size_t)group * longest + block) * ASSETS + a) * (2 * STEPS);
#pragma unroll
    for (int j = 0; j < STEPS; j++) {
      const normal mean = DRAWS == GROUP ? of_lanes(sum[j]) / DRAWS : 0;
      const normal factor = 1 / root(fma(-mean, mean, of_lanes(squares[j]) / DRAWS));
      if (lane == j) found[j] = factor, found[STEPS + j] = -mean * factor;
    }
  }
}
