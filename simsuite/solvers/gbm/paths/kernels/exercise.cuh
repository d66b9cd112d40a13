// When American options are exercised on a path, see exercise_policy.py.

struct Right {
  int degree;
  bool call;
};
TABLE Right rights[] = {RIGHTS};
constexpr int N_RIGHTS = sizeof rights / sizeof *rights;

// Which of the rights goes with a functional.
__host__ __device__ constexpr int right_of(int functional) {
  int found = 0;
  for (int f = 0; f < functional; f++) found += functionals[f].kind == EXERCISED;
  return found;
}

// Exercises, if the rule says so, where the noise is y and the price 2^y; `brought` is below 0 until then.
__device__ __forceinline__ void exercise(normal& brought, const Right& right, normal y, normal price, const normal* rule) {
  const normal value = fma(rule[0], price, rule[1]);
  if (brought > 0 || !(value > 0)) return;
  const normal x = right.call ? Normals<normal>::exp2(-y) : price;
  const normal u = min(max(fma(rule[2], x, rule[3]), (normal)-1), (normal)1);
  const normal* c = rule + 4;
  normal p = c[right.degree], later = 0;
#pragma unroll
  for (int k = right.degree - 1; k > 0; k--) {
    const normal next = fma(2 * u, p, c[k] - later);
    later = p, p = next;
  }
  if (fma(u, p, c[0] - later) <= 0) brought = value;
}
