// The signature of an op definition, as users read it, parsed once: "sum(Tensor input, int[]?
// dim=None, bool keepdim=False) -> Tensor". Everything about calling an op (C++, Python, text IR,
// stubs, docs) follows from it.
//
// Parameter names, order, defaults and keyword-only marks are PyTorch's. Several definitions may
// share a public name: "max", "max.dim" and "max.other" are overloads of `max`, told apart by what
// follows the dot; a call takes the first, in order of definition, that its arguments fit. Where
// the number of results depends on an argument, overloads are told apart by its value: a parameter
// of type `True`, `False` or `None` takes that alone ("max_pool2d(..., False return_indices=False)
// -> Tensor" and "max_pool2d.indices(..., True return_indices) -> (Tensor values, Tensor
// indices)").
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/op/args.h"

namespace lathe {

enum class ArgType : uint8_t { tensor, integer, real, scalar, flag, dtype, device, text, function };

/// The one value that a parameter takes, if it takes only one.
enum class Literal : uint8_t { any, yes, no, none };

struct Param {
  std::string name;
  ArgType type = ArgType::tensor;
  Literal literal = Literal::any;
  bool number = false;          // Tensor|Scalar: a user may give a number instead of a tensor
  bool list = false;            // int[], Tensor[]
  bool symbolic = false;        // SymInt: a size, which one program may serve any of
  int fixed_size = 0;           // int[2]: a single int is taken for all; Tensor...: -1
  bool optional_items = false;  // int[2?]: items may be None
  bool optional = false;        // `?`: None is allowed
  bool written = false;         // `(!)`: the op writes to it; the only place effects are declared
  bool keyword_only = false;    // stands behind the `*`
  bool has_default = false;
  ArgVec default_value;  // one Arg, when has_default
};

struct Result {
  std::string name;   // "" or "values"
  bool list = false;  // Tensor[]: as many as the op says
};

struct Schema {
  std::string name;  // "max.dim": unique, as the text IR writes it
  std::vector<Param> params;
  std::vector<Result> results;
  std::string text;         // canonical form; parse(text).text == text
  std::string public_name;  // "max": what users call, and what overloads share
  /// Each operand may be a number, but users must give one tensor at least (Extra::numbers_alone).
  bool wants_tensor = false;

  /// How many arguments may be given by position.
  size_t positional() const;

  int find(std::string_view param) const;  // -1 if there is none
  bool writes() const;                     // any `(!)`
};

/// Throws NameError or ValueError that points at the offending part.
Schema parse_schema(std::string_view text);

struct NamedArg {
  std::string_view name;
  Arg value;
};

/// Who gives the arguments. Users are held to the signature: a number is no tensor unless it says
/// Tensor|Scalar, True is no int, and in Python a keyword-only argument is given by name. Graphs
/// and the library's own C++ may put a number wherever an elementwise definition takes a tensor.
enum class Caller : uint8_t { library, c_user, python };

/// Completes a call: `given` positional arguments plus `named` ones, defaults filled in, a single
/// int widened where a list is wanted; checks every tag. TypeError names the parameter, what it got
/// and the whole signature. Appends exactly params.size() Args to `out`; lists it had to make live
/// in `pool`.
void complete_call(const Schema& schema, absl::Span<const Arg> given,
                   absl::Span<const NamedArg> named, absl::InlinedVector<Arg, 8>& out, ArgVec& pool,
                   Caller caller = Caller::library);

/// True if complete_call would take these arguments.
bool accepts(const Schema& schema, absl::Span<const Arg> given, absl::Span<const NamedArg> named,
             Caller caller);

std::string print_schema(const Schema& schema);

}  // namespace lathe
