// Which of many tensors lie over the same memory: for those who would ask may_share_memory() of
// every pair of them, which takes the square of their number.
#pragma once

#include <absl/functional/function_ref.h>

#include <vector>

#include "core/tensor/tensor.h"

namespace lathe {

class SharedMemory {
 public:
  /// The next tensor; null, or one without elements, shares with nobody. Not after a question.
  void add(const TensorImpl* t);
  /// Whether one of them may share memory with t and `counts`, which is told the number of each
  /// that may, in any order, until one does.
  bool any(const TensorImpl& t, absl::FunctionRef<bool(size_t)> counts);

 private:
  struct Range {
    uintptr_t begin, end;
    size_t number;
    const TensorImpl* tensor;
  };
  void sort();

  size_t added_ = 0;
  bool sorted_ = false;
  std::vector<Range> ranges_;        // by begin, once sorted
  std::vector<uintptr_t> furthest_;  // by range: the largest end up to it
};

}  // namespace lathe
