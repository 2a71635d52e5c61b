#include "kernels/own/program.h"

#include <absl/container/flat_hash_map.h>

#include <mutex>
#include <shared_mutex>

#include "kernels/reference/body.h"

namespace lathe::own {

Program::Program(ScalarFunction f) : function_(std::move(f)), simd_(function_) {
  const ScalarFunction& s = function_;
  copies_ = s.inputs.size() == 1 && s.outputs.size() == 1 && s.output_types[0] == s.inputs[0] &&
            s.graph[s.outputs[0]].prim == Prim::input;
  for (const ExprNode& n : s.graph.nodes()) {
    uses_index_ |= n.prim == Prim::index;
    uses_position_ |= n.prim == Prim::linear || n.prim == Prim::random || n.prim == Prim::check;
    cost_ += info(n.prim).transcendental ? 10 : 1;
  }
}

void Program::allow_code() {
  const auto steps = static_cast<int64_t>(simd_.steps());
  if (steps > 1 && !uses_index_ && !uses_position_ && LineCodes::serves(function_))
    codes_ = std::make_unique<LineCodes>(function_, cost_, 1000 + 300 * steps);
}

void Program::run_reference(absl::Span<const LineOperand> in, absl::Span<const LineOperand> out,
                            int64_t count, const LineContext& context) const {
  reference::run_line(function_, in, out, count, context);
}

namespace {

/// All that decides a stored body, as bytes.
struct Key {
  const Op* op;  // null: a conversion
  absl::InlinedVector<uint8_t, 16> types;
  friend bool operator==(const Key&, const Key&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const Key& k) {
    return H::combine(std::move(h), k.op, k.types);
  }
};

struct Programs {
  std::shared_mutex mutex;
  absl::flat_hash_map<Key, std::unique_ptr<Program>> made;
};

Programs& programs() {
  static auto& all = *new Programs;  // programs are handed out for good
  return all;
}

template <class F>
const Program& find_or_make(const Key& key, F make) {
  Programs& all = programs();
  {
    const std::shared_lock lock(all.mutex);
    auto it = all.made.find(key);
    if (it != all.made.end()) return *it->second;
  }
  auto made = std::make_unique<Program>(make());
  made->allow_code();
  const std::lock_guard lock(all.mutex);
  return *all.made.try_emplace(key, std::move(made)).first->second;
}

}  // namespace

const Program& program_of(const Op& op, const ElementTypes& types,
                          absl::Span<const BodyInput> inputs) {
  Key key{&op, {static_cast<uint8_t>(types.common), static_cast<uint8_t>(types.compute)}};
  for (DType d : types.results) key.types.push_back(static_cast<uint8_t>(d));
  key.types.push_back(0xff);
  for (const BodyInput& i : inputs)
    key.types.push_back(
        static_cast<uint8_t>(static_cast<uint8_t>(i.dtype) | (i.number ? 0x80 : 0)));
  return find_or_make(key, [&] { return stored_body(op, types, inputs); });
}

const Program& conversion(DType from, DType to) {
  Key key{nullptr, {static_cast<uint8_t>(from), static_cast<uint8_t>(to)}};
  return find_or_make(key, [&] {
    return build([to](absl::Span<const Expr> in) { return Exprs{convert_to(in[0], to)}; },
                 std::vector<DType>{from});
  });
}

}  // namespace lathe::own
