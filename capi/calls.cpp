// Calling an op by name with tagged arguments.
#include <deque>

#include "capi/handles.h"
#include "core/dispatch.h"
#include "core/op.h"

namespace lathe::c {
namespace {

const Op& row(const lathe_op* op) {
  if (op == nullptr)
    throw TypeError({.problem = "the op is NULL", .next = "ask lathe_find_op for it"});
  return *reinterpret_cast<const Op*>(op);
}

/// A call's arguments as core takes them. It owns the lists that it makes; they are borrowed from.
class Arguments {
 public:
  Arguments(const Op& op, const lathe_arg* args, size_t count) : op_(op) {
    for (size_t i = 0; i < count; ++i) add(args[i]);
  }
  absl::Span<const Arg> given() const { return given_; }
  absl::Span<const NamedArg> named() const { return named_; }

 private:
  void add(const lathe_arg& a) {
    Arg value = converted(a);
    if (a.name != nullptr)
      named_.push_back({a.name, value});
    else if (named_.empty())
      given_.push_back(value);
    else
      throw TypeError({.op = op_.name(), .problem = "an argument by position follows one by name"});
  }

  Arg converted(const lathe_arg& a) {
    switch (a.kind) {
      case LATHE_ARG_NONE:
        return {};
      case LATHE_ARG_TENSOR:
        return Arg(optional(a.is.tensor));
      case LATHE_ARG_INTEGER:
        return Arg(Int(a.is.integer));
      case LATHE_ARG_REAL:
        return Arg(a.is.real);
      case LATHE_ARG_FLAG:
        return Arg(a.is.flag != 0);
      case LATHE_ARG_DTYPE:
        return Arg(static_cast<DType>(a.is.dtype));
      case LATHE_ARG_DEVICE:
        require_place(a.is.text, "the device");
        return Arg(parse_device(a.is.text));
      case LATHE_ARG_TEXT:
        require_place(a.is.text, "the text");
        return Arg(a.is.text);
      case LATHE_ARG_INTEGERS:
      case LATHE_ARG_TENSORS:
        return list(a);
    }
    throw TypeError({.op = op_.name(),
                     .problem = "an argument is of an unknown kind",
                     .got = std::to_string(static_cast<int>(a.kind)),
                     .expected = "one of lathe_kind"});
  }

  Arg list(const lathe_arg& a) {
    if (a.count > 0) require_place(a.is.integers, "the elements of a list");
    std::vector<Arg>& items = items_.emplace_back();
    for (uint32_t i = 0; i < a.count; ++i)
      items.push_back(a.kind == LATHE_ARG_INTEGERS ? Arg(Int(a.is.integers[i]))
                                                   : Arg(tensor(a.is.tensors[i], "list element")));
    lists_.push_back({items.data(), items.size()});
    return Arg(lists_.back());
  }

  const Op& op_;
  std::vector<Arg> given_;
  std::vector<NamedArg> named_;
  std::deque<std::vector<Arg>> items_;
  std::deque<ArgList> lists_;
};

}  // namespace
}  // namespace lathe::c

using namespace lathe;     // NOLINT: this file is the C face of that namespace
using namespace lathe::c;  // NOLINT

extern "C" {

lathe_status lathe_find_op(const char* name, const lathe_op** op) {
  return guarded([&] {
    require_place(name, "the name of the op");
    require_place(op, "the op");
    *op = reinterpret_cast<const lathe_op*>(&get_op(name));
  });
}

const char* lathe_op_schema(const lathe_op* op) {
  return op == nullptr ? "" : row(op).schema.text.c_str();
}

size_t lathe_op_count(void) {
  size_t count = 0;
  guarded([&] { count = all_ops().size(); });
  return count;
}

const char* lathe_op_name(size_t index) {
  const char* name = "";
  guarded([&] {
    std::vector<const Op*> ops = all_ops();
    if (index < ops.size()) name = ops[index]->name().c_str();
  });
  return name;
}

lathe_status lathe_call(const lathe_op* op, const lathe_arg* args, size_t arg_count,
                        lathe_tensor** results, size_t room, size_t* count) {
  return guarded([&] {
    const Op& called = row(op);
    if (arg_count > 0) require_place(args, "the arguments");
    Arguments a(called, args, arg_count);
    absl::InlinedVector<Arg, 8> complete;
    ArgVec pool;
    complete_call(called.schema, a.given(), a.named(), complete, pool, Caller::c_user);
    give(call(called, Args(complete.data(), complete.size())), results, room, count);
  });
}

}  // extern "C"
