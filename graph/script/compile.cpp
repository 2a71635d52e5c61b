#include "graph/script/compile.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <set>

#include "core/error.h"
#include "graph/script/evaluator.h"

namespace lathe::script {

// ── what can be seen without running ────────────────────────────────────────────────────────────
namespace {

void note_targets(const SyntaxTree& t, int node, std::vector<std::string>& out) {
  const Node& n = t[node];
  if (n.kind == Kind::name && std::find(out.begin(), out.end(), n.text) == out.end())
    out.push_back(n.text);
  if (n.kind == Kind::tuple || n.kind == Kind::list)
    for (int c : n.children) note_targets(t, c, out);
}

void note_assigned(const SyntaxTree& t, int node, std::vector<std::string>& out) {
  const Node& n = t[node];
  switch (n.kind) {
    case Kind::assign:
      for (size_t i = 0; i + 1 < n.children.size(); ++i) note_targets(t, n.children[i], out);
      return;
    case Kind::augmented:
      note_targets(t, n.children[0], out);
      return;
    case Kind::for_:
      note_targets(t, n.children[0], out);
      break;
    default:
      break;
  }
  for (int c : n.children) note_assigned(t, c, out);
}

void note_reads(const SyntaxTree& t, int node, const std::set<std::string>& local,
                std::vector<Reference>& out) {
  const Node& n = t[node];
  if (n.kind == Kind::name || n.kind == Kind::attribute) {
    // The longest dotted name made of names only.
    std::string dotted;
    int at = node;
    for (; t[at].kind == Kind::attribute; at = t[at].children[0])
      dotted = absl::StrCat(".", t[at].text, dotted);
    if (t[at].kind == Kind::name) {
      if (local.contains(t[at].text)) return;
      dotted = t[at].text + dotted;
      for (const Reference& r : out)
        if (r.dotted == dotted) return;
      out.push_back({dotted, n.line});
      return;
    }
  }
  for (int c : n.children) note_reads(t, c, local, out);
}

}  // namespace

std::vector<std::string> assigned_in(const SyntaxTree& tree, int node) {
  std::vector<std::string> out;
  note_assigned(tree, node, out);
  return out;
}

bool may_exit(const SyntaxTree& tree, int node, bool inside_loop) {
  const Node& n = tree[node];
  if (n.kind == Kind::return_) return true;
  if (n.kind == Kind::break_ || n.kind == Kind::continue_) return !inside_loop;
  bool loop = inside_loop || n.kind == Kind::while_ || n.kind == Kind::for_;
  return std::any_of(n.children.begin(), n.children.end(),
                     [&](int c) { return may_exit(tree, c, loop); });
}

bool has_break(const SyntaxTree& tree, int node) {
  const Node& n = tree[node];
  if (n.kind == Kind::break_) return true;
  if (n.kind == Kind::while_ || n.kind == Kind::for_) return false;
  return std::any_of(n.children.begin(), n.children.end(),
                     [&](int c) { return has_break(tree, c); });
}

std::vector<Reference> reads(const SyntaxTree& tree, int function) {
  std::set<std::string> local;
  const Node& f = tree[function];
  for (size_t i = 0; i + 1 < f.children.size(); ++i) local.insert(tree[f.children[i]].text);
  for (const std::string& s : assigned_in(tree, f.children.back())) local.insert(s);
  std::vector<Reference> out;
  for (int c : f.children) note_reads(tree, c, local, out);
  return out;
}

// ── running ─────────────────────────────────────────────────────────────────────────────────────
namespace {

void flatten_result(const Thing& t, ir::Data& out) {
  if (t.kind == Thing::Kind::tuple) {
    for (const Thing& item : t.items) flatten_result(item, out);
    return;
  }
  if (t.kind != Thing::Kind::datum)
    throw ScriptError(
        {.problem = "a script returns tensors, numbers, texts, None and tuples of them"});
  out.push_back(t.datum);
}

}  // namespace

ir::Data run(const SyntaxTree& tree, int function, Resolver& resolver, const ir::Data& arguments) {
  std::vector<Thing> things;
  for (const ir::Datum& d : arguments) things.emplace_back(d);
  Thing result = Evaluator(tree, resolver, 0).call(function, std::move(things), {});
  ir::Data out;
  flatten_result(result, out);
  return out;
}

ir::Traced compile(const SyntaxTree& tree, int function, Resolver& resolver,
                   absl::Span<const ir::InputSpec> inputs, ir::Host& host,
                   const ir::TraceOptions& options) {
  auto body = [&](const ir::Data& in) { return run(tree, function, resolver, in); };
  return ir::trace(body, inputs, host, options);
}

}  // namespace lathe::script
