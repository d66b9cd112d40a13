// What a bridge makes of points, by itself; NORMAL, ASSETS and STACK are macros. Stands behind sobol.cuh.

extern "C" __global__ void __launch_bounds__(128)
increments(NORMAL* dw, unsigned n, unsigned first, int begin, int end, const int* __restrict__ opened,
           const Weights<NORMAL>* __restrict__ weights, const Weights<NORMAL>* __restrict__ inside,
           const uint2* __restrict__ points, const NORMAL* __restrict__ offset, int blocks) {
  const unsigned point = (first & ~31u) + blockIdx.x * 128 + threadIdx.x, i = point - first;
  typedef Bridge<NORMAL, ASSETS> Own;
  NORMAL waiting[STACK][ASSETS];
  Own bridge({opened, weights, inside, points, offset, blocks}, point, begin, waiting);
  for (int block = begin; block < end; block++) {
    NORMAL own[ASSETS][Own::STEPS];
    bridge.block(block, own);
    for (int a = 0; a < ASSETS; a++)
      for (int j = 0; j < Own::STEPS; j++)
        if (i < n) dw[((size_t)(block - begin) * Own::STEPS + j) * ASSETS * n + a * n + i] = own[a][j];
  }
}
