// Payoffs of paths of geometric Brownian motion, see __init__.py: the text that six of the roads compile. Philox4x32-10 as in
// numba_philox.py, and the same normals: words 0 and 2 give radii, words 1 and 3 angles.
struct Words { unsigned c0, c1, c2, c3; };

__device__ inline Words philox(unsigned block, unsigned long long path, unsigned long long seed) {
  Words w = {block, 0, (unsigned)path, (unsigned)(path >> 32)};
  unsigned k0 = (unsigned)seed, k1 = (unsigned)(seed >> 32);
#pragma unroll
  for (int round = 0; round < 10; round++) {
    const unsigned h0 = __umulhi(w.c0, 0xD2511F53u), h1 = __umulhi(w.c2, 0xCD9E8D57u);
    w = {h1 ^ w.c1 ^ k0, w.c2 * 0xCD9E8D57u, h0 ^ w.c3 ^ k1, w.c0 * 0xD2511F53u};
    k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
  }
  return w;
}

__device__ inline void normals(unsigned first, unsigned second, float& a, float& b) {
  const float radius = sqrtf(-2 * __logf(fmaf((float)first, 0x1p-32f, 0x1p-33f)));
  __sincosf((float)(int)second * 1.4629180793e-9f, &b, &a);  // pi 2^-31
  a *= radius, b *= radius;
}

// The discounted payoff of a path, and what it adds to the derivatives by spot and volatility if these are asked for.
template <typename real, bool asian> struct Path {
  real payoff, by_spot, by_volatility;
  __device__ inline Path(unsigned long long path, unsigned long long seed, real spot, real strike, real drift, real deviation,
                         real discount, int steps, real volatility = 1) {
    real x = 0, total = 0, noise = 0, slope = 0;  // log S / spot, sum of S / spot, sum of normals, sum of d S / d volatility
    for (int block = 0; 4 * block < steps; block++) {
      const Words w = philox(block, path, seed);
      float z[4];
      normals(w.c0, w.c1, z[0], z[1]), normals(w.c2, w.c3, z[2], z[3]);
#pragma unroll
      for (int j = 0; j < 4; j++)
        if (4 * block + j < steps) {
          x += drift + deviation * z[j], noise += z[j];
          if (asian) {
            const real price = exp(x);
            total += price, slope += price * (deviation * noise - deviation * deviation * (4 * block + j + 1));
          }
        }
    }
    const real last = asian ? total / steps : exp(x);
    if (!asian) slope = last * (deviation * noise - deviation * deviation * steps);
    const bool pays = spot * last > strike;
    payoff = pays ? discount * (spot * last - strike) : 0;
    by_spot = pays ? discount * last : 0;
    by_volatility = pays ? discount * spot * slope / (asian ? steps : 1) / volatility : 0;
  }
};

template <typename real, bool asian>
__global__ void paths(real* out, int n, real spot, real strike, real drift, real deviation, real discount, int steps,
                      unsigned long long seed) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = Path<real, asian>(i, seed, spot, strike, drift, deviation, discount, steps).payoff;
}

template <typename real, bool asian>
__global__ void with_derivatives(real* out, int n, real spot, real strike, real drift, real deviation, real discount, int steps,
                                 unsigned long long seed, real* by_spot, real* by_volatility, real volatility) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Path<real, asian> path(i, seed, spot, strike, drift, deviation, discount, steps, volatility);
  out[i] = path.payoff, by_spot[i] = path.by_spot, by_volatility[i] = path.by_volatility;
}
