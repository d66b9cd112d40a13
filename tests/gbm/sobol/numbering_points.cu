// Place and Pieces of numbering.cuh by themselves. Stands behind it; GROUP is a macro.

extern "C" __global__ void
places(long long* found, unsigned n, unsigned long long first, unsigned replicates, unsigned long long whole,
       unsigned each) {
  const Place place({replicates, whole, each}, first, n, blockIdx.x * 64 + threadIdx.x);
  if (place.wanted) found[2 * place.column] = place.replicate, found[2 * place.column + 1] = place.point;
}

extern "C" __global__ void
pieces(long long* found, unsigned n, unsigned long long first, unsigned replicates, unsigned long long whole,
       unsigned each) {
  const Pieces own({replicates, whole, each}, first, n, blockIdx.x);
  for (unsigned k = 0; k < own.count(); k++) {
    unsigned begin, end;
    own.piece(k, begin, end);
    if (begin < end) found[2 * begin] = end, found[2 * begin + 1] = blockIdx.x;
  }
}
