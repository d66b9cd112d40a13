// What paths.cu takes besides paths. path_arguments.py says what it is, in the same order. Pointers in a struct are not
// __restrict__: what no kernel writes is read by __ldg.

typedef STATE state;
typedef NORMAL normal;

struct Market {
  const normal* mix;
  const normal* scale;
  const normal* centre;
  const normal* growth;
  const unsigned* due;
  const normal* bridges;
  const normal* dividend_drops;
  const state* levels;
  const normal* drift;
  const normal* jumps;
  const unsigned long long* thresholds;
  const normal* cash;
  const int* policy_row;
  const normal* rules;
  int length, n_thresholds, n_steps;
};
