#include "core/dispatch/fn.h"

namespace lathe {

void ArgBuilder::push(IntSpan list) {
  std::vector<Arg>& items = this->list(list.size());
  for (Int i : list) items.push_back(Arg(i));
  lists_.push_back({items.data(), items.size()});
  args_.push_back(Arg(lists_.back()));
}

void ArgBuilder::push(const Ints& list) { push(IntSpan(list.values)); }

void ArgBuilder::push(absl::Span<const Tensor> list) {
  std::vector<Arg>& items = this->list(list.size());
  for (const Tensor& t : list) items.push_back(Arg(t));
  lists_.push_back({items.data(), items.size()});
  args_.push_back(Arg(lists_.back()));
}

std::vector<Arg>& ArgBuilder::list(size_t size) {
  items_.emplace_back();
  items_.back().reserve(size);
  return items_.back();
}

CompletedArgs::CompletedArgs(const Op& op, absl::Span<const Arg> given) {
  complete_call(op.schema, given, {}, full_, pool_);
}

}  // namespace lathe
