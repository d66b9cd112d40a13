// Where a path ends, and what its payoffs are computed from. STATE, ASSETS, COUNT and FUNCTIONALS are macros.

#include "kinds.cuh"

typedef STATE state;
TABLE Kind kinds[] = {FUNCTIONALS};

// What a path left behind.
struct End {
  state y[ASSETS], f[COUNT];

  __device__ __forceinline__ void read(const state* __restrict__ ys, const state* __restrict__ kept, size_t room,
                                       unsigned i) {
#pragma unroll
    for (int a = 0; a < ASSETS; a++) y[a] = ys[a * room + i];
#pragma unroll
    for (int k = 0; k < COUNT; k++)
      if (kinds[k] != NOTHING) f[k] = kept[k * room + i];
  }

  // What payoffs are computed from.
  __device__ __forceinline__ void tell(double (&v)[2 * ASSETS + COUNT], const double* __restrict__ growth) const {
#pragma unroll
    for (int a = 0; a < ASSETS; a++) {
      const double noise = y[a];
      v[a] = exp2(noise) * growth[a];
      v[ASSETS + COUNT + a] = noise;
    }
#pragma unroll
    for (int k = 0; k < COUNT; k++) {
      if (kinds[k] == NOTHING) continue;
      const double own = f[k];
      v[ASSETS + k] = kinds[k] >= LEAST && kinds[k] <= HIGHEST ? exp2(own) : own;
    }
  }
};
