// The bin of a number in a sketch, see quantile_sketch.py. Macros: BITS, FINE, LEAST_EXPONENT, OCTAVES.

constexpr int BINS = OCTAVES << BITS;

// within: the bits of the mantissa that follow.
__device__ __forceinline__ int cell(double value, unsigned& within) {
  const unsigned long long bits = __double_as_longlong(fabs(value));
  const int number = (int)(bits >> (52 - BITS)) - (1023 + LEAST_EXPONENT << BITS) + 1;
  within = number > 0 ? (unsigned)(bits >> (52 - BITS - FINE)) & (1u << FINE) - 1 : 0;
  const int bin = min(max(number, 0), BINS + 1);
  return value < 0 ? -bin : bin;
}
