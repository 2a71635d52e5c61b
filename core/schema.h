// The signature of an op, as users read it, parsed once: "sum(Tensor x, int[] dim=[], bool
// keepdim=False) -> Tensor". Everything about calling an op (C++, Python, text IR, stubs, docs)
// follows from it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/args.h"

namespace lathe {

enum class ArgType : uint8_t { tensor, integer, real, scalar, flag, dtype, device, text };

struct Param {
  std::string name;
  ArgType type = ArgType::tensor;
  bool list = false;      // int[], Tensor[]
  int fixed_size = 0;     // int[2]: a single int is taken for all
  bool optional = false;  // `?`: None is allowed
  bool written = false;   // `(!)`: the op writes to it; the only place effects are declared
  bool has_default = false;
  ArgVec default_value;  // one Arg, when has_default
};

struct Result {
  std::string name;   // "" or "values"
  bool list = false;  // Tensor[]: as many as the op says
};

struct Schema {
  std::string name;
  std::vector<Param> params;
  std::vector<Result> results;
  std::string text;  // canonical form; parse(text).text == text

  int find(std::string_view param) const;  // -1 if there is none
  bool writes() const;                     // any `(!)`
};

/// Throws NameError or ValueError that points at the offending part.
Schema parse_schema(std::string_view text);

/// Completes a call: `given` positional arguments plus `named` ones, defaults filled in, a single
/// int widened where a list is wanted; checks every tag. TypeError names the parameter, what it got
/// and the whole signature. Appends exactly params.size() Args to `out`; lists it had to make live
/// in `pool`.
struct NamedArg {
  std::string_view name;
  Arg value;
};
void complete_call(const Schema& schema, absl::Span<const Arg> given,
                   absl::Span<const NamedArg> named, absl::InlinedVector<Arg, 8>& out,
                   ArgVec& pool);

std::string print_schema(const Schema& schema);

}  // namespace lathe
