// The levels below the graph as text: instructions on buffers, loops, vectors.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>

#include "core/base/error.h"
#include "jit/program/steps.h"

namespace lathe::jit {
namespace {

/// One list of instructions: straight-line, with a list inside for each block of a structure.
class Lister {
 public:
  Lister(const std::vector<ArenaBlock>& arena, const std::vector<size_t>& written)
      : arena_(arena), written_(written) {}

  void list(const std::vector<Step>& steps, int depth, bool top) {
    for (size_t i = 0; i < steps.size(); ++i) {
      const auto at = static_cast<int>(i);
      for (size_t k = 0; top && k < arena_.size(); ++k)
        if (arena_[k].first == at)
          line(depth, absl::StrCat("alloc   a", k, ": ", ir::to_string(ir::Type(arena_[k].type))));
      each_part(steps[i], [&](const Step& s) { instruction(s, depth); });
      for (const Step::Inner& inner : steps[i].blocks) {
        line(depth, absl::StrCat("block(", buffers(inner.parameters), ") {"));
        list(inner.steps, depth + 1, false);
        line(depth, absl::StrCat("} -> (", buffers(inner.yields), ")"));
      }
      for (size_t k = 0; top && k < arena_.size(); ++k)
        if (arena_[k].last == at) line(depth, absl::StrCat("dealloc a", k));
    }
  }
  std::string take() { return std::move(text_); }

 private:
  void line(int depth, std::string_view what) {
    absl::StrAppend(&text_, std::string(static_cast<size_t>(2 * depth), ' '), what, "\n");
  }
  static std::string buffers(const std::vector<int>& slots) {
    return absl::StrJoin(slots, ", ", [](std::string* s, int k) { absl::StrAppend(s, "b", k); });
  }

  /// The inputs that a step of the tail writes, and the results that it gives back.
  std::string tail_results(const Step& s) const {
    std::vector<std::string> written;
    std::vector<int> given_back;
    for (size_t k = 0; k < s.replaces.size(); ++k)
      if (s.replaces[k] == Step::kGivenBack)
        given_back.push_back(s.out[k]);
      else
        written.push_back(absl::StrCat(written_[static_cast<size_t>(s.replaces[k])]));
    return absl::StrCat("  inout input ", absl::StrJoin(written, ", "),
                        given_back.empty() ? "" : "  out ", buffers(given_back));
  }

  /// What its kernel copies box by box before it is read.
  static std::vector<int> staged(const Step& s) {
    std::vector<int> slots;
    const auto add = [&](const Kernel& kernel, const auto& input) {
      for (const ScheduleStep& step : kernel.schedule)
        if (step.kind == ScheduleKind::stage)
          slots.push_back(s.in[static_cast<size_t>(input(static_cast<size_t>(step.on)))]);
    };
    if (s.kernel != nullptr)
      add(s.kernel->loops(), [&](size_t b) { return s.kernel->tensors()[b]; });
    if (s.rows) add(s.rows->kernel.loops(), [](size_t b) { return b; });
    return slots;
  }

  void instruction(const Step& s, int depth) {
    if (s.replaced >= 0) {  // works on what the epilogue then changes in place
      product_ = s.out;
      replaced_ = s.epilogue->out[static_cast<size_t>(s.replaced)];
      line(depth, absl::StrCat(what_runs(*s.node), "  in ", buffers(s.in), "  out b", replaced_));
      return;
    }
    std::vector<int> in = s.in;
    if (s.extends) in.erase(in.begin());  // a fill that is no step
    const bool in_place = !product_.empty();
    std::erase_if(in, [&](int slot) {
      return std::find(product_.begin(), product_.end(), slot) != product_.end();
    });
    product_.clear();
    std::string text = s.rows ? what_runs(s) : what_runs(*s.node);
    if (!in.empty()) absl::StrAppend(&text, "  in ", buffers(in));
    if (in_place) {
      std::vector<int> others = s.out;
      std::erase(others, replaced_);
      absl::StrAppend(&text, "  inout b", replaced_);
      if (!others.empty()) absl::StrAppend(&text, "  out ", buffers(others));
    } else if (!s.replaces.empty())
      absl::StrAppend(&text, tail_results(s));
    else if (s.elided)
      absl::StrAppend(&text, "  view b", s.out[0]);
    else if (!s.out.empty())
      absl::StrAppend(&text, "  out ", buffers(s.out));
    if (s.over && !s.extends) absl::StrAppend(&text, " over b", s.in[0]);
    if (s.extends) absl::StrAppend(&text, " behind b", s.in[1]);
    if (s.blank) absl::StrAppend(&text, " unfilled");
    for (int slot : staged(s)) absl::StrAppend(&text, " stages b", slot);
    if (s.panels) absl::StrAppend(&text, " in panels");
    for (size_t k = 0; k < s.shared.size(); ++k)
      if (s.shared[k].number >= 0) absl::StrAppend(&text, " packs b", s.in[k], " once");
    for (int block : s.arena)
      if (block >= 0) absl::StrAppend(&text, " at a", block);
    if (s.node->site().known()) absl::StrAppend(&text, "    # ", to_string(s.node->site()));
    line(depth, text);
  }

  const std::vector<ArenaBlock>& arena_;
  const std::vector<size_t>& written_;
  std::vector<int> product_;  // of the contraction before, which the next part takes the place of
  int replaced_ = -1;         // and the result that lies there
  std::string text_;
};

}  // namespace

std::string what_runs(const ir::Node& n) {
  if (n.is(ir::Structure::op)) return n.op()->name();
  if (n.is(ir::Structure::call)) return absl::StrCat("call @", n.callee());
  if (!n.is(ir::Structure::group)) return std::string(name(n.structure()));
  std::vector<std::string> ops;
  for (const ir::Node* inner : n.block(0).nodes()) ops.push_back(inner->op()->name());
  return absl::StrJoin(ops, "+");
}

std::string what_runs(const Step& step) {
  std::vector<std::string> nodes;
  const auto add = [&](const ir::Node& n) { nodes.push_back(what_runs(n)); };
  each_node(step, add);
  return absl::StrJoin(nodes, "+");
}

std::string Program::instructions() const {
  std::string out = own_instructions();
  for (const auto& [name, program] : functions_)
    absl::StrAppend(&out, "\n", program->own_instructions());
  return out;
}

std::string Program::own_instructions() const {
  ir::GraphScope scope(graph_);
  std::string out = absl::StrCat("instructions ", graph_.name(), " {\n");
  for (size_t i = 0; i < input_slots_.size(); ++i)
    absl::StrAppend(&out, "  input   b", input_slots_[i], ": ",
                    ir::to_string(graph_.inputs()[i]->type()), "\n");
  for (const auto& [slot, value] : constants_) absl::StrAppend(&out, "  const   b", slot, "\n");
  Lister lister(arena_, written_);
  lister.list(steps_, 1, true);
  const size_t results = graph_.outputs().size();
  std::vector<std::string> given;
  for (size_t k = 0; k < results; ++k) given.push_back(absl::StrCat("b", result_slots_[k]));
  return absl::StrCat(out, lister.take(), "  return  ", absl::StrJoin(given, ", "), "\n}\n");
}

std::string Program::loops() const {
  std::string out;
  each_kernel(
      [&](const auto& k) { absl::StrAppend(&out, out.empty() ? "" : "\n", k.loops().print()); });
  return out;
}

std::string Program::vectors() const {
  std::string out;
  each_kernel([&](const auto& k) { absl::StrAppend(&out, out.empty() ? "" : "\n", k.vectors()); });
  return out;
}

}  // namespace lathe::jit
