#include "core/op/args.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <cstddef>
#include <cstring>

#include "core/base/error.h"
#include "core/op/host_function.h"

namespace lathe {
namespace {

[[noreturn]] void wrong_tag(int i, const Arg& arg, const char* wanted) {
  LATHE_INTERNAL(
      absl::StrCat("argument ", i, " is ", tag_name(arg.tag), " where ", wanted, " was promised"));
}

std::string quoted(std::string_view text) {
  std::string out = "'";
  for (char c : text) {
    switch (c) {
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\\':
      case '\'':
        out += '\\';
        [[fallthrough]];
      default:
        out += c;
    }
  }
  return out + "'";
}

}  // namespace

const char* tag_name(Tag tag) {
  switch (tag) {
    case Tag::none:
      return "None";
    case Tag::tensor:
      return "Tensor";
    case Tag::integer:
      return "int";
    case Tag::real:
      return "float";
    case Tag::flag:
      return "bool";
    case Tag::dtype:
      return "dtype";
    case Tag::device:
      return "device";
    case Tag::text:
      return "str";
    case Tag::list:
      return "list";
    case Tag::function:
      return "function";
  }
  return "unknown";
}

[[noreturn]] static void no_tensor(int i, const Arg& arg) {
  throw TypeError({.problem = "a tensor is missing",
                   .got = absl::StrCat(to_string(arg), " as argument ", i),
                   .expected = "a tensor",
                   .next = "make a tensor of it with lt.tensor()"});
}

Tensor Args::tensor(int i) const {
  if (data_[i].tag == Tag::tensor) [[likely]]
    return data_[i].tensor();
  no_tensor(i, data_[i]);
}

Tensor Args::optional_tensor(int i) const { return none(i) ? Tensor() : tensor(i); }

Tensors Args::tensors(int i) const {
  const Arg& a = data_[i];
  if (a.tag == Tag::tensor) return {a.tensor()};
  if (a.tag != Tag::list) wrong_tag(i, a, "Tensor[]");
  Tensors out;
  Args items(a.list_->data, a.list_->size);
  for (size_t k = 0; k < items.size(); k++) out.push_back(items.tensor(static_cast<int>(k)));
  return out;
}

Int Args::integer(int i) const {
  const Arg& a = data_[i];
  if (a.tag == Tag::integer) [[likely]]
    return a.integer();
  if (a.tag == Tag::flag) return a.flag_ ? 1 : 0;
  wrong_tag(i, a, "int");
}

Real Args::real(int i) const {
  const Arg& a = data_[i];
  if (a.tag == Tag::real) [[likely]]
    return a.real();
  return static_cast<double>(integer(i).value());
}

bool Args::flag(int i) const {
  if (data_[i].tag != Tag::flag) wrong_tag(i, data_[i], "bool");
  return data_[i].flag_;
}

DType Args::dtype(int i) const {
  if (data_[i].tag != Tag::dtype) wrong_tag(i, data_[i], "dtype");
  return data_[i].dtype_;
}

Device Args::device(int i) const {
  if (data_[i].tag != Tag::device) wrong_tag(i, data_[i], "device");
  return data_[i].device_;
}

std::string_view Args::text(int i) const {
  if (data_[i].tag != Tag::text) wrong_tag(i, data_[i], "str");
  return data_[i].text_;
}

Shape Args::ints(int i) const {
  const Arg& a = data_[i];
  if (a.tag != Tag::list) return {integer(i)};
  Args items(a.list_->data, a.list_->size);
  Shape out(items.size());
  for (size_t k = 0; k < items.size(); k++) out[k] = items.integer(static_cast<int>(k));
  return out;
}

const Shape& Args::shape(int i) const {
  if (data_[i].tag != Tag::tensor) no_tensor(i, data_[i]);
  return data_[i].tensor_->geometry.shape;
}

ArgVec::ArgVec(Args args) {
  args_.reserve(args.size());
  for (const Arg& a : args) push(a);
}

ArgVec& ArgVec::operator=(ArgVec o) noexcept {
  args_.swap(o.args_);
  tensors_.swap(o.tensors_);
  blocks_.swap(o.blocks_);
  return *this;
}

// A text, or a list together with its items, is one block; blocks never move, so neither do the
// pointers into them when the ArgVec does.
void ArgVec::own(Arg& arg) {
  if (arg.tag == Tag::tensor) {
    tensors_.push_back(arg.tensor());
  } else if (arg.tag == Tag::text) {
    size_t bytes = std::strlen(arg.text_) + 1;
    auto block = std::make_shared_for_overwrite<char[]>(bytes);
    std::memcpy(block.get(), arg.text_, bytes);
    arg.text_ = block.get();
    blocks_.push_back(std::move(block));
  } else if (arg.tag == Tag::list) {
    const ArgList given = *arg.list_;
    using Word = std::max_align_t;
    const size_t bytes = sizeof(ArgList) + given.size * sizeof(Arg);
    auto owned = std::make_shared_for_overwrite<Word[]>((bytes + sizeof(Word) - 1) / sizeof(Word));
    auto* block = reinterpret_cast<std::byte*>(owned.get());
    blocks_.push_back(std::move(owned));
    auto* items = reinterpret_cast<Arg*>(block + sizeof(ArgList));
    for (size_t k = 0; k < given.size; k++) own(*new (items + k) Arg(given.data[k]));
    arg.list_ = new (block) ArgList{items, given.size};
  } else if (arg.tag == Tag::function) {
    blocks_.push_back(arg.function_->shared_from_this());
  }
}

bool equal(const Arg& a, const Arg& b) {
  if (a.tag != b.tag) return false;
  switch (a.tag) {
    case Tag::none:
      return true;
    case Tag::tensor:
      return a.tensor_ == b.tensor_;
    case Tag::integer:
      return identical(a.integer(), b.integer());
    // By bits: 0.0 and -0.0 compute different things, and a NaN is the same argument as itself.
    case Tag::real:
      return identical(a.real(), b.real());
    case Tag::flag:
      return a.flag_ == b.flag_;
    case Tag::dtype:
      return a.dtype_ == b.dtype_;
    case Tag::device:
      return a.device_ == b.device_;
    case Tag::text:
      return std::strcmp(a.text_, b.text_) == 0;
    case Tag::list:
      if (a.list_->size != b.list_->size) return false;
      for (size_t k = 0; k < a.list_->size; k++)
        if (!equal(a.list_->data[k], b.list_->data[k])) return false;
      return true;
    case Tag::function:
      return a.function_ == b.function_;
  }
  return false;
}

std::string to_string(const Arg& arg) {
  switch (arg.tag) {
    case Tag::none:
      return "None";
    case Tag::tensor:
      return to_string(type_of(arg.tensor()));
    case Tag::integer:
      return to_string(arg.integer());
    case Tag::real:
      return to_string(arg.real());
    case Tag::flag:
      return arg.flag_ ? "True" : "False";
    case Tag::dtype:
      return std::string(info(arg.dtype_).short_name);
    case Tag::device:
      return to_string(arg.device_);
    case Tag::text:
      return quoted(arg.text_);
    case Tag::list:
      return absl::StrCat(
          "[",
          absl::StrJoin(absl::MakeConstSpan(arg.list_->data, arg.list_->size), ", ",
                        [](std::string* out, const Arg& item) { out->append(to_string(item)); }),
          "]");
    case Tag::function:
      return absl::StrCat("<", arg.function_->name, ">");
  }
  return "None";
}

}  // namespace lathe
