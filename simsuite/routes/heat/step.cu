// One explicit step of the heat equation, see __init__.py: the text that five of the roads compile. Threads that are
// neighbours in x read neighbouring numbers, which the memory delivers together: x has to be the fast index.
template <typename real> __global__ void step(const real* u, real* v, int nx, int ny, real rx, real ry) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  const size_t i = (size_t)y * nx + x;
  const real c = u[i];
  const bool edge = x == 0 || y == 0 || x == nx - 1 || y == ny - 1;
  v[i] = edge ? c : c + rx * (u[i - 1] - 2 * c + u[i + 1]) + ry * (u[i - nx] - 2 * c + u[i + nx]);
}
