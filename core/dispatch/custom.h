// Ops that a program adds while it runs, with kernels of its own. A custom op is one opaque
// definition like any other: the tape, tracer, printer, parser, files and planner see nothing
// special. What its author gave are closures, not functions of this library, so they stand here,
// beside the definitions.
//
// Two front ends make them: include/lathe/custom_op.h for shared objects (kernels/custom/custom.h
// opens them) and lt.library for Python.
#pragma once

#include <memory>

#include "core/dispatch/call.h"
#include "core/dispatch/grad.h"

namespace lathe {

class CustomOp {
 public:
  virtual ~CustomOp() = default;
  /// Types of the results, from the types of the arguments alone: tensors may be symbolic.
  virtual Types infer(const Op& op, Args args) const = 0;
  /// Computes. Tensors are concrete; results are of `call.types`.
  virtual void run(const Call& call, Outputs& outputs) const = 0;
  virtual bool runs_on(Device device) const = 0;
  /// Written with ordinary ops. Called only if the definition says that there is one.
  virtual Grads gradient(Grad) const { return {}; }
};

struct CustomDefinition {
  std::string schema;  // tensors, numbers, texts; no lists of tensors, nothing written
  std::string doc;
  int version = 1;
  Saves saves;  // what the gradient reads
  bool has_gradient = false;
};

/// Adds the definition. NameError if the name is taken, ValueError for a schema that a custom op
/// cannot have.
const Op& define_custom(const CustomDefinition& row,
                        std::shared_ptr<const CustomOp> implementation);

/// The arguments and results that a text names, separated by blanks or commas; a result without a
/// name is "result". NameError for any other.
Saves saves_named(const Schema& schema, std::string_view names);

/// Null for the definitions of the library itself.
const CustomOp* custom_of(const Op& op);

}  // namespace lathe
