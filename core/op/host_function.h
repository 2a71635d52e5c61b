// A function of the front end's that a program calls at its place: what an argument `Function` of a
// definition is. Who calls it, core/dispatch/callback.h says.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/tensor/tensor.h"

namespace lathe {

struct HostFunction : std::enable_shared_from_this<HostFunction> {
  /// What a result is, whatever its sizes: those are arguments of the call.
  struct Declared {
    DType dtype;
    int rank;
    Device device;
  };

  HostFunction(std::string name, std::vector<Declared> results)
      : name(std::move(name)), results(std::move(results)) {}
  virtual ~HostFunction() = default;
  HostFunction(const HostFunction&) = delete;

  /// On concrete tensors; results of these types, each in memory of its own.
  virtual Outputs run(const Tensors& xs, const Types& types) const = 0;
  /// Of the arguments, the results and their cotangents, one behind the other: gives a gradient for
  /// each argument of a floating dtype. Null: there is none.
  virtual std::shared_ptr<const HostFunction> derivative() const { return nullptr; }
  /// What does the same and is data, so that programs without this front end can do it; null: there
  /// is no such thing.
  virtual std::shared_ptr<const HostFunction> as_data() const { return nullptr; }
  /// Is this such data? Then the text of a graph writes it as say("literal").
  virtual bool is_data() const { return false; }
  virtual std::string literal() const { return {}; }

  const std::string name;
  const std::vector<Declared> results;
};

}  // namespace lathe
