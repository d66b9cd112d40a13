// out = A X + b, with b added to every column, by tiles, one a block. A (n, p), X (p, m), out (n, m).

#include "tile.cuh"

// bias: of which row `row` is added.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
tile_product(const real* __restrict__ A, const real* __restrict__ X, const real* bias,
             real* __restrict__ out, int n, int p, int m, int pitch, int row, int stride, int steps) {
  let_next_begin();
  extern __shared__ __align__(16) char memory[];
  const Given given = {A, X, bias + (long long)row * n, out, n, p, m, pitch};
  const Place place(given, blockIdx.x);
  Sums sums(threadIdx.x / 32, threadIdx.x % 32);
  Slices(memory).add(sums, given, place, 0, (p + DEPTH - 1) / DEPTH);
  write(sums, given, place);
}
