// What the kernels have in common that take DEPTH steps in one pass over the field: see tiling.py for which.
//
// Macros: REAL (float or double), DEPTH (steps), LANE (neighbouring cells a lane of a warp holds), SIDE_LANE and
// BAND_LANE (the same for tiles at the edges), WIDTH, SIDE_WIDTH, BAND_WIDTH (cells that are loaded together), WRAP_X
// and WRAP_Y (0 or 1: periodic), UNROLL (rows a turn of the loop of inner tiles), WARPS (a block), BLOCKS (a
// multiprocessor).

#include "arguments.cuh"

struct Field;  // what a kernel marches over: has nx and ny

struct Tile {  // of the result
  int x0, x1, y0, y1;
  int book_x0;  // where columns begin that are no other tile's
};

template <int WIDTH_> struct alignas(sizeof(real) * WIDTH_) Cells { real v[WIDTH_]; };

constexpr unsigned ALL = ~0u;

// How a warp walks up a tile. SIDES: with the edges at left (1) and right (2); ENDS: with those at bottom and top, and
// sides anywhere in the tile.
constexpr int LEFT = 1, RIGHT = 2;
template <int K, int W, int SIDES, bool ENDS>
__device__ __forceinline__ void march(const Field& f, const Edges& e, const Tile tile, char* memory);

// Columns at each side of a tile that it computes, but has no results for.
__device__ constexpr int halo(int width) { return (DEPTH + width - 1) / width * width; }

// Columns that a tile has results for.
__device__ constexpr int outcome(int lane, int width) { return 32 * lane - 2 * halo(width); }

// March up the tile of that number. F: Field, complete where this is called.
template <typename F>
__device__ __forceinline__ void march_up(int number, const Tiles& tiles, const F& f, const Edges& e, char* mine) {
  const int nx = f.nx, ny = f.ny;
  constexpr int BAND_OUT = outcome(BAND_LANE, BAND_WIDTH), SIDE_OUT = outcome(SIDE_LANE, SIDE_WIDTH), OUT = outcome(LANE, WIDTH);
  const int tall = tiles.strips * tiles.chunks, banded = tiles.columns * (tiles.low + (tiles.high < ny ? 1 : 0));
  if (number >= tall && number < tall + banded + 2 * tiles.sides) {
    number -= tall;
    if (number < banded) {
      const int row = number / tiles.columns, x0 = number % tiles.columns * BAND_OUT;
      const int y0 = row < tiles.low ? row * tiles.band_rows : tiles.high;
      const int y1 = row < tiles.low ? min(y0 + tiles.band_rows, tiles.low_end) : ny;
      const Tile tile = {x0, min(x0 + BAND_OUT, nx), y0, y1, x0};
      constexpr int HALO = halo(BAND_WIDTH);
      if (WRAP_X || (x0 >= HALO && x0 + BAND_OUT + HALO <= nx))
        march<BAND_LANE, BAND_WIDTH, 0, true>(f, e, tile, mine);
      else
        march<BAND_LANE, BAND_WIDTH, LEFT | RIGHT, true>(f, e, tile, mine);
      return;
    }
    number -= banded;
    const int y0 = tiles.low_end + (number % tiles.sides) * tiles.side_rows, y1 = min(y0 + tiles.side_rows, tiles.high);
    if (number < tiles.sides)
      march<SIDE_LANE, SIDE_WIDTH, LEFT, false>(f, e, {0, SIDE_OUT, y0, y1, 0}, mine);
    else
      march<SIDE_LANE, SIDE_WIDTH, RIGHT, false>(f, e, {nx - SIDE_OUT, nx, y0, y1, nx - SIDE_OUT}, mine);
    return;
  }
  if (number >= tall) number -= banded + 2 * tiles.sides;
  if (tiles.strips == 0) return;
  const int strip = number % tiles.strips, chunk = number / tiles.strips, more = chunk - tiles.chunks;
  const int height = more < 0 ? tiles.rows : tiles.short_rows;
  const int y0 = tiles.low_end + (more < 0 ? chunk * height : tiles.chunks * tiles.rows + more * height);
  // The last strip may overlap the one before: both compute the same.
  const int own = tiles.side + strip * OUT, x0 = WRAP_X ? own : min(own, nx - tiles.side - OUT);
  if (y0 >= tiles.high) return;
  const Tile tile = {x0, min(x0 + OUT, nx - tiles.side), y0, min(y0 + height, tiles.high), own};
  march<LANE, WIDTH, 0, false>(f, e, tile, mine);
}
