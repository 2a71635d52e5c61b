#include "graph/ir/type.h"

#include <absl/strings/str_cat.h>

namespace lathe::ir {
namespace {

template <class... F>
struct Overload : F... {
  using F::operator()...;
};
template <class... F>
Overload(F...) -> Overload<F...>;

std::string scalar_text(const Scalar& s) {
  constexpr const char* kNames[] = {"bool", "int", "float"};
  std::string out = kNames[static_cast<int>(s.kind)];
  if (s.value) absl::StrAppend(&out, "(", lathe::to_string(*s.value), ")");
  return out;
}

std::string tensor_text(const TensorType& t) {
  std::string out(info(t.dtype).short_name);
  out += lathe::to_string(IntSpan(t.shape));
  if (!(t.device == Device{})) absl::StrAppend(&out, "@", lathe::to_string(t.device));
  return out;
}

}  // namespace

bool same_type(const Type& a, const Type& b) {
  if (a.is.index() != b.is.index()) return false;
  return std::visit(Overload{
                        [&](const TensorType& x) {
                          const TensorType& y = *b.tensor();
                          return x.dtype == y.dtype && x.device == y.device &&
                                 identical(x.shape, y.shape);
                        },
                        [&](const Scalar& x) {
                          const Scalar& y = *b.scalar();
                          if (x.kind != y.kind || x.value.has_value() != y.value.has_value())
                            return false;
                          return !x.value || identical(*x.value, *y.value);
                        },
                        [](const Text&) { return true; },
                        [](const None&) { return true; },
                    },
                    a.is);
}

std::string to_string(const Type& type) {
  return std::visit(Overload{
                        [](const TensorType& t) { return tensor_text(t); },
                        [](const Scalar& s) { return scalar_text(s); },
                        [](const Text&) { return std::string("str"); },
                        [](const None&) { return std::string("None"); },
                    },
                    type.is);
}

void for_each_int(const Type& type, const std::function<void(Int)>& visit) {
  std::visit(Overload{
                 [&](const TensorType& t) {
                   for (Int size : t.shape) visit(size);
                 },
                 [&](const Scalar& s) {
                   if (s.value) visit(*s.value);
                 },
                 [](const auto&) {},
             },
             type.is);
}

Type map_ints(const Type& type, const std::function<Int(Int)>& change) {
  Type out = type;
  std::visit(Overload{
                 [&](TensorType& t) {
                   for (Int& size : t.shape) size = change(size);
                 },
                 [&](Scalar& s) {
                   if (s.value) s.value = change(*s.value);
                 },
                 [](auto&) {},
             },
             out.is);
  return out;
}

}  // namespace lathe::ir
