// Where the random numbers of a thread come from: Sobol points, or Philox. Macros as for paths.cu.

#if SOBOL
#include "../../random_numbers/numbering.cuh"
#include "../../sobol/sobol.cuh"
typedef Bridge<normal, ASSETS> Source;  // of random numbers
constexpr bool FULL = true;              // the matrix that mixes principal components is full
#define POINTS , const __grid_constant__ Points q
#define RESTRICTED                                                                                                   \
  , const int *__restrict__ opened, const Weights<normal> *__restrict__ weights,                                     \
      const Weights<normal> *__restrict__ inside, const uint2 *__restrict__ points,                                  \
      const normal *__restrict__ offset, int blocks, unsigned replicates, unsigned long long whole, unsigned each
#define FIELDS , q.opened, q.weights, q.inside, q.points, q.offset, q.blocks, q.replicates, q.whole, q.each
#else
typedef const Philox Source;
constexpr bool FULL = false;  // a Cholesky factor
#define POINTS
#define RESTRICTED
#define FIELDS
#endif
