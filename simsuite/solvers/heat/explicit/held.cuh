// Cells of general.cu that are held at a temperature.
//
// In place of 1/(ρc), which is 0, cells that are held have the number of their entry in the ledger, with the sign set.
template <int BYTES> struct Same;  // an integer of that size
template <> struct Same<4> { typedef int type; };
template <> struct Same<8> { typedef long long type; };
typedef Same<sizeof(real)>::type Mark;
constexpr Mark HELD_MARK = (Mark)1 << (8 * sizeof(real) - 1);

__device__ __forceinline__ Mark mark_of(real inverse) {
  Mark mark;
  memcpy(&mark, &inverse, sizeof(real));
  return mark;
}

// What flows out of held cells of row y into their neighbours, in a step. Between held cells nothing flows. x: of the
// first cell.
template <int K>
__device__ __forceinline__ void book_held(const real (&inverse)[K], const real (&along_x)[K], const real (&along_y)[K],
                                          real dt, real* ledger, int x, int y, const Tile& tile) {
  bool some = false;
#pragma unroll
  for (int k = 0; k < K; k++) some = some || mark_of(inverse[k]) < 0;
  if (!some || y < tile.y0 || y >= tile.y1) return;
#pragma unroll
  for (int k = 0; k < K; k++) {
    if (mark_of(inverse[k]) >= 0 || x + k < tile.book_x0 || x + k >= tile.x1) continue;
    const real out = fma(along_x[k], dt, along_y[k] * dt);
    real* const sum = ledger + (mark_of(inverse[k]) ^ HELD_MARK);
    if (out != 0) *sum = *sum - out;
  }
}
