// One explicit step of the heat equation with rx and ry in memory, r[0] and r[1], and the adjoint step: see torch_operator.py.
template <typename real> __device__ bool inner(int x, int y, int nx, int ny) {
  return x > 0 && y > 0 && x < nx - 1 && y < ny - 1;
}

template <typename real> __global__ void step(const real* u, real* v, int nx, int ny, const real* r) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  const size_t i = (size_t)y * nx + x;
  const real c = u[i];
  v[i] = inner<real>(x, y, nx, ny) ? c + r[0] * (u[i - 1] - 2 * c + u[i + 1]) + r[1] * (u[i - nx] - 2 * c + u[i + nx]) : c;
}

// g: the derivatives of a number L by v. by_u: those by u. by_rx, by_ry: the summands, one a point, of those by rx and ry.
template <typename real>
__global__ void adjoint(const real* u, const real* g, int nx, int ny, const real* r, real* by_u, real* by_rx, real* by_ry) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  const size_t i = (size_t)y * nx + x;
  auto of = [&](int x, int y) { return inner<real>(x, y, nx, ny) ? g[(size_t)y * nx + x] : 0; };  // 0 for what took nothing
  const real c = of(x, y);
  by_u[i] = g[i] + r[0] * (of(x - 1, y) - 2 * c + of(x + 1, y)) + r[1] * (of(x, y - 1) - 2 * c + of(x, y + 1));
  const bool here = inner<real>(x, y, nx, ny);
  by_rx[i] = here ? c * (u[i - 1] - 2 * u[i] + u[i + 1]) : 0;
  by_ry[i] = here ? c * (u[i - nx] - 2 * u[i] + u[i + nx]) : 0;
}
