#include "tests/bits/modes.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <cmath>
#include <cstring>
#include <set>

#include "autodiff/differentiate.h"
#include "autodiff/engine.h"
#include "autodiff/tape.h"
#include "core/base/error.h"
#include "core/base/flags.h"
#include "core/dispatch/assign.h"
#include "core/dispatch/call.h"
#include "core/dispatch/replay.h"
#include "core/tensor/random.h"
#include "graph/file/file.h"
#include "graph/ir/verify.h"
#include "graph/passes/passes.h"
#include "graph/pipeline.h"
#include "graph/trace/interpret.h"
#include "graph/trace/trace.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/reduce.h"
#include "jit/function.h"
#include "jit/plan/plan.h"
#include "kernels/executor.h"
#include "kernels/simd/choose_loops.h"
#include "kernels/table/table.h"
#include "tests/bits/claims.h"
#include "tests/bits/coverage.h"
#include "tests/bits/generate.h"

namespace lathe::bits_test {
namespace {

using M = math_ops<Tensor>;

// ── results as bytes ────────────────────────────────────────────────────────────────────────────

template <class T>
void one_nan(std::byte* data, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    T x;
    std::memcpy(&x, data + i * sizeof x, sizeof x);
    if (x == x) continue;
    x = std::numeric_limits<T>::quiet_NaN();
    std::memcpy(data + i * sizeof x, &x, sizeof x);
  }
}
void one_nan_half(std::byte* data, size_t count, uint16_t infinity) {
  for (size_t i = 0; i < count; ++i) {
    uint16_t x;
    std::memcpy(&x, data + 2 * i, 2);
    if ((x & 0x7fff) <= infinity) continue;
    x = 0x7fff;
    std::memcpy(data + 2 * i, &x, 2);
  }
}

struct Bytes {
  TensorType type;
  std::vector<std::byte> data;
  friend bool operator==(const Bytes& a, const Bytes& b) {
    return lathe::to_string(a.type) == lathe::to_string(b.type) && a.data == b.data;
  }
};
Bytes bytes_of(const Tensor& t) {
  GradMode off(false);
  Tensor c = M::clone(detach(t));
  Bytes out{type_of(c), {}};
  auto count = static_cast<size_t>(c.numel().value());
  out.data.assign(c.data(), c.data() + count * size_of(c.dtype()));
  std::byte* data = out.data.data();
  if (c.dtype() == DType::f32) one_nan<float>(data, count);
  if (c.dtype() == DType::c64) one_nan<float>(data, 2 * count);
  if (c.dtype() == DType::f64) one_nan<double>(data, count);
  if (c.dtype() == DType::c128) one_nan<double>(data, 2 * count);
  if (c.dtype() == DType::f16) one_nan_half(data, count, 0x7c00);
  if (c.dtype() == DType::bf16) one_nan_half(data, count, 0x7f80);
  return out;
}
bool has_value(const Bytes& b) {
  bool complex = is_complex(b.type.dtype);
  if (!(is_floating(b.type.dtype) || complex) || b.data.empty()) return true;
  size_t width = size_of(real_type(b.type.dtype));
  for (size_t i = 0; i < b.data.size(); i += width) {
    const std::byte* at = b.data.data() + i;
    double x = 0;
    uint16_t half = 0;
    float single = 0;
    if (width == 8) std::memcpy(&x, at, 8);
    if (width == 4) std::memcpy(&single, at, 4), x = single;
    if (width == 2) std::memcpy(&half, at, 2), x = half == 0x7fff ? NAN : 0;
    if (x == x) return true;
  }
  return false;
}

/// What a run leaves behind: its results, the inputs (it may have written to them) and how many
/// random calls it made.
struct Result {
  std::vector<Bytes> values;
  uint64_t random_calls = 0;
  friend bool operator==(const Result&, const Result&) = default;
};

Result result_of(const ir::Data& outputs, const ir::Data& inputs) {
  Result r;
  for (const ir::Datum& d : outputs) r.values.push_back(bytes_of(d.tensor()));
  for (const ir::Datum& d : inputs) r.values.push_back(bytes_of(d.tensor()));
  r.random_calls = random_state().call;
  return r;
}

std::string element_text(const Bytes& b, size_t index) {
  size_t width = size_of(b.type.dtype);
  std::string hex;
  for (size_t i = width; i-- > 0;)
    absl::StrAppend(&hex,
                    absl::Hex(static_cast<uint8_t>(b.data[index * width + i]), absl::kZeroPad2));
  return hex;
}

std::string describe(const Result& want, const Result& got, size_t outputs) {
  if (want.values.size() != got.values.size())
    return absl::StrCat(got.values.size(), " values instead of ", want.values.size());
  for (size_t k = 0; k < want.values.size(); ++k) {
    const Bytes &a = want.values[k], &b = got.values[k];
    if (a == b) continue;
    std::string which = k < outputs ? absl::StrCat("result ", k)
                                    : absl::StrCat("input ", k - outputs, " afterwards");
    if (a.data.size() != b.data.size() || lathe::to_string(a.type) != lathe::to_string(b.type))
      return absl::StrCat(which, " is ", lathe::to_string(b.type), " instead of ",
                          lathe::to_string(a.type));
    size_t width = size_of(a.type.dtype), i = 0, count = 0;
    for (size_t e = a.data.size() / width; e-- > 0;)
      if (std::memcmp(&a.data[e * width], &b.data[e * width], width) != 0) i = e, ++count;
    return absl::StrCat(which, ": ", lathe::to_string(a.type), ", ", count,
                        " elements differ, the first is ", i, ": ", element_text(b, i),
                        " instead of ", element_text(a, i));
  }
  return absl::StrCat(got.random_calls, " random calls instead of ", want.random_calls);
}

// ── the modes ───────────────────────────────────────────────────────────────────────────────────

/// Sees every call that reaches a backend: for the table, and whether all bits are defined.
class Watcher final : public Observer {
 public:
  Watcher() {
    next = thread_state().observers;
    thread_state().observers = this;
  }
  ~Watcher() override { thread_state().observers = next; }
  void saw(const Op& op, Args args, Outputs& outputs) override {
    DType dtype = outputs[0].dtype();
    for (const Arg& a : args)
      if (a.tag == Tag::tensor) {
        dtype = a.tensor_->dtype;
        break;
      }
    ++seen[absl::StrCat(name(op.kind), " ", info(dtype).short_name)];
    Types types;
    for (const Tensor& y : outputs) types.push_back(type_of(y));
    if (choose_entry(make_query(op, args, types)).bits != Bits::defined) defined = false;
  }
  void wrote(Tensor&, const Tensor&) override {}
  void saw_part(std::string_view, const Tensors&, Tensors&) override {}
  std::map<std::string, int64_t> seen;
  bool defined = true;
};

class Comparison {
 public:
  Comparison(const Program& p, const Thorough& how) : p_(p), how_(how) {}

  std::optional<Difference> run() {
    FlagScope threads(Flag::threads, "1");
    // Half of them with a vendor's products where the table gives them to one.
    FlagScope numerics(Flag::numerics, p_.seed % 4 < 2 ? "defined" : "pinned");
    if (!eager_first()) return difference_;
    if (how_.count) note_coverage();
    // What eager computed part by part, the others compute whole in every second program.
    const ClaimScope claims(claiming());
    (void)(eager_again() && graphs() && programs() && instruction_sets() && functions() &&
           gradients());
    return difference_;
  }

 private:
  // Its graphs have composites taken apart, so that there is a derivative for each part.
  static constexpr std::string_view kByParts = "gradient by differentiate";
  bool claiming() const { return p_.seed % 2 == 1; }

  // ── one run, compared ──

  template <class F>
  Result result(const Program& p, F f) {
    ir::Data in = inputs_of(p);
    set_random_state({p.seed, 0});
    GradMode off(false);
    ir::Data out = f(in);
    outputs_ = out.size();
    return result_of(out, in);
  }

  /// `f` from inputs to outputs gives what eager gave.
  template <class F>
  bool same(std::string_view mode, const ir::Graph* graph, F f) {
    return same_as(want_, p_, mode, graph, f);
  }
  template <class F>
  bool same_as(const Result& want, const Program& p, std::string_view mode, const ir::Graph* graph,
               F f) {
    if (how_.count) ++coverage().modes[std::string(mode)];
    try {
      Result got = watched(mode, [&] { return result(p, f); });
      if (got == want) return true;
      fail(mode, describe(want, got, outputs_), graph);
    } catch (const std::exception& e) {
      fail(mode, e.what(), graph);
    }
    return false;
  }
  /// Counts the composites that are taken whole while f runs. One that is reads all its operands
  /// again in backward: where one was written to since, the tape refuses, and the expansion, which
  /// kept less, is asked instead.
  template <class F>
  Result watched(std::string_view mode, F f) {
    const int64_t before = composites_taken();
    Result r;
    try {
      r = f();
    } catch (const AutogradError& e) {
      const bool written = e.parts().problem.find("was written to since") != std::string::npos;
      if (!claiming() || !written) throw;
      if (how_.count)
        ++coverage().claimed[std::string(mode)], ++coverage().retried[std::string(mode)];
      const ClaimScope parts(false);
      return f();
    }
    if (!how_.count || !claiming() || mode.starts_with(kByParts)) return r;
    ++coverage().claimed[std::string(mode)];
    coverage().taken[std::string(mode)] += composites_taken() - before;
    return r;
  }
  void fail(std::string_view mode, std::string detail, const ir::Graph* graph) {
    difference_ = Difference{std::string(mode), std::move(detail),
                             graph == nullptr ? std::string() : ir::print(*graph)};
  }
  /// What must not throw, and makes what later modes run.
  template <class F>
  bool step(std::string_view mode, F f) {
    try {
      f();
      return true;
    } catch (const std::exception& e) {
      fail(mode, e.what(), g_ ? &*g_ : nullptr);
    }
    return false;
  }

  // ── eager ──

  bool eager_first() {
    return step("eager", [&] {
      Watcher watcher;
      want_ = result(p_, [&](const ir::Data& in) { return bits_test::run(p_, in); });
      defined_ = watcher.defined;
      seen_ = std::move(watcher.seen);
    });
  }

  void note_coverage() {
    Coverage& c = coverage();
    ++c.programs;
    c.gradients += p_.gradient != Gradient::none;
    c.steps += static_cast<int64_t>(p_.steps.size());
    auto count = [&](auto& self, const std::vector<Step>& steps) -> void {
      for (const Step& s : steps) {
        if (s.op != nullptr) ++c.rows[s.op->name()];
        self(self, s.first);
        self(self, s.second);
      }
    };
    count(count, p_.steps);
    for (const auto& [key, n] : seen_) c.kinds[key] += n;
    c.outputs += static_cast<int64_t>(outputs_);
    for (size_t k = 0; k < outputs_; ++k) c.outputs_with_values += has_value(want_.values[k]);
  }

  bool eager_again() {
    auto eager = [&](const ir::Data& in) { return bits_test::run(p_, in); };
    if (!same("eager, unobserved", nullptr, eager)) return false;
    for (const char* n : {"2", "3", "8"}) {
      FlagScope threads(Flag::threads, n);
      if (!same(absl::StrCat("eager, ", n, " threads"), nullptr, eager)) return false;
    }
    return by_reference();
  }

  /// What the results are defined to be, computed plainly; slow, so small programs only.
  bool by_reference() {
    size_t bytes = 0;
    for (const Bytes& b : want_.values) bytes += b.data.size();
    if (!defined_ || bytes > 20000) return true;
    FlagScope plain(Flag::disabled, all_but_the_reference());
    return same("eager, reference", nullptr,
                [&](const ir::Data& in) { return bits_test::run(p_, in); });
  }
  static const std::string& all_but_the_reference() {
    static const std::string vendors = [] {
      std::set<std::string> names;
      for (int k = 0; k < kKinds; ++k) {
        auto all = entries(static_cast<Kind>(k));
        if (all.empty() || all.back()->vendor() != "reference") continue;
        for (size_t i = 0; i + 1 < all.size(); ++i) names.emplace(all[i]->name);
      }
      return absl::StrJoin(names, ",");
    }();
    return vendors;
  }

  // ── graphs ──

  static ir::Graph traced(const Program& p) {
    ir::Data example = inputs_of(p);
    std::vector<ir::InputSpec> specs;
    for (size_t i = 0; i < example.size(); ++i)
      specs.push_back(ir::spec_of(example[i].tensor(), absl::StrCat("x", i)));
    ir::TraceCallbacks host;
    auto body = [&](const ir::Data& in) { return bits_test::run(p, in); };
    return std::move(ir::trace(body, specs, host, {.aliases = false}).graph);
  }

  bool graphs() {
    bool made = step("trace", [&] {
      g_ = traced(p_);
      ir::verify_rewritten(*g_);
    });
    if (!made) return false;
    auto nodes = [](const ir::Graph& g) {
      return [&g](const ir::Data& in) { return ir::interpret(g, in); };
    };
    if (!same("graph, node by node", &*g_, nodes(*g_))) return false;
    made = step("print and parse", [&] {
      std::string text = ir::print(*g_);
      parsed_ = ir::parse(text, g_->constants());
      if (ir::print(*parsed_) != text)
        throw std::runtime_error(absl::StrCat("the text is not the same:\n", ir::print(*parsed_)));
      ir::verify_loaded(*parsed_);
    });
    if (!made || !same("parsed, node by node", &*parsed_, nodes(*parsed_))) return false;
    made = step("rewriting", [&] {
      optimised_ = g_->clone();
      ir::optimise(*optimised_);
      ir::verify_rewritten(*optimised_);
    });
    return made && same("rewritten, node by node", &*optimised_, nodes(*optimised_));
  }

  // ── programs ──

  /// Runs on one engine, and counts what ran on another.
  ir::Data run_on(const jit::Program& program, std::string_view engine, const ir::Data& in) {
    jit::RunContext context(program);
    ir::Data out = program.run(in, context);
    if (!how_.count) return out;
    const jit::RunCounts& n = context.counts();
    Coverage& c = coverage();
    c.engines[absl::StrCat(engine, ": by the table")] += n.ops;
    c.engines[absl::StrCat(engine, ": generated")] += n.kernels_generated;
    c.engines[absl::StrCat(engine, ": strips")] += n.kernels_simd;
    c.engines[absl::StrCat(engine, ": moved")] += n.kernels_moved;
    int planned = 0;
    count_pointwise(program.graph().body(), planned);
    c.engines[absl::StrCat(engine, ": pointwise, but by the table")] +=
        std::max(0, planned - program.kernels());
    return out;
  }
  /// Steps that an engine could be forced on.
  static void count_pointwise(const ir::Block& block, int& count) {
    for (const ir::Node* n : block.nodes()) {
      if (n->is(ir::Structure::group) || ir::pointwise(*n)) {
        ++count;
        continue;
      }
      for (const ir::Block* b : n->blocks()) count_pointwise(*b, count);
    }
  }

  bool on_engine(const ir::Graph& g, const char* engine, std::string_view mode) {
    FlagScope scope(Flag::engine, engine);
    std::unique_ptr<jit::Program> program;
    return step(mode, [&] { program = std::make_unique<jit::Program>(g.clone()); }) &&
           same(mode, &g, [&](const ir::Data& in) { return run_on(*program, engine, in); });
  }

  bool programs() {
    std::unique_ptr<jit::Program> program;
    if (!step("planning", [&] { program = std::make_unique<jit::Program>(optimised_->clone()); }))
      return false;
    jit::RunContext context(*program);
    for (const char* n : {"1", "2", "3", "8"}) {
      FlagScope threads(Flag::threads, n);
      auto f = [&](const ir::Data& in) { return program->run(in, context); };
      if (!same(absl::StrCat("program, ", n, " threads"), &*optimised_, f)) return false;
    }
    if (!on_engine(*optimised_, "simd", "program, strips")) return false;
    if (!partly_planned()) return false;
    if (!on_engine(*optimised_, "llvm", "program, generated code")) return false;
    if (!on_engine(*parsed_, "auto", "parsed and planned")) return false;
    std::optional<ir::Graph> loaded;
    return step("file",
                [&] { loaded = std::move(ir::from_bytes(ir::to_bytes(*optimised_)).graph); }) &&
           on_engine(*loaded, "auto", "from a file");
  }

  /// Without any pass over the plan, without those that the seed says, and with the first changes
  /// only.
  bool partly_planned() {
    const std::vector<std::string_view> names = jit::plan_rewrite_names();
    std::vector<std::string_view> some;
    for (size_t k = 0; k < names.size(); ++k)
      if ((p_.seed >> k & 1) != 0) some.push_back(names[k]);
    {
      FlagScope off(Flag::rewrites_off, absl::StrJoin(names, ","));
      if (!on_engine(*optimised_, "simd", "program, no plan passes")) return false;
    }
    {
      FlagScope off(Flag::rewrites_off, absl::StrJoin(some, ","));
      if (!on_engine(*optimised_, "auto", "program, some plan passes")) return false;
    }
    FlagScope limit(Flag::rewrite_limit, absl::StrCat(p_.seed % 23));
    return on_engine(*optimised_, "auto", "program, some changes of the plan");
  }

  bool instruction_sets() {
    if (!defined_) return true;
    for (const SimdLoops* set : simd_loop_sets()) {
      std::string isa(set->name);
      FlagScope scope(Flag::isa, isa);
      if (!same("eager, " + isa, nullptr,
                [&](const ir::Data& in) { return bits_test::run(p_, in); }))
        return false;
      if (!on_engine(*optimised_, "simd", "program, strips, " + isa)) return false;
      if (how_.code_on_every_isa &&
          !on_engine(*optimised_, "llvm", "program, generated code, " + isa))
        return false;
    }
    return true;
  }

  // ── functions: guards, other sizes, gradients through them ──

  static ir::Data call(jit::Function& f, const Program& p, const ir::Data& in) {
    std::vector<std::string> names;
    for (size_t i = 0; i < in.size(); ++i) names.push_back(absl::StrCat("x", i));
    jit::FunctionCallbacks host;
    auto body = [&](const ir::Data& data) { return bits_test::run(p, data); };
    return f(in, names, body, host);
  }

  bool functions() {
    // Counted rather than an error by fallback_is_error: products of integers run by the reference.
    jit::Function f("program");
    auto run = [&](const ir::Data& in) { return call(f, p_, in); };
    if (!same("function", &*g_, run)) return false;
    for (uint64_t k = 1; k <= 2; ++k)
      if (!on_other_sizes(f, k)) return false;
    if (!same("function, again", &*g_, run)) return false;
    if (!step("function", [&] { LATHE_CHECK(f.counts().node_by_node == 0); })) return false;
    FlagScope nodes(Flag::engine, "nodes");
    return same("function, node by node", &*g_, run);
  }

  /// A loop that is recorded once may not take sizes that it changes: a trace says so.
  template <class F>
  bool same_or_refused(const Result& want, const Program& other, F by_function) {
    bool loop = false;
    const bool same = same_as(want, other, "function, other sizes", &*g_, [&](const ir::Data& in) {
      try {
        return by_function(in);
      } catch (const TraceError& e) {
        loop = e.parts().problem.find("from round to round of a loop") != std::string::npos;
        throw;
      }
    });
    if (same || !loop) return same;
    if (how_.count) ++coverage().modes["function, other sizes, refused by the trace"];
    difference_.reset();
    return true;
  }

  /// What eager refuses, the function has to refuse too.
  bool on_other_sizes(jit::Function& f, uint64_t k) {
    Program other = resized(p_, other_sizes(p_, k));
    Result want;
    std::optional<std::string> refused;
    try {
      auto eager = [&](const ir::Data& in) { return bits_test::run(other, in); };
      const FlagScope limit(Flag::max_memory, "1073741824");  // products of sizes may be anything
      want = watched("function, other sizes", [&] { return result(other, eager); });
    } catch (const Error& e) {
      // A graph has the elements that a derivative reads, whatever is written afterwards.
      if (e.kind() == ErrorKind::autograd || e.kind() == ErrorKind::memory) return true;
      refused = e.what();
    }
    auto by_function = [&](const ir::Data& in) { return call(f, other, in); };
    if (!refused) return same_or_refused(want, other, by_function);
    if (how_.count) ++coverage().modes["function, other sizes, refused"];
    try {
      result(other, by_function);
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::internal) return true;
      fail("function, other sizes", e.what(), &*g_);
      return false;
    }
    fail("function, other sizes",
         absl::StrCat("eager refuses these sizes, the function does not: ", *refused, "\n",
                      to_string(other)),
         &*g_);
    return false;
  }

  // ── gradients ──

  bool gradients() {
    if (p_.gradient != Gradient::outside) return true;
    std::vector<int> wrt;
    for (size_t i = 0; i < p_.inputs.size(); ++i)
      if (p_.inputs[i].tracked) wrt.push_back(static_cast<int>(i));
    std::vector<int> active;  // results, not what is written to inputs
    for (size_t k = 0; k < g_->outputs().size(); ++k)
      if (differentiable.has(g_->outputs()[k]->tensor().dtype))
        active.push_back(static_cast<int>(k));
    if (active.empty()) return true;
    Vjp vjp;
    try {
      vjp = differentiate(*g_, wrt, {.active = active});
    } catch (const Error& e) {
      if (how_.count) ++coverage().refused["differentiate: " + e.parts().problem];
      if (e.kind() != ErrorKind::internal) return true;
      fail("differentiate", e.what(), &*g_);
      return false;
    }
    if (!step("differentiate", [&] {
          ir::verify_rewritten(vjp.forward);
          ir::verify_rewritten(vjp.backward);
        }))
      return false;
    Result want;
    std::vector<bool> given;
    if (!step("gradient by the tape", [&] { want = tape_result(vjp, wrt, given); })) return false;
    auto nodes = [](const ir::Graph& g, const ir::Data& in) { return ir::interpret(g, in); };
    if (!same_as(want, p_, "gradient by differentiate", &vjp.backward,
                 [&](const ir::Data& in) { return by_graph(vjp, given, in, nodes); }))
      return false;
    std::unique_ptr<jit::Program> forward, backward;
    g_ = vjp.backward.clone();
    bool made = step("differentiate, planning", [&] {
      ir::optimise(vjp.forward);
      ir::optimise(vjp.backward);
      forward = std::make_unique<jit::Program>(vjp.forward.clone());
      backward = std::make_unique<jit::Program>(vjp.backward.clone());
    });
    if (!made) return false;
    auto planned = [&](const ir::Graph& g, const ir::Data& in) {
      return (&g == &vjp.forward ? *forward : *backward).run(in);
    };
    return same_as(want, p_, "gradient by differentiate, planned", &vjp.backward,
                   [&](const ir::Data& in) { return by_graph(vjp, given, in, planned); }) &&
           gradients_of_function(wrt);
  }

  /// A traced call is one node of the tape. Its inputs are used before and after it too, so that
  /// the node goes on with sums that others began.
  bool gradients_of_function(const std::vector<int>& wrt) {
    jit::Function f("program");
    Result want;
    auto eager = [&](const ir::Data& in) { return bits_test::run(p_, in); };
    auto function = [&](const ir::Data& in) { return call(f, p_, in); };
    try {
      want = watched("gradient around the program", [&] {
        return result(p_, [&](const ir::Data& in) { return around(wrt, in, eager); });
      });
    } catch (const AutogradError& e) {  // eager has none: a write came in between
      if (how_.count) ++coverage().refused["gradient around: " + e.parts().problem];
      return true;
    }
    for (const char* mode : {"gradient of a function", "gradient of a function, again"})
      if (!same_as(want, p_, mode, &*g_,
                   [&](const ir::Data& in) { return around(wrt, in, function); }))
        return false;
    return step("function", [&] { LATHE_CHECK(f.counts().node_by_node == 0); });
  }

  /// Results and gradients; zeros where nothing flows.
  template <class F>
  ir::Data around(const std::vector<int>& wrt, const ir::Data& in, F run) const {
    GradMode on(true);
    Tensors xs, ys, dys;
    auto use = [&](const Tensor& y) {
      refresh(y);
      if (!y.requires_grad()) return;
      ys.push_back(y);
      dys.push_back(cotangent(y));
    };
    for (int i : wrt) {
      Tensor t = in[static_cast<size_t>(i)].tensor();
      set_requires_grad(t, true);
      xs.push_back(t);
      use(M::mul(t, t));
    }
    const ir::Data out = run(in);
    for (const Tensor& x : xs) use(M::mul(x, M::cos(x)));
    for (const ir::Datum& d : out)
      if (differentiable.has(d.tensor().dtype())) use(d.tensor());
    ir::Data all;
    for (const ir::Datum& d : out) all.emplace_back(detach(d.tensor()));
    for (const Tensor& g : grad(ys, dys, xs)) all.emplace_back(g);
    return all;
  }

  /// `given`: by input, whether the tape found a way back to it.
  ir::Data by_tape(const Vjp& vjp, const std::vector<int>& wrt, const ir::Data& in,
                   std::vector<bool>& given) const {
    GradMode on(true);
    Tensors xs, ys, dys;
    for (int i : wrt) {
      Tensor t = in[static_cast<size_t>(i)].tensor();
      set_requires_grad(t, true);
      xs.push_back(t);
    }
    ir::Data out = bits_test::run(p_, in);
    for (int k : vjp.cotangents) {
      const Tensor& y = out[static_cast<size_t>(k)].tensor();
      refresh(y);
      if (!y.requires_grad()) continue;
      ys.push_back(y);
      dys.push_back(cotangent(y));
    }
    ir::Data all;
    for (const ir::Datum& d : out) all.emplace_back(detach(d.tensor()));
    Tensors grads = ys.empty() ? Tensors(xs.size()) : grad(ys, dys, xs, {.allow_unused = true});
    for (const Tensor& g : grads) {
      given.push_back(g.defined());
      if (g.defined()) all.emplace_back(g);
    }
    return all;
  }

  Result tape_result(const Vjp& vjp, const std::vector<int>& wrt, std::vector<bool>& given) {
    auto tape = [&](const ir::Data& in) {
      given.clear();
      return by_tape(vjp, wrt, in, given);
    };
    return watched("gradient by the tape", [&] { return result(p_, tape); });
  }

  /// Where the tape found no way back, differentiate may have a zero: only running a loop tells
  /// whether there is one.
  template <class F>
  ir::Data by_graph(const Vjp& vjp, const std::vector<bool>& given, const ir::Data& in,
                    F run) const {
    const ir::Data forward = run(vjp.forward, in);
    ir::Data backward_in = read(vjp, in, forward);
    ir::Data all(forward.begin(), forward.end() - vjp.extra);
    for (int k : vjp.cotangents)
      backward_in.emplace_back(cotangent(forward[static_cast<size_t>(k)].tensor()));
    ir::Data got = run(vjp.backward, backward_in);
    for (size_t i = 0; i < given.size(); ++i) {
      int at = vjp.gradients[i];
      if (given[i] && at < 0) throw std::runtime_error("a gradient that the tape has is missing");
      if (given[i])
        all.push_back(got[static_cast<size_t>(at)]);
      else if (at >= 0 && any_value(got[static_cast<size_t>(at)].tensor()))
        throw std::runtime_error("a gradient where the tape has none");
    }
    return all;
  }
  static bool any_value(const Tensor& t) {
    Tensor real = is_complex(t.dtype()) ? M::abs(t) : t;
    return reduce_ops<Tensor>::any(M::ne(real, 0)).item_int() != 0;
  }

  const Program& p_;
  const Thorough how_;
  std::optional<Difference> difference_;
  Result want_;
  size_t outputs_ = 0;  // of the last run
  bool defined_ = true;
  std::map<std::string, int64_t> seen_;
  std::optional<ir::Graph> g_, parsed_, optimised_;
};

}  // namespace

std::optional<Difference> compare(const Program& program, const Thorough& how) {
  return Comparison(program, how).run();
}

}  // namespace lathe::bits_test
