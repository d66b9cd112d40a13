// How fast a device does what paths are made of: see units.py, which checks what comes out. THREADS: of a block.

constexpr int CHAINS = 8, PER_TURN = 16;  // independent ones in a thread; links of each in a turn

// Blocks of Philox4x32-10, each of them the counter of the next, PER_TURN / 4 of 4 chains in a turn.
extern "C" __global__ void __launch_bounds__(THREADS) philox(uint4* out, unsigned key, int turns) {
  const unsigned i = blockIdx.x * THREADS + threadIdx.x;
  uint4 v[4];
#pragma unroll
  for (unsigned c = 0; c < 4; c++) v[c] = make_uint4(i, c, 0, 0);
  for (int turn = 0; turn < turns; turn++)
#pragma unroll
    for (int k = 0; k < PER_TURN / 4; k++)
#pragma unroll
      for (unsigned round = 0; round < 10; round++)
#pragma unroll
        for (int c = 0; c < 4; c++) {
          unsigned h0, l0, h1, l1;
          asm("{ .reg .b64 p; mul.wide.u32 p, %2, %3; mov.b64 {%1, %0}, p; }" : "=r"(h0), "=r"(l0) : "r"(v[c].x), "r"(0xD2511F53u));
          asm("{ .reg .b64 p; mul.wide.u32 p, %2, %3; mov.b64 {%1, %0}, p; }" : "=r"(h1), "=r"(l1) : "r"(v[c].z), "r"(0xCD9E8D57u));
          v[c] = make_uint4(h1 ^ v[c].y ^ (key + round * 0x9E3779B9u), l1, h0 ^ v[c].w ^ (key + round * 0xBB67AE85u), l0);
        }
#pragma unroll
  for (int c = 1; c < 4; c++) v[0].x ^= v[c].x, v[0].y ^= v[c].y, v[0].z ^= v[c].z, v[0].w ^= v[c].w;
  out[i] = v[0];
}

// Pairs of normal numbers by Box-Muller in float32, from words that cost an addition each: a conversion, a logarithm, a
// root, a sine and a cosine. `out`: the mean of their squares.
extern "C" __global__ void __launch_bounds__(THREADS) normals(float* out, int turns) {
  const unsigned i = blockIdx.x * THREADS + threadIdx.x;
  unsigned a = i * 0x85EBCA6Bu, b = i * 0xC2B2AE35u;
  float squares = 0;
  for (int turn = 0; turn < turns; turn++)
#pragma unroll
    for (int k = 0; k < PER_TURN; k++) {
      a += 0x9E3779B9u, b += 0xBB67AE85u;
      const float u = fmaf((float)a, 0x1p-32f, 0x1p-33f);
      const float angle = fmaf(__uint_as_float(b >> 9 | 0x3f800000u), 6.2831853f, -9.4247780f);
      float log, r, x, y;
      asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(log) : "f"(u));
      asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(-1.38629436f * log));
      asm("cos.approx.ftz.f32 %0, %1;" : "=f"(x) : "f"(angle));
      asm("sin.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(angle));
      x *= r, y *= r;
      squares = fmaf(x, x, squares), squares = fmaf(y, y, squares);
    }
  out[i] = squares / (2 * PER_TURN * turns);
}

// Powers of 2: x <- 2^-x, which comes to 0.6411857.
extern "C" __global__ void __launch_bounds__(THREADS) exponentials(float* out, int turns) {
  const unsigned i = blockIdx.x * THREADS + threadIdx.x;
  float x[CHAINS];
#pragma unroll
  for (int c = 0; c < CHAINS; c++) x[c] = 0.01f * (i % 64 + c);
  for (int turn = 0; turn < turns; turn++)
#pragma unroll
    for (int k = 0; k < PER_TURN; k++)
#pragma unroll
      for (int c = 0; c < CHAINS; c++) asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(x[c]) : "f"(-x[c]));
#pragma unroll
  for (int c = 1; c < CHAINS; c++) x[0] += x[c];
  out[i] = x[0] / CHAINS;
}
