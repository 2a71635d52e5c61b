// The rounds of one loop that are alike but for where things lie: private to runner*.cpp.
#pragma once

#include <absl/container/node_hash_map.h>

#include <optional>

#include "jit/program/runner.h"

namespace lathe::jit {

class Runner::Rounds {
 public:
  Rounds(Runner& runner, const Step::Inner& block, std::vector<Bound::OfStep>& bound);
  /// Whether so many rounds, from counter `first` on, can be run: asked behind two others.
  bool alike(const ir::Data& carried, int64_t first, int64_t step, int64_t rounds);
  /// What they carry on. Throws what a step throws.
  ir::Data run(ir::Data carried);

 private:
  enum class What : uint8_t { outer, carried, made };  // a value of before the loop, or of a round
  /// What a slot holds: elements of which value, and how they lie from the first one.
  struct Place {
    What what;
    size_t index;  // of the parameter, or of the ring
    int puts;      // how often it had been written into
    Geometry geometry;
    DType dtype;
    bool whole;         // all of the value's elements, in its order
    bool view = false;  // made by a round, so that it is elsewhere in the next
  };
  /// What a round does, in order: a step, an address, or a copy to one.
  struct Act {
    enum class Kind : uint8_t { step, kernel, call, view, put, blank };
    Kind kind;
    size_t step;
    int to = 0, from = 0, value = 0;  // slots
    int64_t shift = 0, move = 0;      // bytes from the first element; more in each round
    size_t bytes = 0, copy = 0;       // put: so many side by side; else which copy
    size_t whole = 0;                 // and of all so many first, into a result of its own
    size_t kernel = 0;                // which of kernels_, or of calls_
  };
  struct Copy {
    lathe::Operand from, to;
  };
  /// The buffers that a result takes in turn.
  struct Ring {
    int slot;
    TensorType type;
    size_t made, last;  // which act makes it, and reads it last
    size_t turns = 1;
    bool taken = false;  // by a later result
    int puts = 0;        // writes into it so far, in a round
    std::vector<Tensor> places = {};
    std::vector<std::byte*> starts = {};  // where they begin
    size_t turn = 0;                      // whose turn it is
  };
  /// A kernel of which nothing but addresses changes.
  struct Repeated {
    std::unique_ptr<ElementKernel::Repeated> kernel;
    struct Buffer {
      int slot;
      int64_t shift;  // bytes
    };
    absl::InlinedVector<Buffer, 8> buffers;
  };
  /// An op as eager runs it, on tensors that stand for what lies at the addresses of a round.
  struct StandIn {
    int slot;
    Tensor tensor;
  };
  struct EntryCall {
    std::vector<StandIn> in, out;
  };
  struct Seen {
    Geometry geometry;
    int64_t shift, move;
  };

  int parameter(size_t carried) const { return block_.parameters[carried + 1]; }
  std::byte*& address(int slot) { return r_.c_.addresses_[static_cast<size_t>(slot)]; }
  const Place* read(int slot);
  bool reads(const Step& s);
  bool add_step(size_t i, const ir::Data& carried);
  bool add_results(const Step& s, const Bound::OfStep& b);
  bool holds(const Step& s) const;
  bool add_view(size_t i);
  int& puts(const Place& place);
  static bool may_write(const Place& into, const ir::Data& carried);
  bool add_put(size_t i, const ir::Data& carried);
  std::optional<ir::Filled> arguments(const Step& s, const Tensor& stand_in, int64_t round) const;
  std::optional<Seen> see(const Step& s, const Op& view, const Geometry& from, DType dtype,
                          bool put) const;
  bool carries_on(const ir::Data& carried);
  bool make_rings();
  void fill_slots(const ir::Data& carried);
  void pack_outer();
  void empty_slots();
  bool same_each_round(const Step& s, const Number& n) const;
  bool repeat(Act& act);
  bool add_call(size_t i);
  EntryCall entry_call(const Step& s, Bound::OfStep& b) const;
  void call_act(const Act& act);
  void run_act(const Act& act, int64_t round);
  void put_act(const Act& act, int64_t round);
  ir::Data results(const ir::Data& carried, absl::Span<std::byte* const> addresses) const;

  Runner& r_;
  const Step::Inner& block_;
  std::vector<Bound::OfStep>& bound_;
  std::optional<uint32_t> counter_;  // the symbol that the counter is
  int64_t first_ = 0, step_ = 1, rounds_ = 0;
  absl::node_hash_map<int, Place> places_;
  std::vector<int> puts_;  // by parameter: writes into it so far
  std::vector<Act> acts_;
  std::vector<Ring> rings_;
  std::vector<Copy> copies_;
  std::vector<Repeated> kernels_;
  std::vector<EntryCall> calls_;
  std::vector<std::pair<size_t, size_t>>
      packed_;  // steps and operands that are packed for the loop
};

}  // namespace lathe::jit
