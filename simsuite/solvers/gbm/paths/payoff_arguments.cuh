// What payoffs.cu takes besides paths and sums. payoff_arguments.py says what it is, in the same order.

struct Payoffs {
  const double* growth;
  const double* coarse_growth;
  unsigned long long room, whole;
  unsigned replicates, each, stride;
};
