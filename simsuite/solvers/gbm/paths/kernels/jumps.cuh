// Jumps, see jumps.py.

constexpr unsigned JUMP_STREAMS = 1u << 16;

template <typename T> struct Jumps {
  // for each asset: the least number of jumps in a step, what so many add to y, what each further one adds, its deviation
  const T* __restrict__ numbers;
  const unsigned long long* __restrict__ thresholds;
  int length;  // the number of thresholds of an asset
};

__device__ __forceinline__ float normal_of(unsigned w2, unsigned w3, float) {
  float r, x, y;
  Normals<float>::pair(w2, w3, -1.38629436f, r, x, y);
  return r * x;
}
__device__ __forceinline__ double normal_of(unsigned w2, unsigned w3, double) {
  const unsigned w[4] = {w2, 0x80000000u, w3, 0x80000000u};
  double r[1], d[2];
  Normals<double>::block(w, 1, r, d);
  return r[0] * d[0];
}

// What jumps add to an asset in a step: `common` to both paths of a pair, `own` to the first one and -`own` to the second.
template <typename T> struct Jump {
  T common, own;

  __device__ __forceinline__ void draw(const Philox& philox, const Jumps<T>& jumps, unsigned step, int a) {
    unsigned w[4];
    philox.words(step, JUMP_STREAMS + a, w);
    const T* numbers = jumps.numbers + 4 * a;
    const unsigned long long* thresholds = jumps.thresholds + (size_t)a * jumps.length;
    const unsigned long long u = (unsigned long long)w[0] << 32 | w[1];
    T count = numbers[0];
    common = numbers[1], own = 0;
    if (u > thresholds[0]) {
      int low = 0, high = jumps.length - 1;
      while (low < high) {
        const int middle = (low + high) / 2;
        if (u > thresholds[middle])
          low = middle + 1;
        else
          high = middle;
      }
      count += (T)low;
      common = fma((T)low, numbers[2], common);
    }
    if (count > 0) own = sqrt(count) * numbers[3] * normal_of(w[2], w[3], (T)0);
  }
};
