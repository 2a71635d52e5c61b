// A call's arguments with tensors put in the place of others.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "core/op/op.h"

namespace lathe {

class Replaced {
 public:
  /// by(tensor) is what takes its place; undefined: it stays. What the op writes to stays too.
  template <class F>
  Replaced(const Op& op, Args args, F by) {
    for (size_t i = 0; i < args.size(); ++i) {
      if (op.schema.params[i].written) {
        args_.push_back(args[i]);
      } else if (args[i].tag == Tag::list) {
        std::vector<Arg> items;
        for (size_t k = 0; k < args[i].list_->size; ++k)
          items.push_back(one(args[i].list_->data[k], by));
        lists_.push(Arg(ArgList{items.data(), items.size()}));
        args_.push_back(lists_[lists_.size() - 1]);
      } else {
        args_.push_back(one(args[i], by));
      }
    }
  }
  Replaced(const Replaced&) = delete;

  Args args() const { return absl::MakeConstSpan(args_); }
  /// Whose place a tensor took, or itself.
  Tensor original(const Tensor& t) const {
    auto is_this = [&](const auto& pair) { return same(pair.first, t); };
    auto at = std::find_if(pairs_.begin(), pairs_.end(), is_this);
    return at == pairs_.end() ? t : at->second;
  }

 private:
  template <class F>
  Arg one(const Arg& a, F& by) {
    if (a.tag != Tag::tensor) return a;
    Tensor t = by(a.tensor());
    if (!t.defined()) return a;
    pairs_.emplace_back(std::move(t), a.tensor());
    return Arg(pairs_.back().first);
  }

  absl::InlinedVector<std::pair<Tensor, Tensor>, 4> pairs_;  // what took a place, and whose
  ArgVec lists_;
  absl::InlinedVector<Arg, 8> args_;
};

}  // namespace lathe
