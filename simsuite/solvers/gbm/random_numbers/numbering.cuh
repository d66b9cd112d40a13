// Which point of which replicate a path is, and which paths are of a replicate: see numbering.py. GROUP is a macro.

struct Numbering {
  unsigned replicates;
  unsigned long long whole;  // paths
  unsigned each;
};

// What a thread does in a launch of n paths from a multiple of GROUP on. Warps are whole: their threads have the points
// 32 k .. 32 k + 31 of one replicate, not all of them `wanted` where the paths of a replicate begin or end amid these.
struct Place {
  unsigned replicate = 0, point = 0, column = 0;
  bool wanted = false;

  __device__ __forceinline__ Place(const Numbering& numbering, unsigned long long first, unsigned n, unsigned thread) {
    const unsigned long long left = first < numbering.whole ? numbering.whole - first : 0;
    const unsigned groups = left < n ? (unsigned)left : n;  // paths of whole groups, or all
    if (thread < groups || !numbering.each) {
      const unsigned long long group = first / GROUP + thread / GROUP;
      replicate = group % numbering.replicates;
      point = (unsigned)(group / numbering.replicates) * GROUP + thread % GROUP;
      column = thread;
      wanted = thread < groups;
      return;
    }
    const unsigned padded = (numbering.each + 31) & ~31u;
    const unsigned long long begin = first + groups - numbering.whole;
    const unsigned long long at = begin / numbering.each * padded + (begin % numbering.each & ~31ull) + (thread - groups);
    if (at >= (unsigned long long)padded * numbering.replicates) return;
    const unsigned j = at % padded;
    replicate = at / padded;
    point = (unsigned)(numbering.whole / numbering.replicates) + j;
    const unsigned long long path = numbering.whole + (unsigned long long)replicate * numbering.each + j;
    wanted = j < numbering.each && path >= first && path - first < n;
    column = wanted ? (unsigned)(path - first) : 0;
  }
};

// The groups of a replicate, or what it has of them, among n paths from a multiple of GROUP on.
struct Pieces {
  unsigned first, stride, groups;  // whole groups: number of the first one, and how many
  unsigned from, to;               // what is left of its paths

  __device__ __forceinline__ Pieces(const Numbering& numbering, unsigned long long first_path, unsigned n, unsigned replicate) {
    const unsigned R = numbering.replicates;
    const unsigned long long left = first_path < numbering.whole ? numbering.whole - first_path : 0;
    const unsigned all = (left < n ? (unsigned)left : n) / GROUP;
    first = (replicate + R - (unsigned)(first_path / GROUP % R)) % R;
    stride = R;
    groups = all > first ? (all - first - 1) / R + 1 : 0;
    const unsigned long long begin = numbering.whole + (unsigned long long)replicate * numbering.each;
    const unsigned long long end = begin + numbering.each, beyond = first_path + n;
    from = begin > first_path ? (unsigned)(min(begin, beyond) - first_path) : 0;
    to = end > first_path ? (unsigned)(min(end, beyond) - first_path) : 0;
  }

  // What is left has at most two pieces, as it is shorter than a group.
  __device__ __forceinline__ unsigned count() const { return groups + 2; }

  __device__ __forceinline__ void piece(unsigned k, unsigned& begin, unsigned& end) const {
    if (k < groups) {
      begin = (first + k * stride) * GROUP;
      end = begin + GROUP;
    } else {
      const unsigned cut = (from / GROUP + 1) * GROUP;
      begin = k > groups ? cut : from;
      end = k > groups ? to : min(to, cut);
    }
  }
};
