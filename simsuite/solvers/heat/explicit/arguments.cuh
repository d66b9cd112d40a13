// What programs take besides the fields before and after. arguments.py says what it is, in the same order. Pointers in a
// struct are not __restrict__: what no kernel writes is read by __ldg.

typedef REAL real;

struct Plate {
  const real* G;
  const real* gx;
  real c;
  real inner_x, edge_x, inner_y, edge_y;
};

struct Sources {
  const real* xs;
  const real* ys;
  long long x_stride, y_stride;
};

struct Edges {
  const real* table;
  real* ledger;
  long long stride;
};

struct Mesh {
  int wrap_x, wrap_y;
  real q;
};

struct Exchange {
  real* rims;
  int* turns;
  int columns, lines;
};

struct Tiles {
  int columns, band_rows, low, low_end, high, sides, side_rows, side, strips, chunks, rows, short_rows;
};
