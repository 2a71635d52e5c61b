// Types of graph values: tensors, numbers, texts and None. There are no containers: those of fixed
// structure are flattened before a graph is made (docs/decisions.md).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/tensor/tensor.h"

namespace lathe::ir {

enum class ScalarKind : uint8_t { flag, integer, real };  // in the order they promote

/// A Python number. An integer's type may say which one it is, as a number or over the graph's
/// symbols, so that shapes computed from it are inferred like any other; the word of such an Int is
/// its identity.
struct Scalar {
  ScalarKind kind = ScalarKind::integer;
  std::optional<Int> value = std::nullopt;
};
struct Text {};
struct None {};

struct Type {
  std::variant<TensorType, Scalar, Text, None> is;

  Type() : is(None{}) {}
  // NOLINTBEGIN(google-explicit-constructor): a type is written as the alternative it is.
  Type(TensorType t) : is(std::move(t)) {}
  Type(Scalar s) : is(s) {}
  Type(Text t) : is(t) {}
  Type(None n) : is(n) {}
  // NOLINTEND(google-explicit-constructor)

  const TensorType* tensor() const { return std::get_if<TensorType>(&is); }
  const Scalar* scalar() const { return std::get_if<Scalar>(&is); }
  bool is_scalar(ScalarKind kind) const { return scalar() != nullptr && scalar()->kind == kind; }
};
using TypeList = std::vector<Type>;

inline Type integer_type(Int value) { return Scalar{ScalarKind::integer, value}; }
inline Type integer_type() { return Scalar{ScalarKind::integer}; }
inline Type float_type() { return Scalar{ScalarKind::real}; }
inline Type flag_type() { return Scalar{ScalarKind::flag}; }

/// The same in every part; sizes by identity, so no guard is ever made. Int's own == would make
/// one.
bool same_type(const Type& a, const Type& b);

/// As the text IR writes it: "f32[s0, 64]", "int(s1)", "str".
std::string to_string(const Type& type);

/// Calls `visit` with every size expression in the type.
void for_each_int(const Type& type, const std::function<void(Int)>& visit);
/// The type with each size expression replaced.
Type map_ints(const Type& type, const std::function<Int(Int)>& change);

}  // namespace lathe::ir
