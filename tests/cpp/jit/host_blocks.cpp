#include "tests/cpp/jit/host_blocks.h"

#include <gtest/gtest.h>
#include <ucontext.h>

#include "jit/simt/host.h"

namespace lathe::testing {
namespace {

using namespace jit::simt;  // NOLINT: thread programs
using ThreadFn = void (*)(HostThread*);

constexpr size_t kStack = size_t{1} << 18;

/// One block of threads.
class Block {
 public:
  Block(ThreadFn fn, const HostThread& as, int threads) : fn_(fn) {
    for (int t = 0; t < threads; ++t) {
      lanes_.push_back(std::make_unique<Lane>());
      Lane& lane = *lanes_.back();
      lane.host = as;
      lane.host.thread = t;
      lane.host.barrier = &Block::barrier;
      lane.host.shuffle = &Block::shuffle;
      lane.block = this;
      prepare(lane.context, stack(static_cast<size_t>(t)), &outside_);
    }
  }

  /// Each half-warp to where it cannot go on alone, until all threads have ended.
  void run() {
    while (true) {
      for (size_t half = 0; half < lanes_.size(); half += kHalfWarp)
        ASSERT_NO_FATAL_FAILURE(run_half(half));
      const State first = lanes_[0]->state;
      for (const auto& lane : lanes_) ASSERT_EQ(lane->state, first) << "threads have gone apart";
      if (first == State::done) return;
      for (const auto& lane : lanes_) lane->state = State::ready;
    }
  }

 private:
  enum class State : uint8_t { ready, at_barrier, at_shuffle, done };
  struct Lane {
    HostThread host;  // the first member: code knows its address only
    Block* block = nullptr;
    ucontext_t context = {};
    State state = State::ready;
    uint32_t word = 0, distance = 0;
  };
  /// The blocks after this one use it, too.
  static std::byte* stack(size_t thread) {
    static thread_local std::vector<std::unique_ptr<std::byte[]>> all;
    while (all.size() <= thread) all.emplace_back(new std::byte[kStack]);
    return all[thread].get();
  }
  static Lane& lane_of(HostThread* host) { return *reinterpret_cast<Lane*>(host); }

  static void prepare(ucontext_t& context, std::byte* stack, ucontext_t* outside) {
    getcontext(&context);
    context.uc_stack.ss_sp = stack;
    context.uc_stack.ss_size = kStack;
    context.uc_link = outside;
    makecontext(&context, &Block::enter, 0);
  }
  static void enter() {
    Lane& lane = *running_;
    lane.block->fn_(&lane.host);
    lane.state = State::done;
  }
  static void wait(Lane& lane, State state) {
    lane.state = state;
    swapcontext(&lane.context, &lane.block->outside_);
  }
  static void barrier(HostThread* host) { wait(lane_of(host), State::at_barrier); }
  static uint32_t shuffle(HostThread* host, uint32_t word, uint32_t distance) {
    Lane& lane = lane_of(host);
    lane.word = word;
    lane.distance = distance;
    wait(lane, State::at_shuffle);
    return lane.word;
  }

  void run_half(size_t first) {
    while (true) {
      for (size_t l = first; l < first + kHalfWarp; ++l) {
        if (lanes_[l]->state != State::ready) continue;
        running_ = lanes_[l].get();
        swapcontext(&outside_, &running_->context);
      }
      if (lanes_[first]->state != State::at_shuffle) return;
      ASSERT_NO_FATAL_FAILURE(exchange(first));
    }
  }
  void exchange(size_t first) {
    uint32_t words[kHalfWarp];
    for (size_t l = 0; l < kHalfWarp; ++l) {
      const Lane& lane = *lanes_[first + l];
      ASSERT_EQ(lane.state, State::at_shuffle) << "a lane does not shuffle";
      const size_t from = l + lane.distance < kHalfWarp ? l + lane.distance : l;
      words[l] = lanes_[first + from]->word;
    }
    for (size_t l = 0; l < kHalfWarp; ++l) {
      lanes_[first + l]->word = words[l];
      lanes_[first + l]->state = State::ready;
    }
  }

  static inline thread_local Lane* running_ = nullptr;
  ThreadFn fn_;
  ucontext_t outside_ = {};
  std::vector<std::unique_ptr<Lane>> lanes_;
};

/// An integer of numbers alone.
int64_t number(const Ix& ix, const std::vector<int64_t>& numbers, int64_t grid) {
  if (ix->op == IxOp::constant) return ix->value;
  if (ix->op == IxOp::number) return numbers[static_cast<size_t>(ix->value)];
  if (ix->op == IxOp::grid) return grid;
  const bool one = ix->op >= IxOp::zeros;
  return apply(ix->op, number(ix->a, numbers, grid), one ? 0 : number(ix->b, numbers, grid));
}

}  // namespace

void run_on_host(const Program& program, const jit::LoadedCode& code, const Launch& launch) {
  const auto fn = reinterpret_cast<ThreadFn>(code.symbol(jit::kKernelSymbol));
  ASSERT_NE(fn, nullptr);
  std::vector<int64_t> numbers;
  for (Int e : program.numbers) numbers.push_back(launch.value(e));
  const auto grid_of = [&](const Phase& phase) {
    const int64_t work = number(phase.work, numbers, 0);
    return launch.most_blocks > 0 ? std::min(work, launch.most_blocks) : work;
  };
  std::vector<std::byte*> memories;
  std::vector<std::vector<std::byte>> scratch;
  size_t shared = 0, next = 0;
  for (const Memory& m : program.memories) {
    if (m.where == Where::global) {
      memories.push_back(launch.arguments[next++].data());
      continue;
    }
    const int64_t elements = number(m.elements, numbers, grid_of(program.phases[0]));
    const size_t bytes = static_cast<size_t>(elements) * size_of(m.dtype);
    shared = (shared + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment;
    if (m.where == Where::shared) {
      shared += bytes;
      continue;
    }
    scratch.emplace_back(bytes, std::byte{0xa5});
    memories.push_back(scratch.back().data());
  }
  uint64_t nobody = jit::kNoError;
  for (size_t phase = 0; phase < program.phases.size(); ++phase) {
    HostThread as;
    as.phase = static_cast<int64_t>(phase);
    as.grid = grid_of(program.phases[phase]);
    as.memories = memories.data();
    as.numbers = numbers.data();
    as.uniforms = launch.uniforms.data();
    as.seed = launch.seed;
    as.call = launch.call;
    as.error = launch.error != nullptr ? launch.error : &nobody;
    for (as.block = 0; as.block < as.grid; ++as.block) {
      std::vector<std::byte> of_block(shared + kSharedAlignment, std::byte{0xa5});
      const auto at = reinterpret_cast<uintptr_t>(of_block.data());
      as.shared = of_block.data() + (kSharedAlignment - at % kSharedAlignment);
      Block(fn, as, program.threads).run();
    }
  }
}

}  // namespace lathe::testing
