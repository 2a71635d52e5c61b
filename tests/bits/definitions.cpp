#include "tests/bits/definitions.h"

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/dispatch/call.h"
#include "graph/ir/arguments.h"
#include "include/lathe/ops/create.h"

namespace lathe::bits_test {
namespace {

using testing::Sample;
using testing::SampleTensor;

bool takes(const Op& op, const Sample& sample, DType dtype) {
  GradMode off(false);
  testing::PreparedCall call = testing::prepare(sample, [&](const SampleTensor& t) {
    DType fixed = t.kind == 'b' ? DType::bool_ : DType::i64;
    return create_ops<Tensor>::ones(t.shape, any_dtype(t.kind) ? dtype : fixed);
  });
  if (makes_from_nothing(op))
    for (size_t k = 0; k < call.args.size(); ++k)
      if (op.schema.params[k].type == ArgType::dtype) call.args[k] = Arg(dtype);
  try {
    if (op.kind == Kind::composite)
      lathe::call(op, call.view());
    else
      op.infer(call.view());
    return true;
  } catch (const Error& e) {  // not of this dtype, or ones of it are outside of the domain
    if (e.kind() == ErrorKind::internal) throw;
    return false;
  }
}

}  // namespace

bool makes_from_nothing(const Op& op) {
  for (const Param& p : op.schema.params)
    if (p.type == ArgType::tensor) return false;
  return true;
}

namespace {

/// Does the sample's expansion look at elements? Its results cannot be those of a trace, which
/// refuses it.
bool reads_data(const Op& op, const Sample& sample) {
  if (op.kind != Kind::composite) return false;
  for (DType dtype : kTensorTypes) {
    testing::PreparedCall call = testing::prepare(sample, [&](const SampleTensor& t) {
      DType fixed = t.kind == 'b' ? DType::bool_ : DType::i64;
      return ir::stand_in({any_dtype(t.kind) ? dtype : fixed, t.shape, Device{}});
    });
    try {
      op.infer(call.view());
      return false;
    } catch (const TraceError&) {
      return true;
    } catch (const Error&) {  // not of this dtype
    }
  }
  return false;
}

/// Strides of the memory are what these are told, so that the layout of an operand changes the
/// result, and a trace refuses other layouts than row-major order.
bool depends_on_layout(const Sample& s) { return s.op.rfind("as_strided", 0) == 0; }

/// Does its caller answer for the indexes? Those of a step may be any.
bool trusts_indexes(const Sample& s) { return get_op(s.op).index.inside; }

/// Does it ask for matrices that are positive-definite? A step of a program gives no such.
bool asks_for_definite(const Sample& s) {
  for (const auto& arg : s.args)
    for (const auto& t : arg.tensors)
      if (t.kind == 'd') return true;
  return false;
}

}  // namespace

const std::vector<Row>& rows() {
  static const std::vector<Row> all = [] {
    std::map<std::string, std::vector<const Sample*>> by_name;
    for (const Sample& s : testing::samples())
      if (!asks_for_definite(s) && !depends_on_layout(s) && !trusts_indexes(s))
        by_name[s.op].push_back(&s);
    std::vector<Row> out;
    for (auto& [name, samples] : by_name) {
      Row row{&get_op(name), samples, {}};
      auto& kept = row.samples;
      kept.erase(std::remove_if(kept.begin(), kept.end(),
                                [&](const Sample* s) { return reads_data(*row.op, *s); }),
                 kept.end());
      if (kept.empty()) continue;
      for (DType d : kTensorTypes)
        for (const Sample* s : kept)
          if (takes(*row.op, *s, d)) row.takes = row.takes | DTypeSet{d};
      out.push_back(std::move(row));
    }
    return out;
  }();
  return all;
}

const Row& row_of(const Op& op) {
  for (const Row& row : rows())
    if (row.op == &op) return row;
  LATHE_INTERNAL(op.name() + " has no sample");
}

}  // namespace lathe::bits_test
