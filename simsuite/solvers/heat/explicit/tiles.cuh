// What kernels that take DEPTH steps in one pass over the field have in common; tiling.py says which tiles there are.
//
// Macros: REAL (float or double), DEPTH (steps), LANE (neighbouring cells a lane of a warp holds), SIDE_LANE and
// BAND_LANE (the same for tiles at the edges), WIDTH, SIDE_WIDTH, BAND_WIDTH (cells that are loaded together), WRAP_X
// and WRAP_Y (0 or 1: periodic), UNROLL (rows a turn of the loop of inner tiles), WARPS (a block), BLOCKS (a
// multiprocessor), CORNERS (1: each corner of the plate has code of its own; then no tile reaches opposite edges).

#include "arguments.cuh"

struct Field;  // what a kernel sweeps over: has nx and ny

struct Tile {  // of the result
  int x0, x1, y0, y1;
  int book_x0;  // where columns begin that are no other tile's
};

template <int WIDTH_> struct alignas(sizeof(real) * WIDTH_) Cells { real v[WIDTH_]; };

constexpr unsigned ALL = ~0u;

// How a warp walks up a tile. K: cells of a lane. W: cells that are loaded together. SIDES and ENDS: the edges that the tile
// may reach.
constexpr int LEFT = 1, RIGHT = 2, BOTTOM = 1, TOP = 2;
template <int K, int W, int SIDES, int ENDS>
__device__ __forceinline__ void sweep(const Field& f, const Edges& e, const Tile tile, char* memory);

// Columns at each side of a tile that it computes, but has no results for.
__device__ constexpr int halo(int width) { return (DEPTH + width - 1) / width * width; }

// Columns that a tile has results for.
__device__ constexpr int outcome(int lane, int width) { return 32 * lane - 2 * halo(width); }

// Sweep up the tile of a band that has that number.
template <typename F>
__device__ __forceinline__ void sweep_band(int number, const Tiles& tiles, const F& f, const Edges& e, char* mine) {
  constexpr int K = BAND_LANE, W = BAND_WIDTH, OUT = outcome(K, W);
  static_assert(OUT >= halo(W), "other tiles than the first do not reach the left edge");
  const int row = number / tiles.columns, x0 = number % tiles.columns * OUT;
  const int y0 = row < tiles.low ? row * tiles.band_rows : tiles.high;
  const int y1 = row < tiles.low ? min(y0 + tiles.band_rows, tiles.low_end) : f.ny;
  const Tile tile = {x0, min(x0 + OUT, f.nx), y0, y1, x0};
  const bool left = !WRAP_X && x0 == 0, right = !WRAP_X && x0 + OUT + halo(W) > f.nx, below = row < tiles.low;
  if (!left && !right)
    sweep<K, W, 0, BOTTOM | TOP>(f, e, tile, mine);
  else if constexpr (!CORNERS)
    sweep<K, W, LEFT | RIGHT, BOTTOM | TOP>(f, e, tile, mine);
  else if (left)
    below ? sweep<K, W, LEFT, BOTTOM>(f, e, tile, mine) : sweep<K, W, LEFT, TOP>(f, e, tile, mine);
  else
    below ? sweep<K, W, RIGHT, BOTTOM>(f, e, tile, mine) : sweep<K, W, RIGHT, TOP>(f, e, tile, mine);
}

// Sweep up a tile at the left or the right side.
template <typename F>
__device__ __forceinline__ void sweep_side(int number, const Tiles& tiles, const F& f, const Edges& e, char* mine) {
  constexpr int K = SIDE_LANE, W = SIDE_WIDTH, OUT = outcome(K, W);
  const int y0 = tiles.low_end + (number % tiles.sides) * tiles.side_rows, y1 = min(y0 + tiles.side_rows, tiles.high);
  if (number < tiles.sides)
    sweep<K, W, LEFT, 0>(f, e, {0, OUT, y0, y1, 0}, mine);
  else
    sweep<K, W, RIGHT, 0>(f, e, {f.nx - OUT, f.nx, y0, y1, f.nx - OUT}, mine);
}

// Sweep up an inner tile.
template <typename F>
__device__ __forceinline__ void sweep_inside(int number, const Tiles& tiles, const F& f, const Edges& e, char* mine) {
  constexpr int OUT = outcome(LANE, WIDTH);
  const int strip = number % tiles.strips, chunk = number / tiles.strips, more = chunk - tiles.chunks;
  const int height = more < 0 ? tiles.rows : tiles.short_rows;
  const int y0 = tiles.low_end + (more < 0 ? chunk * height : tiles.chunks * tiles.rows + more * height);
  // The last strip may overlap the one before: both compute the same.
  const int own = tiles.side + strip * OUT, x0 = WRAP_X ? own : min(own, f.nx - tiles.side - OUT);
  if (y0 >= tiles.high) return;
  const Tile tile = {x0, min(x0 + OUT, f.nx - tiles.side), y0, min(y0 + height, tiles.high), own};
  sweep<LANE, WIDTH, 0, 0>(f, e, tile, mine);
}

// Sweep up the tile of that number. F: Field, complete where this is called.
template <typename F>
__device__ __forceinline__ void sweep_up(int number, const Tiles& tiles, const F& f, const Edges& e, char* mine) {
  const int tall = tiles.strips * tiles.chunks, banded = tiles.columns * (tiles.low + (tiles.high < f.ny ? 1 : 0));
  const int edge = number - tall, edges = banded + 2 * tiles.sides;
  if (edge < 0 || edge >= edges) {
    if (tiles.strips > 0) sweep_inside(edge < 0 ? number : number - edges, tiles, f, e, mine);
  } else if (edge < banded)
    sweep_band(edge, tiles, f, e, mine);
  else if (!WRAP_X)
    sweep_side(edge - banded, tiles, f, e, mine);
}
