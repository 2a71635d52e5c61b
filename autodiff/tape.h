// The tape: an Observer that turns each call with a tracked input into a node of history.
//
// History is a graph of TapeNodes held together by shared pointers from outputs to inputs, so it
// lives exactly as long as something can still ask for a gradient through it. A node keeps its op,
// its plain arguments, and of the tensors only what the definition's derivative declares it reads.
// A saved tensor is kept without its history (that would be a cycle for outputs) and gets it back
// when it is read.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "core/dispatch/call.h"
#include "core/dispatch/grad.h"

namespace lathe {

struct TapeNode;

/// Where a tensor's gradient goes: into output `output` of a node. Null node: nowhere.
struct Edge {
  std::shared_ptr<TapeNode> node;
  uint32_t output = 0;
  bool outside = false;  // of a trace: an argument's history, which the trace cannot see
};

using Hook = std::function<Tensor(const Tensor&)>;
/// Of a node: before its derivative it sees the gradients of its results as `ys` (`xs` is empty),
/// after it those of its inputs, by slot, as well. What it gives, if not empty, takes the place of
/// `ys`, or of `xs`.
using NodeHook = std::function<Tensors(const Tensors& xs, const Tensors& ys)>;

/// A gradient that any thread may read, write and add to: backwards of several threads may end at
/// one leaf.
class GradSlot {
  struct Hold {
    explicit Hold(std::atomic_flag& flag) : busy(flag) {
      while (busy.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
    }
    ~Hold() { busy.clear(std::memory_order_release); }
    Hold(const Hold&) = delete;
    std::atomic_flag& busy;
  };

 public:
  Tensor get() const {
    const Hold hold(busy_);
    return value_;
  }
  void set(Tensor value) {
    const Hold hold(busy_);
    std::swap(value_, value);
  }
  /// Held by who changes the elements of the gradient that is there.
  Hold adding() { return Hold(adding_); }
  /// false, and nothing done, if it is not `before` any more.
  bool replace(const Tensor& before, Tensor value) {
    const Hold hold(busy_);
    if (value_.impl() != before.impl()) return false;
    std::swap(value_, value);
    return true;
  }

 private:
  Tensor value_;
  mutable std::atomic_flag busy_;  // for as long as a pointer takes
  std::atomic_flag adding_;        // for as long as a sum takes
};

struct TapeMeta : AutogradMeta {
  Edge edge;      // a leaf's node has no op: it collects into `grad`
  GradSlot grad;  // leaves, and others that retain theirs
  bool retain = false, is_leaf = false;
  /// Of leaves: called when `grad` has been added to. By a pointer, as few have any.
  std::unique_ptr<std::vector<std::function<void()>>> grown;
  TapeMeta() {}  // as TapeNode's
  bool leaf() const override { return is_leaf; }
};

struct Saved {
  Tensor value;          // shares storage (or symbol), no history
  uint32_t version = 0;  // of the storage when saved
  bool own_output = false;
  Edge source = {};  // its history; for an own output only `output` is set (self)
  /// Set: `value` is elsewhere, and this gives it back. By a pointer, as hardly any tensor has one.
  std::unique_ptr<std::function<Tensor()>> packed = nullptr;
};

/// A derivative that is no definition's, of a piece of the program: see record_function().
struct OwnDerivative {
  std::string name;
  /// From the cotangents of the results (undefined: zero) those of the inputs, by slot. `sums`:
  /// what has arrived at each input so far, if the derivative continues it; else nothing.
  std::function<Tensors(const std::shared_ptr<TapeNode>& node, const Tensors& dys, Tensors sums)>
      run;
  std::function<void()> forget = nullptr;  // what it saved aside is not asked for again
  /// What run() gives begins with the sums, in the order in which the nodes that it stands for
  /// would have added to them.
  bool continues = false;
};
using OwnDerivativeRef = std::shared_ptr<const OwnDerivative>;
/// What record_function() saves for the derivative: inputs by slot, results by number.
struct SavedPlaces {
  absl::Span<const size_t> inputs = {}, results = {};
  /// Results that nobody but the node sees, as numbers [first, last): it takes those that it saves,
  /// and to everybody else they have no history.
  size_t inner_first = 0, inner_last = 0;
};

/// Packs a tensor when the tape saves it; what it gives unpacks it again, in backward().
using Packer = std::function<std::function<Tensor()>(const Tensor&)>;

struct TapeNode {
  /// What few nodes have, made when it is asked for.
  struct Rare {
    OwnDerivativeRef own;                             // null: the definition's
    absl::InlinedVector<std::vector<Hook>, 1> hooks;  // by result
    std::vector<std::pair<uint32_t, std::weak_ptr<TapeMeta>>>
        retained;  // who keeps the gradient of which result
    std::vector<NodeHook> before, after;
  };
  const Op* op = nullptr;      // null: a leaf, or own()
  std::unique_ptr<Rare> rare;  // null: none of it
  ArgVec attrs;  // an op's, where slots and lists of tensors are None; or what own() put there
  absl::InlinedVector<Edge, 2> next;           // by slot (core/dispatch/grad.h)
  absl::InlinedVector<TensorType, 2> x_types;  // by slot
  absl::InlinedVector<TensorType, 1> y_types;
  absl::InlinedVector<std::pair<int, Saved>, 2> xs;  // by slot
  absl::InlinedVector<std::pair<int, Saved>, 1> ys;  // by result
  /// The order of creation in a thread, above those of its inputs; backward goes from the newest.
  uint64_t sequence = 0;
  std::weak_ptr<TapeMeta> leaf;
  Site site;
  bool released = false;
  /// While a backward waits for more to arrive here: Arrivals, in engine.cpp. 0: none does.
  std::atomic<uint64_t> claim{0};
  /// Who asked last whether this leads to what is wanted, and the answer: Wanted, in wanted.h.
  mutable std::atomic<uint64_t> led{0};

  const OwnDerivative* own() const { return rare ? rare->own.get() : nullptr; }
  bool is_leaf() const { return op == nullptr && own() == nullptr; }
  Rare& rare_or_new() {
    if (!rare) rare = std::make_unique<Rare>();
    return *rare;
  }
  const std::string& name() const;
  TapeNode() {}  // of our own, or make_shared() sets all its 700 bytes to zero first
  ~TapeNode();   // iterative: a long chain must not overflow the stack
};

class Tape final : public Observer {
 public:
  void saw(const Op& op, Args args, Outputs& outputs) override;
  void wrote(Tensor& dst, const Tensor& value) override;
  void saw_part(std::string_view name, const Tensors& inputs, Tensors& results) override;

 private:
  static void record(const Op& op, Args args, absl::Span<Tensor> outputs);
};

TapeMeta* meta(const TensorImpl& t);  // null: none yet
inline TapeMeta* meta(const Tensor& t) { return meta(*t.impl()); }
TapeMeta& meta_or_new(TensorImpl& t);
inline TapeMeta& meta_or_new(const Tensor& t) { return meta_or_new(*t.impl()); }
Edge edge_of(const Tensor& t);  // of a tracked tensor
/// Makes a tensor that has no history a tracked one with this.
void set_history(Tensor& t, Edge edge);
/// The saved tensor with its history back. AutogradError if it was written to since, naming both
/// lines.
Tensor unpack(const Saved& saved, const std::shared_ptr<TapeNode>& owner);
/// The same without its history: what a derivative reads that is not differentiated itself.
Tensor unpack_value(const Saved& saved, const TapeNode& owner);

/// Asks for (or stops) tracking of a leaf. AutogradError for integers and for computed tensors.
void set_requires_grad(Tensor& t, bool on);
/// The same value without history.
Tensor detach(const Tensor& t);
/// A node of the tensor's history that a backward went through, releasing what another would need;
/// null: there is none.
const TapeNode* spent_in_history(const Tensor& t);
/// The leaves that the tensor's history leads to.
std::vector<const TapeNode*> leaves_of(const Tensor& t);
/// A history that stops at a node that is spent like this one, and holds nothing else.
Edge spent_history(const TapeNode& like);
/// Does the history of one of ys lead to a leaf that is none of xs, or out of a trace?
bool history_beyond(const Tensors& ys, const Tensors& xs);
/// A node of the tensor's history whose derivative is the program's own, and known to nobody else;
/// null: there is none.
const TapeNode* own_in_history(const Tensor& t);
/// Computed tensors keep their gradient too.
void retain_grad(const Tensor& t);
void register_hook(const Tensor& t, Hook hook);
/// Calls `hook` whenever a backward has added to the `.grad` of this leaf. AutogradError for
/// others.
void register_grown_hook(const Tensor& t, std::function<void()> hook);
/// Makes `outputs` results of `inputs` (undefined: no tensor) in history, with a derivative of
/// their own. Integers among the outputs, and those that are left out, get none. TraceError where
/// a trace would lose it: it knows the history of its arguments only by the ops that it records.
std::shared_ptr<TapeNode> record_function(OwnDerivativeRef own, const Tensors& inputs,
                                          Tensors& outputs, absl::Span<const bool> left_out,
                                          SavedPlaces saved = {});
/// The same inside of a trace for a part that it records as one: also of arguments whose history is
/// outside of it.
void record_part(OwnDerivativeRef own, const Tensors& inputs, Tensors& outputs);
/// Saves a tensor as the tape does; unpack() gives it back.
Saved save_tensor(const Tensor& t);
/// What the thread's tape packs saved tensors with; empty: it keeps them.
Packer set_packer(Packer packer);
/// On the gradient of this tensor, in order of registration.
absl::Span<const Hook> hooks_on(const TapeMeta& m);

/// Installs the tape (once, at start-up).
void install_tape();

}  // namespace lathe
