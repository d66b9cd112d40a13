// CUDA C++ on a CPU: enough of it for simsuite's kernels. A block is a thread of the host, its CUDA threads are fibers
// that take turns at barriers and shuffles. fma is a product and a sum, each rounded, as in simsuite's CPU kernels.
// This text is compiled with every kernel, `cuda_host.cpp`, for which compilers take longer, only once.
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#define __global__
#define __host__
#define __device__
#define __grid_constant__
#define __forceinline__ inline
#define __restrict__
#define __constant__ static const
#define __launch_bounds__(...)
#define __shared__ thread_local
#define __align__(n) __attribute__((aligned(n)))

template <typename R> inline const R& max(const R& a, const R& b) { return a < b ? b : a; }
template <typename R> inline const R& min(const R& a, const R& b) { return b < a ? b : a; }

struct Index {
  unsigned x, y, z;
};
extern __thread Index threadIdx, blockIdx, blockDim, gridDim;

template <typename R> inline R fused(R a, R b, R c) {
  volatile R product = a * b;
  return product + c;
}
#define fma(a, b, c) fused<decltype((a) + (b) + (c))>(a, b, c)

struct uint2 {
  unsigned x, y;
};
struct float2 {
  float x, y;
};
struct float4 {
  float x, y, z, w;
};
struct double2 {
  double x, y;
};
template <typename To, typename From> inline To same_bits(From v) {
  To bits;
  memcpy(&bits, &v, sizeof bits);
  return bits;
}
inline unsigned __float_as_uint(float v) { return same_bits<unsigned>(v); }
inline float __uint_as_float(unsigned v) { return same_bits<float>(v); }
inline float __int_as_float(int v) { return same_bits<float>(v); }
inline int __float_as_int(float v) { return same_bits<int>(v); }
inline unsigned __funnelshift_r(unsigned low, unsigned high, int n) { return ((uint64_t)high << 32 | low) >> n; }
template <typename R> inline R __ldg(const R* from) { return *from; }
inline float __fdividef(float a, float b) { return a / b; }
inline float __fadd_rd(float a, float b) {
  const double sum = (double)a + b;
  const float rounded = sum;
  return rounded > sum ? nextafterf(rounded, -__builtin_inff()) : rounded;
}
inline double __dadd_rd(double a, double b) {
  const long double sum = (long double)a + b;
  const double rounded = sum;
  return rounded > sum ? nextafter(rounded, -__builtin_inf()) : rounded;
}
inline int __double2hiint(double v) { return same_bits<uint64_t>(v) >> 32; }
inline int __double2loint(double v) { return (int)same_bits<uint64_t>(v); }
inline long long __double_as_longlong(double v) { return same_bits<long long>(v); }
inline double __hiloint2double(unsigned high, unsigned low) { return same_bits<double>((uint64_t)high << 32 | low); }

struct Fiber {
  jmp_buf at;  // where it goes on, which needs no call of the system
  bool entered, done;
  unsigned long long warp_turn, block_turn;
};

struct Block {
  Fiber* fibers;
  jmp_buf scheduler;
  int threads, now;
  unsigned long long *warp_arrivals, block_arrivals;
  uint64_t* lanes[2];  // what lanes offer in a shuffle, by turns
  int* parity;
};
extern __thread Block* block;

inline void yield() {
  if (!_setjmp(block->fibers[block->now].at)) _longjmp(block->scheduler, 1);
}

inline void arrive(unsigned long long& arrivals, unsigned long long& turn, unsigned long long members) {
  arrivals++;
  turn++;
  while (arrivals < turn * members) yield();
}

inline void __syncthreads() {
  arrive(block->block_arrivals, block->fibers[block->now].block_turn, block->threads);
}

inline void __syncwarp(unsigned = ~0u) {
  arrive(block->warp_arrivals[block->now / 32], block->fibers[block->now].warp_turn, 32);
}

template <typename R> inline R exchange(R value, int lane) {
  const int self = block->now, warp = self / 32;
  const int side = block->parity[self] ^= 1;
  memcpy(&block->lanes[side][self], &value, sizeof(R));
  __syncwarp();
  R got;
  memcpy(&got, &block->lanes[side][warp * 32 + (lane < 0 || lane > 31 ? self % 32 : lane)], sizeof(R));
  return got;
}
template <typename R> inline R __shfl_sync(unsigned, R v, int lane) { return exchange(v, lane & 31); }
template <typename R> inline R __shfl_up_sync(unsigned, R v, int n) { return exchange(v, block->now % 32 - n); }
template <typename R> inline R __shfl_down_sync(unsigned, R v, int n) { return exchange(v, block->now % 32 + n); }

template <typename R> inline R __shfl_xor_sync(unsigned, R v, int n) { return exchange(v, block->now % 32 ^ n); }

// All lanes call them, with masks of groups that have nothing in common.
inline unsigned __match_any_sync(unsigned, int v) {
  unsigned same = 0;
  for (int lane = 0; lane < 32; lane++) same |= (unsigned)(exchange(v, lane) == v) << lane;
  return same;
}
inline unsigned __reduce_add_sync(unsigned mask, unsigned v) {
  unsigned sum = 0;
  for (int lane = 0; lane < 32; lane++) {
    const unsigned other = exchange(v, lane);
    if (mask >> lane & 1) sum += other;
  }
  return sum;
}
inline int __ffs(unsigned v) { return __builtin_ffs(v); }
inline int __popc(unsigned v) { return __builtin_popcount(v); }
template <typename R> inline R atomicAdd(R* to, R v) { return __atomic_fetch_add(to, v, __ATOMIC_RELAXED); }
inline long long atomicMin(long long* to, long long v) {
  long long found = *to;
  while (v < found && !__atomic_compare_exchange_n(to, &found, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) continue;
  return found;
}

inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

// All blocks, `together` of them at once: as many as wait for each other.
void run_grid(int blocks, int row, int layer, int threads, int together, void (*kernel)(void**), void** arguments);

// Instead of exchange.cuh.
inline void meet() { __syncthreads(); }
inline void announce(int* counter, int turn) { __atomic_store_n(counter, turn, __ATOMIC_RELEASE); }
inline void wait_for(const int* counter, int turn) {
  while ((int)((unsigned)__atomic_load_n(counter, __ATOMIC_ACQUIRE) - (unsigned)turn) < 0) {
    sched_yield();
    yield();  // it may be a fiber of this block that has to announce
  }
}

// Instead of overlap.cuh.
inline void let_next_begin() {}
inline void wait_for_earlier() {}

// Instead of block_messages.cuh.
typedef unsigned long long Word;
inline void hand_over(Word* to, unsigned bits, unsigned turn) {
  __atomic_store_n(to, (Word)turn << 32 | bits, __ATOMIC_RELAXED);
}
inline Word look_at(const Word* from) {
  sched_yield();
  yield();  // it may be a fiber of this block that has to hand it over
  return __atomic_load_n(from, __ATOMIC_RELAXED);
}

// Instead of copies.cuh.
static thread_local char memory[1 << 18] __attribute__((aligned(16))), shared[1 << 18] __attribute__((aligned(16)));
inline unsigned shared_address(const void* p) { return (unsigned)((const char*)p - memory); }
template <int BYTES> inline void copy_async(unsigned to, const void* from, bool wanted = true) {
  if (wanted) memcpy(memory + to, from, BYTES);
}
template <int BYTES> inline void copy_or_zero(unsigned to, const void* from, bool wanted) {
  if (wanted) memcpy(memory + to, from, BYTES);
  else memset(memory + to, 0, BYTES);
}
template <typename R, int W> inline void store_if(bool wanted, R* to, const R (&v)[W]) {
  if (wanted) memcpy(to, v, sizeof v);
}
inline void end_group() {}
template <int COUNT> inline void wait_for_groups() {}

// Instead of special.cuh and tensor_cores.cuh.
inline float approximate_log2(float v) { return log2f(v); }
inline float approximate_root(float v) { return sqrtf(v); }
inline float approximate_power(float v) { return exp2f(v); }
inline float approximate_cosine(float v) { return cosf(v); }
inline float approximate_sine(float v) { return sinf(v); }
inline void whole_product(unsigned a, unsigned b, unsigned& top, unsigned& bottom) {
  const uint64_t p = (uint64_t)a * b;
  top = p >> 32, bottom = p;
}
inline double approximate_inverse(double v) { return (float)(1 / v); }
inline double approximate_inverse_root(double v) { return (float)(1 / sqrt(v)); }
inline unsigned over_warp(unsigned v) {
  for (int away = 16; away; away /= 2) v ^= exchange(v, block->now % 32 ^ away);
  return v;
}
template <int KS> inline void tensor_product(double (&c)[4], const double (&a)[KS / 2], const double (&b)[KS / 4]) {
  const int g = block->now % 32 / 4, t = block->now % 4;
  for (int i = 0; i < KS / 2; i++)
    for (int from = 0; from < 4; from++) {  // column `from` of a piece of four of A
      const double own = exchange(a[i], 4 * g + from);
      for (int q = 0; q < 2; q++) {
        const double other = exchange(b[i / 2], 4 * (2 * t + q) + from);
        c[2 * (i % 2) + q] = fma(own, other, c[2 * (i % 2) + q]);
      }
    }
}
