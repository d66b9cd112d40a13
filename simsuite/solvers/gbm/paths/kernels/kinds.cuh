// The declaration of a table that is known when this is compiled, and that kernels read. NVRTC takes it for one of the
// device; nvcc has to be told.
#ifdef __CUDACC_RTC__
#define TABLE constexpr
#else
#define TABLE __device__ constexpr
#endif

// What functionals.py calls Kind.
enum Kind {
  NOTHING,
  SUM,
  LOGARITHMS,
  LEAST,
  LARGEST,
  LOWEST,
  HIGHEST,
  SURVIVAL,
  WEIGHTED,
  NOISY,
  AT_LEAST,
  AT_LARGEST,
  SQUARES,
  LATEST,
  EXERCISED,
  AT_LOWEST,
  AT_HIGHEST,
  SLOPE,
  AT_EXERCISED
};
