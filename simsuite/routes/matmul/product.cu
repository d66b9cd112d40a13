// C = A B for matrices in C order, A of m x k numbers, B of k x n: the text that five of the roads compile. A block of 16 x 16
// threads has a tile of 64 x 64 numbers of C, of which a thread has 4 x 4: those in rows y, y + 16, .. and columns x, x + 16, ..
template <typename real>
__global__ void __launch_bounds__(256) product(const real* a, const real* b, real* c, int m, int k, int n) {
  constexpr int TILE = 64, DEPTH = 16, T = 16;
  __shared__ real as[DEPTH][TILE + 1], bs[DEPTH][TILE];  // + 1: the threads of a warp write to different banks
  const int x = threadIdx.x % T, y = threadIdx.x / T, row = blockIdx.y * TILE, column = blockIdx.x * TILE;
  real sum[4][4] = {};
  for (int begin = 0; begin < k; begin += DEPTH) {
    for (int e = threadIdx.x; e < TILE * DEPTH; e += T * T) {  // numbers beyond the edges count as 0
      const int i = e / DEPTH, d = e % DEPTH, j = e % TILE, f = e / TILE;
      as[d][i] = row + i < m && begin + d < k ? a[(size_t)(row + i) * k + begin + d] : 0;
      bs[f][j] = begin + f < k && column + j < n ? b[(size_t)(begin + f) * n + column + j] : 0;
    }
    __syncthreads();
#pragma unroll
    for (int d = 0; d < DEPTH; d++)
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) sum[i][j] += as[d][y + T * i] * bs[d][x + T * j];
    __syncthreads();
  }
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++)
      if (row + y + T * i < m && column + x + T * j < n) c[(size_t)(row + y + T * i) * n + column + x + T * j] = sum[i][j];
}
