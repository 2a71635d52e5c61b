// Shared objects that bring ops (include/lathe/custom_op.h), and their ops as definitions.
#include <absl/container/flat_hash_map.h>
#include <absl/strings/str_cat.h>
#include <dlfcn.h>

#include <mutex>

#include "core/base/error.h"
#include "kernels/custom/call.h"
#include "kernels/custom/custom.h"
#include "kernels/own/convert.h"
#include "kernels/runtime/launch.h"
#include "kernels/table/table.h"

namespace lathe {
namespace {

// ── an op of a shared object ────────────────────────────────────────────────────────────────────

/// The tensor with its elements in row-major order, without gaps.
Tensor packed(const Tensor& t) {
  if (t.geometry().is_contiguous()) return t;
  Tensor out = empty(type_of(t));
  Operand from = operand(t), to = operand(out);
  submit(t.device(), {t}, {out}, [=] { own::convert(from, to); });
  return out;
}

/// Runs a kernel of a shared object on a call: packed operands, fresh results.
void run_kernel(lathe_op_function compute, const Call& call, Outputs& outputs) {
  Device device = call.types[0].device;
  Tensors inputs;
  Tensors reads;
  for (const Arg& a : call.args) {
    inputs.push_back(a.tag == Tag::tensor ? packed(a.tensor()) : Tensor());
    if (inputs.back().defined()) reads.push_back(inputs.back());
  }
  for (const TensorType& t : call.types) outputs.push_back(empty(t));
  // On a device of its own thread the work outlives this call, so it owns what it reads.
  auto args = std::make_shared<ArgVec>(call.args);
  submit(device, reads, outputs,
         [f = compute, op = &call.op, args, site = here(), inputs, made = outputs] {
           lathe_op_call c{op, *args, site, {}, &inputs, &made, nullptr, {}, {}, {}, {}};
           run_function(f, c);
         });
}

class SharedOp final : public CustomOp {
 public:
  explicit SharedOp(const lathe_op_definition& row) : row_(row) {}

  Types infer(const Op& op, Args args) const override {
    Device device;
    for (size_t i = 0; i < args.size(); ++i) {
      if (op.schema.params[i].type != ArgType::tensor || args[i].none()) continue;
      if (args[i].tag != Tag::tensor)
        throw TypeError({.op = op.name(),
                         .problem = "a custom op takes tensors where its schema says so",
                         .got = to_string(args[i]),
                         .expected = op.schema.text,
                         .next = "make a tensor of the number"});
      device = args[i].tensor().device();
    }
    lathe_op_call c{&op, args, here(), {}, nullptr, nullptr, nullptr, {}, {}, {}, {}};
    run_function(row_.infer, c);
    if (c.types.size() != op.schema.results.size())
      misused(&c, "the shape rule does not give every result", absl::StrCat(c.types.size()));
    for (TensorType& t : c.types) t.device = device;
    return c.types;
  }

  void run(const Call& call, Outputs& outputs) const override {
    run_kernel(row_.compute, call, outputs);
  }

  bool runs_on(Device device) const override { return device.kind != DeviceKind::cuda; }

  Grads gradient(Grad g) const override {
    lathe_op_call c{&g.op(), g.attrs(), here(), {}, nullptr, nullptr, &g, {}, {}, {}, {}};
    c.grads.resize(static_cast<size_t>(g.slots()));
    run_function(row_.gradient, c);
    return c.grads;
  }

 private:
  lathe_op_definition row_;
};

// ── libraries ───────────────────────────────────────────────────────────────────────────────────

struct Loading {
  std::vector<std::string> names;
  std::exception_ptr error;
};

int32_t define(const lathe_op_host* host, const lathe_op_definition* row) {
  auto* loading = static_cast<Loading*>(host->state);
  try {
    if (row == nullptr || row->bytes < sizeof(lathe_op_definition) || row->schema == nullptr ||
        row->infer == nullptr || row->compute == nullptr)
      throw ValueError({.op = "load_library",
                        .problem = "an op lacks its schema, its shape rule or its kernel",
                        .got = row == nullptr || row->schema == nullptr ? "" : row->schema,
                        .expected = "all three",
                        .next = "give the op `schema`, `infer` and `compute`"});
    Schema schema = parse_schema(row->schema);
    CustomDefinition made{
        row->schema, row->doc == nullptr ? "" : row->doc, row->version, {}, false};
    made.has_gradient = row->gradient != nullptr;
    if (made.has_gradient)
      made.saves = saves_named(schema, row->saves == nullptr ? "" : row->saves);
    loading->names.push_back(define_custom(made, std::make_shared<SharedOp>(*row)).name());
    return 0;
  } catch (...) {
    if (!loading->error) loading->error = std::current_exception();
    return 1;
  }
}

// ── claims on composites ────────────────────────────────────────────────────────────────────────

/// What an entry that a shared object registered refers to; lives as long as the process.
struct Claim {
  const Op* op;
  std::string entry;
  lathe_op_function accepts, compute;
};

Verdict claim_accepts(const Entry& entry, const Query& query) {
  const auto& claim = *static_cast<const Claim*>(entry.state);
  if (claim.op != &query.op) return Verdict::no(Reason::op, query.op.name());
  if (query.device.kind == DeviceKind::cuda)
    return Verdict::no(Reason::device, to_string(query.device));
  if (claim.accepts == nullptr) return Verdict::yes();
  lathe_op_call c{&query.op, query.args, here(), {}, nullptr, nullptr, nullptr, {}, {}, {}, {}};
  try {
    run_function(claim.accepts, c);
    return Verdict::yes();
  } catch (const ValueError& e) {
    return Verdict::no(Reason::declined, e.parts().problem);
  }
}

void claim_run(const Entry& entry, const Call& call, Outputs& outputs) {
  run_kernel(static_cast<const Claim*>(entry.state)->compute, call, outputs);
}

int32_t claim(const lathe_op_host* host, const lathe_op_claim* wanted) {
  auto* loading = static_cast<Loading*>(host->state);
  try {
    if (wanted == nullptr || wanted->bytes < sizeof(lathe_op_claim) || wanted->op == nullptr ||
        wanted->entry == nullptr || wanted->compute == nullptr)
      throw ValueError({.op = "load_library",
                        .problem = "a claim lacks its op, the name of its entry or its kernel",
                        .got = wanted == nullptr || wanted->op == nullptr ? "" : wanted->op,
                        .expected = "all three",
                        .next = "give the claim `op`, `entry` and `compute`"});
    const Op& op = get_op(wanted->op);
    if (op.kind != Kind::composite)
      throw ValueError({.op = "load_library",
                        .problem = "only composites can be claimed whole",
                        .got = absl::StrCat(op.name(), ", which is ", name(op.kind)),
                        .expected = "a composite",
                        .next = "docs/reference lists the kind of every op"});
    auto* kept = new Claim{&op, wanted->entry, wanted->accepts, wanted->compute};
    register_entry({.name = kept->entry,
                    .kind = Kind::composite,
                    .bits = Bits::pinned,
                    .accepts = claim_accepts,
                    .take = claim_run,
                    .state = kept});
    return 0;
  } catch (...) {
    if (!loading->error) loading->error = std::current_exception();
    return 1;
  }
}

struct Libraries {
  std::mutex mutex;  // not fork-safe: what an op's entry does under it takes other locks
  absl::flat_hash_map<void*, std::vector<std::string>> by_handle;
};
Libraries& libraries() {
  static auto& all = *new Libraries;
  return all;
}

[[noreturn]] void cannot_open(const std::string& path, std::string problem) {
  throw FileError({.op = "load_library",
                   .problem = std::move(problem),
                   .got = path,
                   .expected = "a shared object made with include/lathe/custom_op.h",
                   .next = "build it with -shared -fPIC, and give its path"});
}

}  // namespace

std::vector<std::string> load_op_library(const std::string& path) {
  // Without a slash the loader would look in the system's folders, and not here.
  std::string file = path.find('/') == std::string::npos ? absl::StrCat("./", path) : path;
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) cannot_open(path, absl::StrCat("it cannot be opened: ", dlerror()));
  Libraries& all = libraries();
  const std::lock_guard lock(all.mutex);
  if (auto it = all.by_handle.find(handle); it != all.by_handle.end()) return it->second;
  auto entry = reinterpret_cast<lathe_ops_entry>(dlsym(handle, LATHE_OPS_ENTRY));
  if (entry == nullptr) cannot_open(path, "it brings no ops: there is no " LATHE_OPS_ENTRY);
  Loading loading;
  lathe_op_host host{sizeof(lathe_op_host), LATHE_OPS_ABI, &loading, define, claim};
  int32_t failed = entry(&host);
  if (loading.error) std::rethrow_exception(loading.error);
  if (failed != 0)
    throw UnsupportedError({.op = "load_library",
                            .problem = "it was made for another interface",
                            .got = path,
                            .expected = absl::StrCat("interface ", LATHE_OPS_ABI),
                            .next = "compile it with this version's include/lathe/custom_op.h"});
  all.by_handle[handle] = loading.names;
  return loading.names;
}

}  // namespace lathe
