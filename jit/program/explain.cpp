// A plan in words: every step with what runs it and the user's line; in all detail also its bits
// class, its figures, and why not another.
#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/base/flags.h"
#include "core/op/host_function.h"
#include "jit/program/steps.h"
#include "kernels/table/table.h"

namespace lathe::jit {
namespace {

std::string text_of(const ir::Value* v) {
  return absl::StrCat(v->name().empty() ? "" : absl::StrCat("%", v->name(), ": "),
                      ir::to_string(v->type()));
}

std::string with_site(std::string line, const ir::Node& n) {
  if (n.site().known()) absl::StrAppend(&line, "    # ", to_string(n.site()));
  return line;
}

std::string head(const ir::Node& n, std::string_view what) {
  const auto result = [](std::string* s, const ir::Value* v) { *s += text_of(v); };
  return with_site(absl::StrCat(what, " -> ", absl::StrJoin(n.out(), ", ", result)), n);
}

/// Whether the entry that the table would choose keeps operands packed. Not by choose_entry(),
/// which throws where a fallback is an error: what is explained does not run.
bool packs(const Query& query) {
  const Entry* found = find_entry(query);
  return found != nullptr && found->pack != nullptr;
}

/// What the table is asked about this op.
template <class Ask>
auto with_query(const Step& s, const Ask& ask) {
  std::vector<Tensor> held;
  std::vector<Arg> values;
  held.reserve(s.node->in().size());
  for (const ir::Value* v : s.node->in()) {
    if (const TensorType* t = v->type().tensor()) {
      held.push_back(ir::stand_in(*t));
      values.push_back(Arg(held.back()));
    } else {
      values.push_back(Arg(v->type().scalar()->value.value_or(Int(0))));
    }
  }
  ir::Filled filled = ir::fill(s.node->attrs(), s.node->places(), values);
  return ask(make_query(*s.node->op(), filled.args(), s.types));
}

/// Which entry of the table runs this op, and every other's reason.
std::string choice(const Step& s) {
  return with_query(s, [&](const Query& query) {
    std::string out = explain_text(query);
    if (std::find(s.lasting.begin(), s.lasting.end(), true) != s.lasting.end() && packs(query))
      absl::StrAppend(&out, "\nwhat it multiplies by is a constant: packed once, for all calls");
    const auto shared = [](const Step::Shared& operand) { return operand.number >= 0; };
    if (absl::c_any_of(s.shared, shared) && packs(query))
      absl::StrAppend(&out,
                      "\nother steps read an operand of it alike: packed once a call, where each "
                      "would pack it");
    return out;
  });
}

/// Why generated code does not run a kernel, if it does not.
Verdict generated(const Kernel& kernel, const MachineCode& code, std::string_view engine) {
  if (engine == "simd" || engine == "nodes")
    return Verdict::no(Reason::engine, std::string(engine));
  size_t axes = kernel.axes.size();
  if (axes > static_cast<size_t>(kMaxRank))
    return Verdict::no(Reason::rank, absl::StrCat(axes, " axes, at most ", kMaxRank));
  if (code.compiled()) return Verdict::yes();
  if (const CodegenOrReason& llvm = open_codegen(); llvm.codegen == nullptr)
    return Verdict::no(llvm.broken ? Reason::not_loadable : Reason::not_found, llvm.reason);
  if (code.asked()) (void)code.compile();  // or waits for who is at it
  if (code.compiled()) return Verdict::yes();
  std::string failure = code.failure();
  return failure.empty() ? Verdict::no(Reason::not_ready)
                         : Verdict::no(Reason::not_compiled, std::move(failure));
}
template <class K>
Verdict generated(const K& kernel) {
  return generated(kernel.loops(), kernel.code(), flag_text(Flag::engine));
}

/// By which of the two it would run now.
template <class K>
Engine engine_of(const K& kernel) {
  return generated(kernel).accepted() ? Engine::generated : Engine::simd;
}

/// What a position of all axes takes.
std::string work_text(const Kernel& kernel) {
  const Facts& facts = kernel.facts;
  const auto step = [](std::string* out, const ScheduleStep& s) { *out += to_string(s); };
  return absl::StrCat(
      kernel.axes.size(), " axes; an element: ", facts.loads, " loads, about ",
      facts.flops_per_element, " operations, ", facts.stores, " stores",
      kernel.schedule.empty() ? "" : "; schedule: ", absl::StrJoin(kernel.schedule, ", ", step));
}

/// The engines that a kernel can run on, as the table's entries are told. `moved`: as a copy, by
/// none of them.
template <class K>
std::string engines(const K& kernel, bool moved) {
  const Verdict code = moved ? Verdict::no(Reason::no_arithmetic) : generated(kernel);
  const size_t axes = kernel.loops().axes.size();
  const std::string work = work_text(kernel.loops());
  const Verdict later = Verdict::no(Reason::later, moved ? "3 of 3" : "2 of 2");
  const auto told = [&](const Verdict& v) {
    return v.accepted() ? absl::StrCat("chosen (", work, ")") : v.text();
  };
  return absl::StrCat(moved ? absl::StrCat("own.copy (defined): chosen (", axes, " axes)\n") : "",
                      "generated (defined): ", told(code), "\nown.simd (defined): ",
                      told(moved || code.accepted() ? later : Verdict::yes()));
}

std::string indent(std::string_view text) {
  std::string out;
  for (std::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty()))
    absl::StrAppend(&out, "      ", line, "\n");
  return out;
}

std::string names(const ir::Node& n) {
  std::string out;
  if (n.is(ir::Structure::group))
    for (const ir::Node* inner : n.block(0).nodes())
      absl::StrAppend(&out, "        ", head(*inner, inner->op()->name()), "\n");
  return out;
}

/// `whole`: it is a step by itself, not run in pieces.
std::string kernel_text(const Step& s, bool whole) {
  return indent(engines(*s.kernel, whole && s.kernel->moves(wanted_engine()))) + names(*s.node);
}

std::string title(const ir::Node& n) {
  if (n.is(ir::Structure::op) && n.op()->extra.host != HostCall::none)
    return head(n, absl::StrCat(n.op()->name(), " of ", to_string(n.literal(0))));
  if (n.is(ir::Structure::op)) return head(n, n.op()->name());
  if (n.is(ir::Structure::group))
    return head(n, absl::StrCat("group of ", n.block(0).nodes().size(), " ops"));
  if (n.is(ir::Structure::call)) return head(n, absl::StrCat("call @", n.callee()));
  return head(n, name(n.structure()));
}

/// In place of an entry's name: of a fill that nobody would see.
constexpr std::string_view kBlank = "own.blank";
/// Of a write to the beginning of what a value that ends becomes.
constexpr std::string_view kExtend = "own.extend";

/// A step's lines after its title.
std::string body(const Step& s, bool whole) {
  const bool host = s.node->is(ir::Structure::op) && s.node->op()->extra.host != HostCall::none;
  if (host) return "";  // its title names who runs it
  if (s.blank)
    return indent(absl::StrCat(kBlank, " (defined): chosen (1 of 1: what is made is overwritten)"));
  if (s.extends)
    return indent(absl::StrCat(kExtend, " (defined): chosen (1 of 1: it begins with what ends)"));
  return s.kind == Step::Kind::kernel ? kernel_text(s, whole) : indent(choice(s));
}

/// What the steps of a row group have in common.
std::string tiling(const FusedRows& rows) {
  const Kernel& loops = rows.kernel.loops();
  const std::string piece = to_string(loops.axes.back().extent);
  return loops.line ? absl::StrCat("go along one line of ", to_string(*loops.line),
                                   " elements, by pieces of ", piece)
                    : absl::StrCat("are tiled together by rows, a few of ",
                                   to_string(rows_of(rows)), " at a time");
}

/// A row group: each of its members, and once how all of them run.
void explain_rows(const Step& s, std::string& out, int& number) {
  const FusedRows& rows = *s.rows;
  const Kernel& loops = rows.kernel.loops();
  const auto last = number + static_cast<int>(rows.members.size());
  const std::string how =
      absl::StrCat("steps ", number + 1, " to ", last, " ", tiling(rows), ": one kernel of ",
                   loops.body.size(), loops.body.size() == 1 ? " statement" : " statements");
  for (const ir::Node* n : rows.members) {
    absl::StrAppend(&out, "  ", ++number, ". ", title(*n), "\n      ", how, "\n");
    if (n == rows.members.front()) out += indent(engines(rows.kernel, /*moved=*/false));
    out += names(*n);
  }
}

void explain_steps(absl::Span<const Step> steps, std::string& out, int& number);

/// What a step runs in panels, as steps before it. How that is.
std::string explain_panels(const Panels& panels, std::string& out, int& number) {
  const int first = number + 1;
  explain_steps({&panels.product, 1}, out, number);
  explain_steps({&panels.rows, 1}, out, number);
  return absl::StrCat("where much lies between, steps ", first, " to ", number,
                      " run with it, some rows at a time");
}

/// What is special about a step, if anything is.
std::string how(const Step& s) {
  if (!s.replaces.empty()) return "writes where the input lies that it replaces";
  if (s.settled)
    return absl::StrCat("computed once for each set of sizes, where it takes ", kMostSettled >> 10,
                        " KiB or less");
  return "";
}

void explain_steps(absl::Span<const Step> steps, std::string& out, int& number) {
  auto line = [&](const Step& s, std::string_view how, bool whole) {
    absl::StrAppend(&out, "  ", ++number, ". ", title(*s.node), "\n");
    if (!how.empty()) absl::StrAppend(&out, "      ", how, "\n");
    absl::StrAppend(&out, body(s, whole));
  };
  for (const Step& s : steps) {
    switch (s.kind) {
      case Step::Kind::op:
      case Step::Kind::kernel:
        line(s, s.panels ? explain_panels(*s.panels, out, number) : how(s), true);
        if (s.epilogue)
          line(*s.epilogue, absl::StrCat("fused into step ", number, " as its epilogue"), false);
        break;
      case Step::Kind::rows:
        explain_rows(s, out, number);
        break;
      case Step::Kind::structure:
        absl::StrAppend(&out, "  ", ++number, ". ", title(*s.node), "\n",
                        indent("own.structure (defined): chosen (1 of 1)"));
        for (const Step::Inner& inner : s.blocks) explain_steps(inner.steps, out, number);
        break;
    }
  }
}

/// In place of a kernel's name: of a view that is never made.
constexpr std::string_view kNoCopy = "no copy";

/// The name of what runs a step.
std::string entry_of(const Step& s, bool whole) {
  if (s.kind == Step::Kind::structure) return "own.structure";
  if (s.node->is(ir::Structure::op) && s.node->op()->extra.host != HostCall::none)
    return s.node->literal(0).function_->is_data() ? "own.print" : "Python";
  if (s.blank) return std::string(kBlank);
  if (s.extends) return std::string(kExtend);
  if (s.kind == Step::Kind::kernel) {
    const bool moved = whole && s.kernel->moves(wanted_engine());
    return std::string(name_of(moved ? Engine::moved : engine_of(*s.kernel)));
  }
  if (s.elided) return std::string(kNoCopy);
  return with_query(s, [](const Query& query) {
    for (const Explained& e : lathe::explain(query))
      if (e.chosen) return std::string(e.entry->name);
    return std::string("none");
  });
}

void note_steps(absl::Span<const Step> steps, Program::Runs& out, int& unit) {
  auto note = [&](const Step& s, std::string_view how, bool whole) {
    out[s.node] = {entry_of(s, whole), std::string(how), how.empty() ? -1 : unit};
  };
  for (const Step& s : steps) {
    if (s.panels) {
      note_steps({&s.panels->product, 1}, out, unit);
      note_steps({&s.panels->rows, 1}, out, unit);
    }
    ++unit;
    if (s.kind == Step::Kind::rows) {
      const std::string entry(name_of(engine_of(s.rows->kernel)));
      const std::string how =
          s.rows->kernel.loops().line ? "one kernel along a line" : "tiled together by rows";
      for (const ir::Node* n : s.rows->members) out[n] = {entry, how, unit};
      continue;
    }
    note(s, s.epilogue ? "run as one, with its epilogue" : "", /*whole=*/true);
    if (s.epilogue) note(*s.epilogue, "run as one, with its epilogue", /*whole=*/false);
    for (const Step::Inner& inner : s.blocks) note_steps(inner.steps, out, unit);
  }
}

// ── a line a step ──

constexpr size_t kMostNames = 6;

/// What runs as a step: some of its ops, where they are many.
std::string shortened(const Step& s) {
  const std::string all = what_runs(s);
  std::vector<std::string_view> ops = absl::StrSplit(all, '+');
  if (ops.size() <= kMostNames) return all;
  const size_t more = ops.size() - (kMostNames - 1);
  ops.resize(kMostNames - 1);
  return absl::StrCat(absl::StrJoin(ops, "+"), "+", more, " more");
}

/// The entries that run a step: of its parts in order, each once.
std::string entries_of(const Step& s) {
  std::vector<std::string> all;
  const auto add = [&](std::string one) {
    if (!absl::c_linear_search(all, one)) all.push_back(std::move(one));
  };
  each_part(s, [&](const Step& part) {
    add(part.rows ? std::string(name_of(engine_of(part.rows->kernel)))
                  : entry_of(part, &part == &s));
  });
  return absl::StrJoin(all, "+");
}

constexpr size_t kMostResults = 4;

/// " -> " what a step gives: of a product with an epilogue, what that does; some of much.
std::string results_text(const Step& s) {
  const Step& last = s.epilogue ? *s.epilogue : s;
  const size_t all = last.out.size(), shown = all <= kMostResults ? all : kMostResults - 1;
  std::vector<std::string> texts;
  for (size_t k = 0; k < shown; ++k) texts.push_back(text_of(result(last, k)));
  if (shown < all) texts.push_back(absl::StrCat(all - shown, " more"));
  return texts.empty() ? "" : absl::StrCat(" -> ", absl::StrJoin(texts, ", "));
}

/// How many lines of numbers of their own a step has in all detail, without what is in its blocks.
int parts_of(const Step& s) {
  int parts = 0;
  each_part(s, [&](const Step& part) {
    parts += part.rows ? static_cast<int>(part.rows->members.size()) : 1;
  });
  return parts;
}

/// Of a structure with two blocks.
std::string_view block_name(const ir::Node& n, size_t block) {
  if (n.is(ir::Structure::if_)) return block == 0 ? "then" : "else";
  return block == 0 ? "while" : "do";
}

using Entries = std::map<std::string, int>;  // how many steps each runs

void list_steps(absl::Span<const Step> steps, int depth, std::string& out, int& number,
                Entries& entries) {
  for (const Step& s : steps) {
    const int parts = parts_of(s), first = number + 1;
    const std::string entry = entries_of(s);
    number += parts;
    ++entries[entry];
    const std::string line =
        absl::StrCat(first, parts > 1 ? absl::StrCat("-", number) : "", ". ", shortened(s),
                     results_text(s), "    ", entry, s.replaces.empty() ? "" : ", in place");
    const std::string margin(static_cast<size_t>(2 * depth), ' ');
    absl::StrAppend(&out, margin, with_site(line, *s.node), "\n");
    for (size_t k = 0; k < s.blocks.size(); ++k) {
      if (s.blocks.size() > 1) absl::StrAppend(&out, margin, block_name(*s.node, k), ":\n");
      list_steps(s.blocks[k].steps, depth + 1, out, number, entries);
    }
  }
}

/// A line for each step, numbered as in all detail, and how many steps each entry runs.
std::string listed(absl::Span<const Step> steps) {
  std::string out;
  Entries entries;
  int number = 0;
  list_steps(steps, 1, out, number, entries);
  int count = 0;
  for (const auto& [entry, n] : entries) count += n;
  const auto pair = [](std::string* s, const auto& one) {
    absl::StrAppend(s, one.first, " ", one.second);
  };
  absl::StrAppend(&out, count, count == 1 ? " step" : " steps",
                  number > count ? absl::StrCat(" of ", number, " parts") : "",
                  entries.empty() ? "" : ": ", absl::StrJoin(entries, ", ", pair), "\n");
  return out;
}

}  // namespace

Program::Runs Program::runs() const {
  ir::GraphScope scope(graph_);
  Runs out;
  int unit = 0;
  note_steps(steps_, out, unit);
  return out;
}

void Program::add_node_kernels(const ir::Block& block, const Runs& runs,
                               std::vector<NodeKernel>& out) const {
  for (const ir::Node* n : block.nodes()) {
    if (n->is(ir::Structure::constant)) continue;
    const auto run = runs.find(n);
    const std::string kernel = run == runs.end() ? std::string(kNoCopy) : run->second.entry;
    if (n->is(ir::Structure::group)) {
      for (const ir::Node* inner : n->block(0).nodes())
        out.push_back({inner->op()->name(), kernel, inner->site()});
      continue;
    }
    const bool op = n->is(ir::Structure::op);
    out.push_back({op ? n->op()->name() : std::string(name(n->structure())), kernel, n->site()});
    for (const ir::Block* inner : n->blocks()) add_node_kernels(*inner, runs, out);
  }
}

std::vector<Program::NodeKernel> Program::node_kernels() const {
  std::vector<NodeKernel> out;
  add_node_kernels(graph_.body(), runs(), out);
  for (const auto& [name, program] : functions_)
    program->add_node_kernels(program->graph_.body(), program->runs(), out);
  return out;
}

std::string Program::explain(ir::Detail detail) const {
  std::string out = own_explain(detail);
  for (const auto& [name, program] : functions_)
    absl::StrAppend(&out, "function @", name, ":\n", program->own_explain(detail));
  return out;
}

std::string Program::own_explain(ir::Detail detail) const {
  ir::GraphScope scope(graph_);
  std::string out;
  int number = 0;
  if (detail == ir::Detail::brief)
    out = listed(steps_);
  else {
    for (const auto& [pass, count] : changes_)
      absl::StrAppend(&out, absl::StrFormat("%-16s %d changes\n", pass, count));
    explain_steps(steps_, out, number);
  }
  const std::lock_guard hold(mutex_);
  if (peak_.bytes > 0)
    absl::StrAppend(&out, "intermediates: ", peak_.bytes, " bytes in the largest call, of which ",
                    peak_.least, " live at one step\n");
  return out;
}

}  // namespace lathe::jit
