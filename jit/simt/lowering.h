// What lowering elements and lowering rows share: where operands are, and the functions of a
// program.
#pragma once

#include <absl/container/flat_hash_map.h>

#include "jit/kernel_ir/kernel.h"
#include "jit/simt/build.h"
#include "jit/simt/shape.h"

namespace lathe::jit::simt {

class Lowering {
 public:
  Lowering(const Kernel& kernel, const Shape& shape);

 protected:
  using Regs = Builder::Regs;

  Ix extent(size_t axis) { return b_.number(k_.axes[axis].extent); }
  /// Positions of the parallel axes, in row-major order.
  Ix positions();
  /// Sets the parallel axes to where this position is.
  void go_to(const Ix& position);
  Ix index(const IndexMap& map);
  int function(const ScalarFunction& f);
  /// `count` in groups of so many, the last one less.
  static Ix groups(const Ix& count, int64_t of) { return (count + (of - 1)) / of; }
  /// The registers of result k of a function, one for each part.
  static Regs result(const ScalarFunction& f, const Regs& all, size_t k);

  const Kernel& k_;
  const Shape shape_;
  Builder b_;
  std::vector<Ix> at_;  // by axis

 private:
  absl::flat_hash_map<std::string, int> functions_;  // by text
};

Program threads_of_rows(const Kernel& kernel, const Shape& shape);

}  // namespace lathe::jit::simt
