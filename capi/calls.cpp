// Calling an op by name with tagged arguments.
#include <absl/strings/str_cat.h>

#include <deque>

#include "capi/handles.h"
#include "core/dispatch/call.h"
#include "core/op/op.h"

namespace lathe::c {
namespace {

const Op& row(const lathe_op* op) { return *reinterpret_cast<const Op*>(op); }

/// A call's arguments as core takes them. It owns the lists that it makes; they are borrowed from.
class Arguments {
 public:
  Arguments(const Op& op, const lathe_arg* args, size_t count) : op_(op) {
    for (; at_ < count; ++at_) add(args[at_]);
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
        require_member(a.is.tensor, "is.tensor");
        return Arg(tensor(a.is.tensor));
      case LATHE_ARG_INTEGER:
        return Arg(Int(a.is.integer));
      case LATHE_ARG_REAL:
        return Arg(a.is.real);
      case LATHE_ARG_FLAG:
        return Arg(a.is.flag != 0);
      case LATHE_ARG_DTYPE:
        return Arg(dtype_of(a.is.dtype));
      case LATHE_ARG_DEVICE:
        require_member(a.is.text, "is.text");
        return Arg(parse_device(a.is.text));
      case LATHE_ARG_TEXT:
        require_member(a.is.text, "is.text");
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
    const bool integers = a.kind == LATHE_ARG_INTEGERS;
    if (a.count > 0) require_member(a.is.integers, integers ? "is.integers" : "is.tensors");
    std::vector<Arg>& items = items_.emplace_back();
    for (uint32_t i = 0; i < a.count; ++i) {
      if (!integers) require_member(a.is.tensors[i], absl::StrCat("is.tensors[", i, "]"));
      items.push_back(integers ? Arg(Int(a.is.integers[i])) : Arg(tensor(a.is.tensors[i])));
    }
    lists_.push_back({items.data(), items.size()});
    return Arg(lists_.back());
  }

  void require_member(const void* pointer, std::string_view member) const {
    if (pointer == nullptr) refuse_null("lathe_call", absl::StrCat("args[", at_, "].", member));
  }

  const Op& op_;
  size_t at_ = 0;  // the argument that is being read
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
  return guarded("lathe_find_op", {given("name", name), given("op", op)},
                 [&] { *op = reinterpret_cast<const lathe_op*>(&get_op(name)); });
}

const char* lathe_op_schema(const lathe_op* op) {
  return answer("lathe_op_schema", "", {given("op", op)},
                [&] { return row(op).schema.text.c_str(); });
}

size_t lathe_op_count(void) {
  return answer("lathe_op_count", size_t{0}, {}, [] { return all_ops().size(); });
}

const char* lathe_op_name(size_t index) {
  return answer("lathe_op_name", "", {}, [&] {
    std::vector<const Op*> ops = all_ops();
    if (index >= ops.size())
      throw IndexError({.op = "lathe_op_name",
                        .problem = "there are fewer ops",
                        .got = absl::StrCat(index),
                        .expected = absl::StrCat("less than ", ops.size()),
                        .next = "ask lathe_op_count how many there are"});
    return ops[index]->name().c_str();
  });
}

lathe_status lathe_call(const lathe_op* op, const lathe_arg* args, size_t arg_count,
                        lathe_tensor** results, size_t room, size_t* count) {
  return guarded(
      "lathe_call",
      {given("op", op), given("args", args, arg_count), given("results", results, room)}, [&] {
        const Op& called = row(op);
        Arguments a(called, args, arg_count);
        absl::InlinedVector<Arg, 8> complete;
        ArgVec pool;
        complete_call(called.schema, a.given(), a.named(), complete, pool, Caller::c_user);
        give(call(called, Args(complete.data(), complete.size())), results, room, count);
      });
}

}  // extern "C"
