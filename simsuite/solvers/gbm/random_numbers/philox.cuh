// Philox4x32-10, see rng.py, for threads that stay with their paths. The counter is (block of steps, stream, path low,
// path high): of the first two rounds, what depends on the path alone is computed once.

#include "special.cuh"

struct Philox {
  static constexpr unsigned M0 = 0xD2511F53u, M1 = 0xCD9E8D57u, W0 = 0x9E3779B9u, W1 = 0xBB67AE85u;
  unsigned k0, k1, low, high;

  // Paths of a warp are neighbours and begin at a multiple of 32, so that `high` is the same for all of them, which the
  // compiler has to be told.
  __device__ __forceinline__ Philox(unsigned long long path, unsigned long long seed)
      : k0((unsigned)seed), k1((unsigned)(seed >> 32)), low((unsigned)path),
        high(__shfl_sync(0xffffffffu, (unsigned)(path >> 32), 0)) {}

  // Of the e-th path from here on, if this one's number is a multiple of a power of 2 that is larger.
  __device__ __forceinline__ Philox neighbour(unsigned e) const {
    Philox other = *this;
    other.low += e;
    return other;
  }

  __device__ __forceinline__ void words(unsigned block, unsigned stream, unsigned (&w)[4]) const {
    unsigned h0, l0, h1, l1;
    whole_product(M1, low, h1, l1);
    whole_product(M0, h1 ^ stream ^ k0, h0, w[3]);  // of round 2 already
    const unsigned path_product = l1, path_top = h0;
    whole_product(M0, block, h0, l0);
    whole_product(M1, h0 ^ high ^ k1, h1, w[1]);
    w[0] = h1 ^ path_product ^ (k0 + W0);
    w[2] = path_top ^ l0 ^ (k1 + W1);
#pragma unroll
    for (unsigned round = 2; round < 10; round++) {
      whole_product(M0, w[0], h0, l0);
      whole_product(M1, w[2], h1, l1);
      w[0] = h1 ^ w[1] ^ (k0 + round * W0);
      w[2] = h0 ^ w[3] ^ (k1 + round * W1);
      w[1] = l1, w[3] = l0;
    }
  }
};
