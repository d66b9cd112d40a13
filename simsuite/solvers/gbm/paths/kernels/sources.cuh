// Where the random numbers of a thread come from: Sobol points, or Philox, whose normals may be matched. Macros as for
// paths.cu.

#if SOBOL
#include "../../random_numbers/numbering.cuh"
#include "../../sobol/sobol.cuh"
typedef Bridge<normal, ASSETS> Source;  // of random numbers
constexpr bool FULL = true;              // principal components are in all assets
#define MATCHED 0
#define POINTS                                                                                                       \
  , const int *__restrict__ opened, const Weights<normal> *__restrict__ weights,                                     \
      const Weights<normal> *__restrict__ inside, const uint2 *__restrict__ points,                                  \
      const normal *__restrict__ offset, int blocks, unsigned replicates, unsigned long long whole, unsigned each
#elif MATCHED
struct Matched : Philox {
  const normal* rows;  // factors and shifts of the path's group, of each asset in the block `begin` and those after it
  int begin;

  __device__ __forceinline__ Matched(unsigned long long path, unsigned long long seed, const normal* rows, int begin)
      : Philox(path, seed), rows(rows), begin(begin) {}

  __device__ __forceinline__ Matched neighbour(unsigned e) const {  // of the same group
    Matched other = *this;
    other.low += e;
    return other;
  }
};
typedef const Matched Source;
constexpr bool FULL = false;
#define POINTS , const normal *__restrict__ match, int longest
#else
typedef const Philox Source;
constexpr bool FULL = false;  // a Cholesky factor
#define POINTS
#define MATCHED 0
#endif
