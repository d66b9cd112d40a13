// Stores the noise of a thread's paths at frames.

constexpr int TOGETHER = EACH * SIGNS;  // paths of a thread: neighbours

// The noise of a thread's paths after each step of a block, if every step is a frame.
struct __align__(TOGETHER * sizeof(state)) Neighbours {
  state v[TOGETHER];
};
struct Seen {
  Neighbours at[DENSE ? STEPS : 1][ASSETS];
};

// Stores it to seen[which, asset, path]. Addresses, in bytes, are in two parts, as instructions take them: the start of a
// row, the same for all paths, and an offset of 32 bits.
struct Rows {
  char* first;
  size_t row;
  unsigned at;
  int wanted;  // how many of the thread's paths exist: the first ones

  __device__ __forceinline__ void keep(const Seen& seen, int valid) {
#pragma unroll
    for (int j = 0; j < STEPS; j++) {
      if (j >= valid) break;
#pragma unroll
      for (int a = 0; a < ASSETS; a++) {
        char* to = first + (j * ASSETS + a) * row + at;
        if (wanted == TOGETHER)
          *(Neighbours*)to = seen.at[j][a];
        else
          for (int s = 0; s < TOGETHER; s++)
            if (s < wanted) ((state*)to)[s] = seen.at[j][a].v[s];
      }
    }
    first += STEPS * ASSETS * row;
  }
};

// A block of steps that has frames. watched: a bit for each of its steps, set if the step ends at a frame. Marks are in the
// order of blocks; the last one is never reached.
struct __align__(8) Mark {
  int block;
  unsigned watched;
};

// The next frames, and where the noise at them is stored: seen[which, asset, path].
struct Watch {
  const Mark* mark;
  Mark next;
  state* seen;
  size_t room;
  bool wanted;

  // Paths as they are when the block begins.
  __device__ __forceinline__ void look(const Path (&paths)[SIGNS], const Increments& dw) {
    normal p[SIGNS][ASSETS][STEPS];
#pragma unroll
    for (int s = 0; s < SIGNS; s++)
#pragma unroll
      for (int a = 0; a < ASSETS; a++)
#pragma unroll
        for (int j = 0; j < STEPS; j++)
          p[s][a][j] = dw.added_to(j ? p[s][a][j - 1] : MIXED ? 0 : (normal)paths[s].y[a], paths[s].y[a], a, j, s);
    unsigned left = next.watched;
    do {
      const unsigned first = left & -left;
#pragma unroll
      for (int a = 0; a < ASSETS; a++) {
#pragma unroll
        for (int s = 0; s < SIGNS; s++) {
          normal q = p[s][a][STEPS - 1];
#pragma unroll
          for (int j = 0; j < STEPS - 1; j++) q = first == 1u << j ? p[s][a][j] : q;
          if (wanted) seen[s] = MIXED ? paths[s].y[a] + (state)q : (state)q;
        }
        seen += room;
      }
      left ^= first;
    } while (left);
    next = *++mark;
  }
};
