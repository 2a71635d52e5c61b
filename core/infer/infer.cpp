// Op::infer: the one entry to the rules for dtypes and shapes, chosen by the definition's kind.
#include <absl/strings/str_cat.h>

#include "core/base/asked.h"
#include "core/base/error.h"
#include "core/infer/rules.h"

namespace lathe {

Types Op::infer(Args args) const {
  if (extra.infer != nullptr) {
    Types types = extra.infer(args);
    // Kinds with a rule of their own ask this in it, of the dtype they compute in.
    bool made = kind == Kind::create || kind == Kind::random;
    if (made) require_domain(*this, types[0].dtype);
    if (kind == Kind::opaque && args.size() > 0 && args[0].tag == Tag::tensor)
      require_domain(*this, args[0].tensor_->dtype);
    return types;
  }
  if (kind == Kind::elementwise) return infer_elementwise(*this, args);
  const AskedScope asked(public_name());  // an argument of another type does not know whose it is
  switch (kind) {
    case Kind::reduce:
      return infer_reduce(*this, args);
    case Kind::scan:
      return infer_scan(*this, args);
    case Kind::contract:
      return infer_contract(*this, args);
    case Kind::view:
      return infer_view(*this, args);
    case Kind::index:
      return infer_index(*this, args);
    case Kind::sort:
      return infer_sort(*this, args);
    case Kind::elementwise:
    case Kind::create:
    case Kind::random:
    case Kind::opaque:
      break;
    case Kind::composite:
      return infer_composite(*this, args).types;
  }
  LATHE_INTERNAL(absl::StrCat(name(), " has no shape rule"));
}

}  // namespace lathe
