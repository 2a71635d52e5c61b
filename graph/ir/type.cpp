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

bool same_types(const TypeList& a, const TypeList& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!same_type(a[i], b[i])) return false;
  return true;
}

std::string join(const TypeList& types) {
  std::string out;
  for (const Type& t : types) absl::StrAppend(&out, out.empty() ? "" : ", ", to_string(t));
  return out;
}

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

std::string record_text(const Record& r) {
  std::string out = absl::StrCat("record ", r.name, "(");
  for (size_t i = 0; i < r.items.size(); ++i)
    absl::StrAppend(&out, i == 0 ? "" : ", ", r.fields[i], ": ", to_string(r.items[i]));
  return out + ")";
}

}  // namespace

bool same_type(const Type& a, const Type& b) {
  if (a.is.index() != b.is.index()) return false;
  return std::visit(
      Overload{
          [&](const TensorType& x) {
            const TensorType& y = *b.tensor();
            return x.dtype == y.dtype && x.device == y.device && identical(x.shape, y.shape);
          },
          [&](const Scalar& x) {
            const Scalar& y = *b.scalar();
            if (x.kind != y.kind || x.value.has_value() != y.value.has_value()) return false;
            return !x.value || identical(*x.value, *y.value);
          },
          [&](const Text&) { return true; },
          [&](const None&) { return true; },
          [&](const Tuple& x) { return same_types(x.items, std::get<Tuple>(b.is).items); },
          [&](const List& x) { return same_types(x.item, std::get<List>(b.is).item); },
          [&](const Dict& x) { return same_types(x.item, std::get<Dict>(b.is).item); },
          [&](const Optional& x) { return same_types(x.item, std::get<Optional>(b.is).item); },
          [&](const Record& x) {
            const auto& y = std::get<Record>(b.is);
            return x.name == y.name && x.fields == y.fields && same_types(x.items, y.items);
          },
          [&](const Function& x) { return x.name == std::get<Function>(b.is).name; },
      },
      a.is);
}

std::string to_string(const Type& type) {
  return std::visit(
      Overload{
          [](const TensorType& t) { return tensor_text(t); },
          [](const Scalar& s) { return scalar_text(s); },
          [](const Text&) { return std::string("str"); },
          [](const None&) { return std::string("None"); },
          [](const Tuple& t) { return absl::StrCat("tuple(", join(t.items), ")"); },
          [](const List& t) { return absl::StrCat("list(", join(t.item), ")"); },
          [](const Dict& t) { return absl::StrCat("dict(", join(t.item), ")"); },
          [](const Optional& t) { return absl::StrCat("optional(", join(t.item), ")"); },
          [](const Record& r) { return record_text(r); },
          [](const Function& f) { return absl::StrCat("function ", f.name); },
      },
      type.is);
}

void for_each_int(const Type& type, const std::function<void(Int)>& visit) {
  auto all = [&](const TypeList& types) {
    for (const Type& t : types) for_each_int(t, visit);
  };
  std::visit(Overload{
                 [&](const TensorType& t) {
                   for (Int size : t.shape) visit(size);
                 },
                 [&](const Scalar& s) {
                   if (s.value) visit(*s.value);
                 },
                 [&](const Tuple& t) { all(t.items); },
                 [&](const List& t) { all(t.item); },
                 [&](const Dict& t) { all(t.item); },
                 [&](const Optional& t) { all(t.item); },
                 [&](const Record& r) { all(r.items); },
                 [](const auto&) {},
             },
             type.is);
}

Type map_ints(const Type& type, const std::function<Int(Int)>& change) {
  Type out = type;
  auto all = [&](TypeList& types) {
    for (Type& t : types) t = map_ints(t, change);
  };
  std::visit(Overload{
                 [&](TensorType& t) {
                   for (Int& size : t.shape) size = change(size);
                 },
                 [&](Scalar& s) {
                   if (s.value) s.value = change(*s.value);
                 },
                 [&](Tuple& t) { all(t.items); },
                 [&](List& t) { all(t.item); },
                 [&](Dict& t) { all(t.item); },
                 [&](Optional& t) { all(t.item); },
                 [&](Record& r) { all(r.items); },
                 [](auto&) {},
             },
             out.is);
  return out;
}

}  // namespace lathe::ir
