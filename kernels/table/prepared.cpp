#include "kernels/table/prepared.h"

#include <absl/container/flat_hash_map.h>

#include "core/base/error.h"
#include "core/base/flags.h"

namespace lathe {
namespace {

constexpr size_t kMost = 64;

struct Key {
  const Op* op;
  absl::InlinedVector<int64_t, 24> words;
  friend bool operator==(const Key&, const Key&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const Key& k) {
    return H::combine(std::move(h), k.op, k.words);
  }
};

void add(Key& key, const Operand& o) {
  key.words.push_back(static_cast<int64_t>(o.dtype) << 8 | o.rank());
  key.words.insert(key.words.end(), o.shape.begin(), o.shape.end());
  key.words.insert(key.words.end(), o.strides.begin(), o.strides.end());
}

/// False for an argument that is not a number or a list of numbers. Its kind is a part of the key:
/// over no axis is not over the last one.
bool add(Key& key, const Arg& a) {
  key.words.push_back(static_cast<int64_t>(a.tag));
  switch (a.tag) {
    case Tag::integer:
      key.words.push_back(a.integer().value());
      return true;
    case Tag::flag:
      key.words.push_back(a.flag_);
      return true;
    case Tag::dtype:
      key.words.push_back(static_cast<int64_t>(a.dtype_));
      return true;
    case Tag::none:
      return true;
    case Tag::list:
      key.words.push_back(static_cast<int64_t>(a.list_->size));
      for (size_t i = 0; i < a.list_->size; ++i)
        if (!add(key, a.list_->data[i])) return false;
      return true;
    default:
      return false;
  }
}

/// What a contraction's terms are summed in; of a reduction, the result's dtype.
DType accumulator_of(const Call& call) {
  if (call.op.kind != Kind::contract) return call.types[0].dtype;
  // Without rules of its own the result says: a small product should not ask again.
  if (call.op.extra.sums.empty()) return compute_type(call.types[0].dtype);
  return sum_types(call.op, call.args).accumulator;
}

bool make_key(const Call& call, absl::Span<const Operand> in, const Operand& out, Key& key) {
  key.op = &call.op;
  for (const Operand& o : in) add(key, o);
  for (size_t i = in.size(); i < call.args.size(); ++i)
    if (!add(key, call.args[i])) return false;
  // Where an output axis is affine its size is an argument; else it follows. The dtype need not.
  key.words.push_back(static_cast<int64_t>(out.dtype) << 8 |
                      static_cast<int64_t>(accumulator_of(call)));
  return true;
}

PreparedCall prepare(const Call& call, absl::Span<const Operand> in, const Operand& out) {
  const Query query = make_query(call.op, call.args, call.types);
  const Problem problem{call.op, call.args, in, out, accumulator_of(call)};
  PreparedCall made;
  made.entry = &choose_entry(query);
  LATHE_CHECK(made.entry->prepare != nullptr);
  made.plan = made.entry->prepare(*made.entry, problem);
  if (made.plan != nullptr) return made;
  made.entry = find_entry(query, made.entry);
  if (made.entry == nullptr)
    throw UnsupportedError({.op = call.op.name(),
                            .problem = "no table entry runs this: the one that is left cannot",
                            .got = explain_text(query),
                            .next = "look at the reasons, and at the flag 'disabled'"});
  made.plan = made.entry->prepare(*made.entry, problem);
  LATHE_CHECK(made.plan != nullptr);
  return made;
}

struct Known {
  uint64_t revision = 0;
  absl::flat_hash_map<Key, PreparedCall> calls;
};

}  // namespace

PreparedCall prepared_call(const Call& call, absl::Span<const Operand> in, const Operand& out) {
  static thread_local std::unique_ptr<Known> t_known;
  if (!t_known) t_known = std::make_unique<Known>();
  Known& known = *t_known;
  if (uint64_t now = flags_revision(); known.revision != now || known.calls.size() > kMost) {
    known.calls.clear();
    known.revision = now;
  }
  Key key;
  if (!make_key(call, in, out, key)) return prepare(call, in, out);
  auto it = known.calls.find(key);
  if (it != known.calls.end()) return it->second;
  return known.calls.emplace(std::move(key), prepare(call, in, out)).first->second;
}

}  // namespace lathe
