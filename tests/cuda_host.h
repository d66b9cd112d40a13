// CUDA C++ on a CPU: enough of it for simsuite's kernels. A block is a thread of the host, its CUDA threads are fibers
// that take turns at barriers and shuffles. fma is a product and a sum, each rounded, as in simsuite's CPU kernels.
#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#define __global__
#define __device__
#define __forceinline__ inline
#define __restrict__
#define __launch_bounds__(...)
#define __shared__ thread_local
#define __align__(n) __attribute__((aligned(n)))

using std::max;
using std::min;

struct Index {
  unsigned x;
};
static thread_local Index threadIdx, blockIdx;
static thread_local Index blockDim, gridDim;

template <typename R> inline R fused(R a, R b, R c) {
  volatile R product = a * b;
  return product + c;
}
#define fma(a, b, c) fused<real>(a, b, c)

constexpr int STACK = 1 << 15;

struct Fiber {
  ucontext_t context;  // to enter it; then it goes on by jumps, which need no call of the system
  jmp_buf at;
  bool entered = false;
  std::unique_ptr<char[]> stack{new char[STACK]};
  bool done = false;
  unsigned long long warp_turn = 0, block_turn = 0;
};

struct Block {
  std::vector<Fiber> fibers;
  ucontext_t main;
  jmp_buf scheduler;
  int now = 0;
  std::vector<unsigned long long> warp_arrivals;
  unsigned long long block_arrivals = 0;
  std::vector<uint64_t> lanes[2];  // what lanes offer in a shuffle, by turns
  std::vector<int> parity;
};
static thread_local Block* block;

inline void yield() {
  if (!_setjmp(block->fibers[block->now].at)) _longjmp(block->scheduler, 1);
}

inline void arrive(unsigned long long& arrivals, unsigned long long& turn, unsigned long long members) {
  arrivals++;
  turn++;
  while (arrivals < turn * members) yield();
}

inline void __syncthreads() {
  arrive(block->block_arrivals, block->fibers[block->now].block_turn, block->fibers.size());
}

inline void __syncwarp(unsigned = ~0u) {
  arrive(block->warp_arrivals[block->now / 32], block->fibers[block->now].warp_turn, 32);
}

template <typename R> inline R exchange(R value, int lane) {
  const int self = block->now, warp = self / 32;
  const int side = block->parity[self] ^= 1;
  std::memcpy(&block->lanes[side][self], &value, sizeof(R));
  __syncwarp();
  R got;
  std::memcpy(&got, &block->lanes[side][warp * 32 + (lane < 0 || lane > 31 ? self % 32 : lane)], sizeof(R));
  return got;
}
template <typename R> inline R __shfl_sync(unsigned, R v, int lane) { return exchange(v, lane & 31); }
template <typename R> inline R __shfl_up_sync(unsigned, R v, int n) { return exchange(v, block->now % 32 - n); }
template <typename R> inline R __shfl_down_sync(unsigned, R v, int n) { return exchange(v, block->now % 32 + n); }

inline void __threadfence() { std::atomic_thread_fence(std::memory_order_seq_cst); }

static void enter(unsigned low, unsigned high) {
  auto* work = (const std::function<void()>*)(((uintptr_t)high << 32) | low);
  (*work)();
  block->fibers[block->now].done = true;
  yield();
}

__attribute__((noinline)) static void resume(Fiber& fiber) {
  if (_setjmp(block->scheduler)) return;
  if (fiber.entered) _longjmp(fiber.at, 1);
  fiber.entered = true;
  swapcontext(&block->main, &fiber.context);
}

inline void run_block(int number, int blocks, int threads, const std::function<void()>& kernel) {
  Block mine;
  block = &mine;
  mine.fibers.resize(threads);
  mine.warp_arrivals.assign((threads + 31) / 32, 0);
  mine.lanes[0].resize(threads), mine.lanes[1].resize(threads), mine.parity.assign(threads, 0);
  blockIdx.x = number, gridDim.x = blocks, blockDim.x = threads;
  const uintptr_t work = (uintptr_t)&kernel;
  for (Fiber& fiber : mine.fibers) {
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = STACK;
    fiber.context.uc_link = &mine.main;
    makecontext(&fiber.context, (void (*)())enter, 2, (unsigned)work, (unsigned)(work >> 32));
  }
  for (bool going = true; going;) {
    going = false;
    for (int i = 0; i < threads; i++) {
      if (mine.fibers[i].done) continue;
      mine.now = i, threadIdx.x = i;
      resume(mine.fibers[i]);
      going = going || !mine.fibers[i].done;
    }
  }
}

// All blocks, `together` of them at once: as many as wait for each other.
inline void run_grid(int blocks, int threads, int together, const std::function<void()>& kernel) {
  for (int first = 0; first < blocks; first += together) {
    std::vector<std::thread> running;
    for (int i = first; i < std::min(blocks, first + together); i++)
      running.emplace_back([=, &kernel] { run_block(i, blocks, threads, kernel); });
    for (std::thread& each : running) each.join();
  }
}

// Instead of exchange.cuh.
inline void meet() { __syncthreads(); }
inline void announce(int* counter, int turn) { __atomic_store_n(counter, turn, __ATOMIC_RELEASE); }
inline void wait_for(const int* counter, int turn) {
  while (__atomic_load_n(counter, __ATOMIC_ACQUIRE) - turn < 0) {
    std::this_thread::yield();
    yield();  // it may be a fiber of this block that has to announce
  }
}

// Instead of copies.cuh.
thread_local char memory[1 << 18] __attribute__((aligned(16))), shared[1 << 18] __attribute__((aligned(16)));
inline unsigned shared_address(const void* p) { return (unsigned)((const char*)p - memory); }
template <int BYTES> inline void copy_async(unsigned to, const void* from, bool wanted = true) {
  if (wanted) std::memcpy(memory + to, from, BYTES);
}
template <typename R, int W> inline void store_if(bool wanted, R* to, const R (&v)[W]) {
  if (wanted) std::memcpy(to, v, sizeof v);
}
inline void end_group() {}
template <int COUNT> inline void wait_for_groups() {}
