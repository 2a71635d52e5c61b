#include "graph/pipeline.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <chrono>

#include "core/flags.h"
#include "graph/passes/passes.h"
#include "graph/verify.h"

namespace lathe::ir {
namespace {

struct Pass {
  std::string_view name;
  int (*run)(Graph&);
};

constexpr int kMostRounds = 8;  // in practice two; a pair of passes that undo each other stops here

class Run {
 public:
  explicit Run(Graph& graph) : graph_(graph) {}

  int pass(const Pass& p) {
    if (flag_has(Flag::rewrites_off, p.name)) return 0;
    int64_t limit = flag_count(Flag::rewrite_limit);
    if (limit > 0 && total_ >= limit) return 0;
    PassReport r{std::string(p.name), 0, graph_.node_count(), 0, 0};
    auto start = std::chrono::steady_clock::now();
    r.changes = p.run(graph_);
    r.milliseconds =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    r.nodes_after = graph_.node_count();
    total_ += r.changes;
    report_.passes.push_back(r);
    return r.changes;
  }
  Report take() { return std::move(report_); }

 private:
  Graph& graph_;
  Report report_;
  int64_t total_ = 0;
};

}  // namespace

Report optimise(Graph& graph) {
  Run run(graph);
  for (int round = 0; round < kMostRounds; ++round) {
    int changes = run.pass({"eliminate_dead", eliminate_dead});
    changes += run.pass({"merge_common", merge_common});
    if (changes == 0) break;
  }
  run.pass({"fuse_pointwise", fuse_pointwise});
  run.pass({"eliminate_dead", eliminate_dead});
  verify(graph);
  return run.take();
}

std::string Report::print() const {
  std::string out;
  for (const PassReport& p : passes)
    absl::StrAppend(&out, absl::StrFormat("%-16s %4d -> %4d nodes  %7.3f ms  %s\n", p.name, p.nodes_before,
                                          p.nodes_after, p.milliseconds,
                                          p.changes == 0 ? "(unchanged)" : absl::StrCat(p.changes, " changes")));
  return out;
}

}  // namespace lathe::ir
