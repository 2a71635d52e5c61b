#include "jit/debug.h"

#include <absl/container/flat_hash_map.h>

#include <cstring>

#include "core/base/error.h"
#include "core/dispatch/backend.h"
#include "core/dispatch/fn.h"
#include "core/tensor/random.h"
#include "graph/ir/literal.h"
#include "graph/trace/interpret.h"
#include "include/lathe/ops/math.h"

namespace lathe::jit {
namespace {

template <class Word>
bool same_words(const std::byte* a, const std::byte* b, size_t count, Word infinity) {
  constexpr Word kSign = Word{1} << (sizeof(Word) * 8 - 1);
  for (size_t i = 0; i < count; ++i) {
    Word x, y;
    std::memcpy(&x, a + i * sizeof(Word), sizeof(Word));
    std::memcpy(&y, b + i * sizeof(Word), sizeof(Word));
    const bool nans = (x & ~kSign) > infinity && (y & ~kSign) > infinity;
    if (x != y && !nans) return false;
  }
  return true;
}

class Debugger {
 public:
  Debugger(const ir::Graph& captured, const ir::UserRulesRef& rules, const ir::Data& inputs)
      : captured_(captured), rules_(rules), inputs_(inputs), random_(random_state()) {
    whole_ = captured.clone(&images_);
    for (ir::Node* n = whole_.body().first(); n != nullptr; n = n->next()) {
      if (n->is(ir::Structure::constant)) continue;
      for (ir::Value* v : n->out())
        if (v->type().tensor() != nullptr) add(v);
    }
    whole_.set_results(values_);
    start();
    const ir::Data results = ir::interpret(whole_, copies());
    for (size_t i = 0; i < values_.size(); ++i) report_.values[i].is = results[i].tensor();
  }
  ~Debugger() { start(); }
  Debugger(const Debugger&) = delete;

  DebugReport run(const Program& program) {
    if (!every_value() && !results_agree(program)) value_by_value();
    return std::move(report_);
  }

 private:
  void add(ir::Value* v) {
    const ir::Node& n = *v->node();
    place_.emplace(v, static_cast<int>(values_.size()));
    values_.push_back(v);
    std::string what(n.is(ir::Structure::op) ? std::string_view(n.op()->name())
                                             : name(n.structure()));
    report_.values.push_back({std::move(what), n.site(), {}});
  }
  /// The random stream as it was.
  void start() const { set_random_state(random_); }
  /// Nothing that a run writes is seen by another.
  ir::Data copies() const {
    ir::Data out;
    for (const ir::Datum& d : inputs_)
      out.push_back(d.is_tensor() ? ir::Datum(math_ops<Tensor>::clone(d.tensor())) : d);
    return out;
  }

  bool differs(int value, const Tensor& got) {
    if (same_elements(got, report_.values[static_cast<size_t>(value)].is)) return false;
    report_.first = value;
    report_.got = got;
    return true;
  }

  /// A graph with these values as its results.
  ir::Graph graph_of(const std::vector<int>& which) const {
    absl::flat_hash_map<const ir::Value*, ir::Value*> known;
    ir::Graph g = whole_.clone(&known);
    ir::Values results;
    for (int k : which) results.push_back(known.at(values_[static_cast<size_t>(k)]));
    g.set_results(std::move(results));
    return g;
  }
  std::pair<ir::Graph, ir::Report> rewritten(const std::vector<int>& which,
                                             std::string_view without = {}) const {
    ir::Graph g = graph_of(which);
    ir::Budget budget{.rules = rules_};
    if (!without.empty()) budget.without.insert(std::string(without));
    ir::Report report = ir::optimise(g, budget);
    return {std::move(g), std::move(report)};
  }
  ir::Data results_of(ir::Graph graph) const {
    const Program program(std::move(graph));
    start();
    return program.run(copies());
  }

  /// One program that gives every value. True: one of them differs.
  bool every_value() {
    std::vector<int> all;
    for (size_t i = 0; i < values_.size(); ++i) all.push_back(static_cast<int>(i));
    return compare(all);
  }
  bool compare(const std::vector<int>& which) {
    auto [graph, rewrites] = rewritten(which);
    const ir::Data got = results_of(graph.clone());
    for (size_t i = 0; i < which.size(); ++i) {
      if (!differs(which[i], got[i].tensor())) continue;
      find_cause(which, i, graph, rewrites);
      return true;
    }
    return false;
  }

  /// What the program that calls run gives and writes.
  bool results_agree(const Program& program) {
    const ir::Data in = copies();
    start();
    const ir::Data out = program.run(in);
    const ir::Values& yields = captured_.body().yields();
    const std::vector<ir::Write> writes = captured_.writes();
    const size_t results = yields.size() - writes.size();
    for (size_t i = 0; i < yields.size(); ++i) {
      auto it = place_.find(images_.at(yields[i]));
      if (it == place_.end()) continue;  // an input or a constant
      const size_t w = i - results;
      if (differs(it->second,
                  i < results ? out[i].tensor() : in[writes[w].input->index()].tensor()))
        return false;
    }
    return true;
  }

  /// They are right where all are asked for, and a result is wrong: each is asked for alone.
  void value_by_value() {
    report_.cause = "the program as a whole: each value is right where it is asked for alone";
    const int result = report_.first;
    const Tensor got = report_.got;
    for (int k = 0; k < static_cast<int>(values_.size()); ++k)
      if (compare({k})) return;
    report_.first = result;
    report_.got = got;
  }

  void find_cause(const std::vector<int>& which, size_t at, const ir::Graph& graph,
                  const ir::Report& rewrites) {
    const Tensor& want = report_.values[static_cast<size_t>(which[at])].is;
    std::vector<std::string> rules, passes;
    for (const ir::PassReport& p : rewrites.passes) {
      if (p.changes == 0) continue;
      for (const auto& [name, count] : p.fired) rules.push_back(name);
      passes.push_back(p.name);
    }
    rules.insert(rules.end(), passes.begin(), passes.end());
    for (const std::string& name : rules) {
      ir::Graph other = rewritten(which, name).first;
      if (!same_elements(results_of(std::move(other))[at].tensor(), want)) continue;
      report_.cause = name;
      return;
    }
    start();
    const bool right = same_elements(ir::interpret(graph, copies())[at].tensor(), want);
    report_.cause = right ? "how the program runs it: the rewritten graph gives what is expected"
                          : "several rewrites together";
  }

  const ir::Graph& captured_;
  const ir::UserRulesRef& rules_;
  const ir::Data& inputs_;
  RandomState random_;
  ir::Graph whole_;
  absl::flat_hash_map<const ir::Value*, ir::Value*> images_;
  ir::Values values_;
  absl::flat_hash_map<const ir::Value*, int> place_;
  DebugReport report_;
};

}  // namespace

bool same_elements(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || !identical(a.shape(), b.shape())) return false;
  const Tensor x = ir::packed(a), y = ir::packed(b);
  const auto count = static_cast<size_t>(x.numel().value());
  switch (a.dtype()) {
    case DType::f16:
      return same_words<uint16_t>(x.data(), y.data(), count, 0x7C00);
    case DType::bf16:
      return same_words<uint16_t>(x.data(), y.data(), count, 0x7F80);
    case DType::c64:
      return same_words<uint32_t>(x.data(), y.data(), 2 * count, 0x7F800000);
    case DType::f32:
      return same_words<uint32_t>(x.data(), y.data(), count, 0x7F800000);
    case DType::c128:
      return same_words<uint64_t>(x.data(), y.data(), 2 * count, 0x7FF0000000000000);
    case DType::f64:
      return same_words<uint64_t>(x.data(), y.data(), count, 0x7FF0000000000000);
    default:
      return std::memcmp(x.data(), y.data(), count * size_of(a.dtype())) == 0;
  }
}

DebugReport debug(const ir::Graph& captured, const Program& program, const ir::UserRulesRef& rules,
                  const ir::Data& inputs) {
  const GradMode off(false);
  const AutocastScope over(DType::f32);  // the casts are in the graph
  return Debugger(captured, rules, inputs).run(program);
}

}  // namespace lathe::jit
