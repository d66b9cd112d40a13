// What paths.cu takes besides paths. path_arguments.py says what it is, in the same order.

typedef STATE state;
typedef NORMAL normal;
template <typename real> struct Weights;

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

struct Points {
  const int* opened;
  const Weights<normal>* weights;
  const Weights<normal>* inside;
  const uint2* points;
  const normal* offset;
  int blocks;
  unsigned replicates, each;
  unsigned long long whole;
};
