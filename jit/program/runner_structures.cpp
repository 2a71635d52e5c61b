// Branches, loops and calls of a program: their blocks' steps, over the same slots.
#include <algorithm>

#include "core/base/error.h"
#include "core/dispatch/assign.h"
#include "core/dispatch/call.h"
#include "core/dispatch/fn.h"
#include "core/dispatch/profile.h"
#include "include/lathe/ops/math.h"
#include "jit/program/runner_rounds.h"
#include "kernels/runtime/pool.h"

namespace lathe::jit {
namespace {

/// Counts the calls of functions that are under way on this thread, each of which takes some of its
/// stack.
class Deeper {
 public:
  explicit Deeper(const std::string& callee) {
    if (depth_ >= ir::kDeepestCall) ir::too_deep(callee, depth_);
    ++depth_;
  }
  ~Deeper() { --depth_; }
  Deeper(const Deeper&) = delete;

 private:
  static constinit thread_local int depth_;
};
constinit thread_local int Deeper::depth_ = 0;

constexpr int64_t kLeastAlike = 8;  // rounds for which it is worth finding out how they are alike

}  // namespace

/// What a structure hands through may lie in the arena, where its place is another's soon, or in an
/// input that is going to be written.
ir::Datum Runner::of_its_own(ir::Datum d) {
  if (!d.is_tensor()) return d;
  bool lent = d.tensor().impl()->storage.get() == c_.arena_.get() ||
              std::any_of(p_.written_.begin(), p_.written_.end(), [&](size_t input) {
                return may_share_memory(at(p_.input_slots_[input]).tensor(), d.tensor());
              });
  return lent ? ir::Datum(math_ops<Tensor>::clone(d.tensor())) : in_row_major_order(std::move(d));
}

ir::Data Runner::inner(const Step::Inner& block, std::vector<Bound::OfStep>& bound,
                       ir::Data parameters) {
  // The body of a while has none of its own: it sees those of the condition, which ran just
  // before.
  check_cancelled();  // a round of small steps asks nowhere else
  for (size_t i = 0; i < block.parameters.size(); ++i)
    put(block.parameters[i], in_row_major_order(std::move(parameters[i])));
  bind_parameters(block);
  for (size_t i = 0; i < block.steps.size(); ++i) step(block.steps[i], bound[i]);
  ir::Data out;
  out.reserve(block.yields.size());
  for (size_t i = 0; i < block.yields.size(); ++i) {
    const int slot = block.yields[i];
    out.push_back(evaluated(block.moves[i] ? taken(slot) : at(slot)));
  }
  return out;
}

void Runner::bind_parameters(const Step::Inner& inner) {
  for (uint32_t k = 0; k < p_.sources_.size(); ++k) {
    const ir::SymbolSource& source = p_.sources_[k];
    if (source.is_parameter_of(*inner.block))
      now_[k] = ir::said(source, at(inner.parameters[source.value->index()])).value();
  }
}

void Runner::run_structure(const Step& s, Bound::OfStep& b) {
  ir::Data in;
  for (int slot : s.in) in.push_back(evaluated(at(slot)));
  for (int slot : s.hands_over) put(slot, ir::Datum());
  ir::Data out;
  switch (s.node->structure()) {
    case ir::Structure::if_:
      out = run_if(s, b, ir::truth(in[0]) ? 0 : 1);
      break;
    case ir::Structure::while_:
      out = run_while(s, b, std::move(in));
      break;
    case ir::Structure::for_:
      out = run_for(s, b, std::move(in));
      break;
    case ir::Structure::call: {
      const Deeper deeper(s.node->callee());
      out = s.callee->run(in);
      break;
    }
    default:
      LATHE_INTERNAL("a structure that programs do not run");
  }
  for (size_t k = 0; k < out.size(); ++k) put(s.out[k], of_its_own(std::move(out[k])));
}

ir::Data Runner::run_if(const Step& s, Bound::OfStep& b, size_t which) {
  return inner(s.blocks[which], b.blocks[which], {});
}

/// The rounds see what the condition was asked with: the parameters are its.
ir::Data Runner::run_while(const Step& s, Bound::OfStep& b, ir::Data in) {
  while (ir::truth(inner(s.blocks[0], b.blocks[0], std::move(in))[0]))
    in = inner(s.blocks[1], b.blocks[1], {});
  ir::Data carried;
  for (int slot : s.blocks[0].parameters) carried.push_back(taken(slot));
  return carried;
}

ir::Data Runner::run_for(const Step& s, Bound::OfStep& b, ir::Data in) {
  const ir::Node& n = *s.node;
  int64_t bounds[3];
  size_t next = 0;
  for (int i = 0; i < 3; ++i)
    bounds[i] =
        n.value(i) != nullptr ? in[next++].integer().value() : value(n.literal(i).integer());
  ir::check_range(bounds[2]);
  ir::Data carried(std::make_move_iterator(in.begin() + static_cast<ptrdiff_t>(n.carried_from())),
                   std::make_move_iterator(in.end()));
  const auto [first, end, by] = std::to_array(bounds);
  for (int64_t i = first; by > 0 ? i < end : i > end; i += by) {
    if (const int64_t left = (end - i + (by > 0 ? by - 1 : by + 1)) / by;
        i == first + 2 * by && left >= kLeastAlike && !profiling()) {
      Rounds alike(*this, s.blocks[0], b.blocks[0]);
      if (alike.alike(carried, i, by, left)) return alike.run(std::move(carried));
    }
    ir::Data parameters{ir::Datum(Arg(Int(i)))};
    parameters.insert(parameters.end(), std::make_move_iterator(carried.begin()),
                      std::make_move_iterator(carried.end()));
    carried = inner(s.blocks[0], b.blocks[0], std::move(parameters));
  }
  return carried;
}

}  // namespace lathe::jit
