#include "core/dispatch/fn.h"

namespace lathe {

template <class T>
void ArgBuilder::push_list(absl::Span<const T> items) {
  Items& kept = lists_.emplace_front();
  kept.items.reserve(items.size());
  for (const T& item : items) kept.items.push_back(Arg(item));
  kept.list = {kept.items.data(), kept.items.size()};
  args_.push_back(Arg(kept.list));
}

void ArgBuilder::push(IntSpan list) { push_list(list); }
void ArgBuilder::push(const Ints& list) { push(IntSpan(list.values)); }
void ArgBuilder::push(absl::Span<const Tensor> list) { push_list(list); }

CompletedArgs::CompletedArgs(const Op& op, absl::Span<const Arg> given) {
  complete_call(op.schema, given, {}, full_, pool_);
}

}  // namespace lathe
