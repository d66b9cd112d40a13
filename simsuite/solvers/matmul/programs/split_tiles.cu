// out = A X + b as by `tile.cu`, where there are some more tiles than blocks that run at once, so that most would wait for the
// last ones: here the slices of all tiles are shared out evenly.
//
// A tile that is shared is begun by one block and ended by the next. Each block begins with the tile that it does not
// end, and its last one is the tile that another block has begun: so none waits (R. McNaughton, "Scheduling with
// deadlines and loss functions", Management Science 6 (1959) 1); and all sums are added up in order. A block depends on
// the one before it only, and on what that does first: so they need not all run at once.

#include "../../exchange.cuh"
#include "tile.cuh"

// handed: the turn of the last launch and how many blocks have ended; the turn in which each block last left a tile that it
// had begun; and the sums of these tiles. Zeros before the first launch.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
split_tiles(const real* __restrict__ A, const real* __restrict__ X, const real* bias,
      real* __restrict__ out, int n, int p, int m, int pitch, int row, int stride, int steps, int* handed) {
  let_next_begin();
  extern __shared__ __align__(16) char memory[];
  const Given given = {A, X, bias + (long long)row * n, out, n, p, m, pitch};
  const int slices = (p + DEPTH - 1) / DEPTH, blocks = gridDim.x, block = blockIdx.x, thread = threadIdx.x;
  const int all = ((n + ROWS - 1) / ROWS) * ((m + COLUMNS - 1) / COLUMNS) * slices;
  const int each = max((all + blocks - 1) / blocks, slices);
  const int from = min(block * each, all), to = min(from + each, all);
  const int first = from / slices, done = from % slices, last = to / slices, begun = to % slices;
  const auto turn = [&] {
    wait_for_earlier();  // the launch before ends with handed[0]
    return (int)((unsigned)handed[0] + 1);  // turns wrap around
  };
  int* const left = handed + 2;
  real* const kept = (real*)(handed + 2 + (blocks + 1) / 2 * 2);
  const auto numbers_of = [&](int block) { return kept + (long long)block * Sums::COUNT * THREADS + thread; };

  const int count = (begun > 0) + last - first;  // parts of tiles: one that is begun, whole ones, and one that is ended
  Sums sums(thread / 32, thread % 32);
  const Slices in_memory(memory);
  for (int q = 0; q < count; q++) {
    const bool begins = q == 0 && begun, ends = q == count - 1 && done;
    const int tile = begins ? last : ends ? first : first + (done > 0) + q - (begun > 0);
    if (ends) {
      if (thread == 0) wait_for(left + block - 1, turn());
      __syncthreads();
      const real* const numbers = numbers_of(block - 1);
#pragma unroll
      for (int k = 0; k < Sums::COUNT; k++) sums.at(k) = numbers[k * THREADS];
    } else {
      sums.clear();
    }
    const Place place(given, tile);
    in_memory.add(sums, given, place, ends ? done : 0, begins ? begun : slices);
    if (begins) {
      real* const numbers = numbers_of(block);
#pragma unroll
      for (int k = 0; k < Sums::COUNT; k++) numbers[k * THREADS] = sums.at(k);
      __syncthreads();
      if (thread == 0) announce(left + block, turn());
    } else {
      write(sums, given, place);
    }
  }
  __syncthreads();
  wait_for_earlier();  // even a block that has nothing to do
  if (thread == 0 && atomicAdd(handed + 1, 1) == blocks - 1) handed[0] = turn(), handed[1] = 0;
}
