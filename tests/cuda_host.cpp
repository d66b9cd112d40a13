// What starts the threads of a kernel: see `cuda_host.h`.
#include <ucontext.h>

#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

#include "cuda_host.h"

constexpr int STACK = 1 << 15;

struct Start {  // of a fiber
  ucontext_t context;
  std::unique_ptr<char[]> stack{new char[STACK]};
};

struct Kernel {
  void (*function)(void**);
  void** arguments;
};

__thread Index threadIdx, blockIdx, blockDim, gridDim;
__thread Block* block;
static __thread const Kernel* running;
static __thread ucontext_t* thread;

static void enter() {
  running->function(running->arguments);
  block->fibers[block->now].done = true;
  yield();
}

__attribute__((noinline)) static void resume(Fiber& fiber, Start& start) {
  if (_setjmp(block->scheduler)) return;
  if (fiber.entered) _longjmp(fiber.at, 1);
  fiber.entered = true;
  swapcontext(thread, &start.context);
}

static void run_block(int number, int blocks, int row, int layer, int threads, Kernel kernel) {
  std::vector<Fiber> fibers(threads);
  std::vector<Start> starts(threads);
  std::vector<unsigned long long> warp_arrivals((threads + 31) / 32);
  std::vector<uint64_t> lanes[2] = {std::vector<uint64_t>(threads), std::vector<uint64_t>(threads)};
  std::vector<int> parity(threads);
  uint64_t* sides[2] = {lanes[0].data(), lanes[1].data()};
  Block mine = {fibers.data(), {}, threads, 0, warp_arrivals.data(), 0, {sides[0], sides[1]}, parity.data()};
  ucontext_t here;
  block = &mine, running = &kernel, thread = &here;
  blockIdx = {(unsigned)number, (unsigned)row, (unsigned)layer}, gridDim.x = blocks, blockDim.x = threads;
  for (Start& start : starts) {
    getcontext(&start.context);
    start.context.uc_stack.ss_sp = start.stack.get();
    start.context.uc_stack.ss_size = STACK;
    start.context.uc_link = &here;
    makecontext(&start.context, enter, 0);
  }
  for (bool going = true; going;) {
    going = false;
    for (int i = 0; i < threads; i++) {
      if (fibers[i].done) continue;
      mine.now = i, threadIdx.x = i;
      resume(fibers[i], starts[i]);
      going = going || !fibers[i].done;
    }
  }
}

void run_grid(int blocks, int row, int layer, int threads, int together, void (*kernel)(void**), void** arguments) {
  for (int first = 0; first < blocks; first += together) {
    std::vector<std::thread> at_once;
    for (int i = first; i < std::min(blocks, first + together); i++)
      at_once.emplace_back(run_block, i, blocks, row, layer, threads, Kernel{kernel, arguments});
    for (std::thread& each : at_once) each.join();
  }
}
