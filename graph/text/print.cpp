// The printer. One pass gives every value its name, a second writes lines.
#include <absl/container/flat_hash_set.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include "graph/ir/literal.h"
#include "graph/ir/text.h"

namespace lathe::ir {
namespace {

constexpr size_t kSiteColumn = 60;

/// A user's name as the text can hold it: letters, digits, '_' and anything beyond ASCII.
std::string clean(std::string_view name) {
  std::string out;
  bool digits = true;
  for (char c : name) {
    auto byte = static_cast<unsigned char>(c);
    bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                c == '_' || byte >= 0x80;
    out += good ? c : '_';
    digits &= c >= '0' && c <= '9';
  }
  return digits ? "" : out;
}

class Printer {
 public:
  explicit Printer(PrintOptions options) : options_(options) {}

  std::string graph(const Graph& g) {
    name_all(g);
    header(g);
    facts(g);
    block(g.body(), 1);
    for (const Write& w : g.writes())
      line(1, absl::StrCat("write ", at(w.input), " = ", at(w.value)));
    std::string out = "return";
    for (size_t i = 0; i < g.outputs().size(); ++i)
      absl::StrAppend(&out, i == 0 ? " " : ", ", at(g.outputs()[i]));
    line(1, out, g.body().end()->site());
    line(0, "}");
    return std::move(text_);
  }

  std::string gradient(const GradientDeclaration& d) {
    std::string out =
        absl::StrCat("gradient @", d.name, " of @", d.of, " wrt ", absl::StrJoin(d.wrt, ", "));
    if (d.from != 0) absl::StrAppend(&out, " from ", d.from);
    if (!d.keeping.empty()) absl::StrAppend(&out, " keeping ", absl::StrJoin(d.keeping, ", "));
    if (d.seeded) out += " seeded";
    if (!d.results.empty())
      absl::StrAppend(
          &out, " -> (",
          absl::StrJoin(d.results, ", ", [](std::string* s, const Type& t) { *s += to_string(t); }),
          ")");
    line(0, out, d.site);
    return std::move(text_);
  }

  void name_all(const Graph& g) {
    graph_ = &g;
    for (Value* v : g.inputs()) name(v);
    name_block(g.body());
  }

  /// Every value with its name, without '%'.
  std::vector<std::pair<std::string, Value*>> all_names(const Graph& g) {
    name_all(g);
    std::vector<std::pair<std::string, Value*>> out;
    for (Value* v : g.inputs()) out.emplace_back(at(v).substr(1), v);
    for_each_node(g.body(), [&](Node* n) {
      for (Value* v : n->out()) out.emplace_back(at(v).substr(1), v);
    });
    return out;
  }

  std::string node(const Node& n) {
    for (Value* v : n.in())
      if (!names_.contains(v)) name(v);
    for (Value* v : n.out()) name(v);
    return line_of(n);
  }

  /// Of a node whose values have names.
  std::string line_of(const Node& n) const { return results(n) + head(n); }
  std::string at(const Value* v) const {
    auto it = names_.find(v);
    return it == names_.end() ? "%?" : it->second;
  }

 private:
  // ── names ──
  void name(Value* v) {
    std::string base = options_.names ? clean(v->name()) : "";
    if (base.empty()) {
      names_[v] = absl::StrCat("%", unnamed_++);
      return;
    }
    int& count = taken_[base];
    names_[v] = count == 0 ? absl::StrCat("%", base) : absl::StrCat("%", base, ".", count);
    ++count;
  }
  void name_block(const Block& b) {
    for (Node* n = b.first(); n != nullptr; n = n->next()) {
      for (Value* v : n->out()) name(v);
      for (Block* inner : n->blocks()) {
        for (Value* v : inner->parameters()) name(v);
        name_block(*inner);
      }
    }
  }
  std::string list(absl::Span<Value* const> values) const {
    std::string out;
    for (Value* v : values) absl::StrAppend(&out, out.empty() ? "" : ", ", at(v));
    return out;
  }

  // ── lines ──
  void line(int depth, std::string_view what, Site site = {}) {
    size_t start = text_.size();
    text_.append(static_cast<size_t>(2 * depth), ' ');
    text_.append(what);
    if (options_.sites && site.known()) {
      size_t width = text_.size() - start;
      text_.append(width + 2 < kSiteColumn ? kSiteColumn - width : 2, ' ');
      absl::StrAppend(&text_, "# ", lathe::to_string(site));
    }
    text_ += '\n';
  }

  void header(const Graph& g) {
    std::string out = absl::StrCat("graph ", g.name(), "(");
    for (size_t i = 0; i < g.inputs().size(); ++i)
      absl::StrAppend(&out, i == 0 ? "" : ", ", typed(g.inputs()[i]));
    out += ") -> (";
    for (size_t i = 0; i < g.outputs().size(); ++i)
      absl::StrAppend(&out, i == 0 ? "" : ", ", to_string(g.outputs()[i]->type()));
    line(0, out + ") {");
  }

  void facts(const Graph& g) {
    for (size_t k = 0; k < g.symbols().size(); ++k) {
      const SymbolInfo& s = g.symbols()[k];
      std::string out = absl::StrCat(s.is_size ? "size s" : "int s", k);
      if (options_.hints) absl::StrAppend(&out, " = ", s.hint);
      line(1, out);
    }
    for (const SymFact& f : g.assumptions()) line(1, absl::StrCat("assume ", to_string(f)), f.site);
    for (const SymFact& f : g.checks()) line(1, absl::StrCat("check ", to_string(f)), f.site);
  }

  // ── nodes ──
  std::string typed(const Value* v) const {
    return absl::StrCat(at(v), ": ", to_string(v->type()));
  }

  std::string results(const Node& n) const {
    std::string out;
    for (Value* v : n.out()) absl::StrAppend(&out, out.empty() ? "" : ", ", typed(v));
    return out.empty() ? "" : out + " = ";
  }

  std::string slot(const Node& n, size_t param) const {
    auto p = static_cast<int>(param);
    if (Value* v = n.value(p)) return at(v);
    const Arg& literal = n.attrs()[param];
    Values values = n.values(p);
    if (values.empty()) return literal_text(literal);
    std::string out = "[";
    for (size_t i = 0; i < values.size(); ++i)
      absl::StrAppend(&out, i == 0 ? "" : ", ",
                      values[i] != nullptr ? at(values[i]) : literal_text(literal.list_->data[i]));
    return out + "]";
  }

  std::string op_head(const Node& n) const {
    const Op& op = *n.op();
    std::string out = op.name();
    if (op.extra.version != 1) absl::StrAppend(&out, "@", op.extra.version);
    out += "(";
    bool first = true, named = false;  // a name where there is a default, and behind it
    for (size_t i = 0; i < op.schema.params.size() && i < n.attrs().size(); ++i) {
      const Param& p = op.schema.params[i];
      named = named || p.has_default;
      bool value = n.value(static_cast<int>(i)) != nullptr;
      if (p.has_default && !value && equal(n.attrs()[i], p.default_value[0]) && plain(n, i))
        continue;
      absl::StrAppend(&out, first ? "" : ", ", named ? p.name + "=" : "", slot(n, i));
      first = false;
    }
    return out + (n.detached() ? ") detached" : ")");
  }
  static bool plain(const Node& n, size_t param) {
    for (const Place& p : n.places())
      if (p.param == param) return false;
    return true;
  }

  std::string carried(const Node& n, const Values& parameters, size_t first_parameter,
                      size_t first_in) const {
    std::string out = "(";
    for (size_t i = 0; first_parameter + i < parameters.size(); ++i)
      absl::StrAppend(&out, i == 0 ? "" : ", ", typed(parameters[first_parameter + i]), " = ",
                      first_in + i < n.in().size() ? at(n.in(first_in + i)) : "%?");
    return out + ")";
  }

  std::string constant_head(const Node& n) const {
    const Arg& a = n.literal(0);
    if (a.tag != Tag::tensor) return "constant " + literal_text(a);
    int index = graph_ != nullptr ? graph_->constant_index(a.tensor()) : -1;
    if (index >= 0) return absl::StrCat("const#", index);
    return "constant " + elements_text(a.tensor());
  }

  /// Everything up to the first block.
  std::string head(const Node& n) const {
    switch (n.structure()) {
      case Structure::op:
        return op_head(n);
      case Structure::constant:
        return constant_head(n);
      case Structure::if_:
        return "if " + at(n.in(0));
      case Structure::while_:
        return "while " + carried(n, n.block(0).parameters(), 0, 0);
      case Structure::for_:
        return absl::StrCat("for ", typed(n.block(0).parameters()[0]), " in range(", slot(n, 0),
                            ", ", slot(n, 1), ", ", slot(n, 2), ") ",
                            carried(n, n.block(0).parameters(), 1, n.carried_from()));
      case Structure::call:
        return absl::StrCat("call @", n.callee(), "(", list(n.in()), ")");
      case Structure::group:
        return absl::StrCat("group ", literal_text(n.literal(0)), " ",
                            carried(n, n.block(0).parameters(), 0, 0));
      case Structure::yield:
        return absl::StrCat("yield ", list(n.in()));
    }
    return "?";
  }

  void inner(const Block& b, int depth) {
    block(b, depth);
    line(depth, b.yields().empty() ? "yield" : absl::StrCat("yield ", list(b.yields())),
         b.end()->site());
  }

  void block(const Block& b, int depth) {
    for (Node* n = b.first(); n != nullptr; n = n->next()) {
      std::string first = results(*n) + head(*n);
      if (n->blocks().empty()) {
        line(depth, first, n->site());
        continue;
      }
      line(depth, first + " {", n->site());
      for (size_t i = 0; i < n->blocks().size(); ++i) {
        if (i > 0) line(depth, n->is(Structure::if_) ? "} else {" : "} do {");
        inner(n->block(i), depth + 1);
      }
      line(depth, "}");
    }
  }

  PrintOptions options_;
  const Graph* graph_ = nullptr;
  absl::flat_hash_map<const Value*, std::string> names_;
  absl::flat_hash_map<std::string, int> taken_;
  int unnamed_ = 0;
  std::string text_;
};

}  // namespace

std::string print(const Graph& graph, PrintOptions options) {
  std::string out = Printer(options).graph(graph);
  for (const auto& f : graph.functions()) absl::StrAppend(&out, "\n", Printer(options).graph(*f));
  for (const GradientDeclaration& d : graph.gradients())
    absl::StrAppend(&out, "\n", Printer(options).gradient(d));
  return out;
}

std::vector<std::pair<std::string, Value*>> printed_names(const Graph& graph) {
  return Printer({}).all_names(graph);
}

struct GraphText::Printed {
  Printer printer{{}};
};
GraphText::GraphText(const Graph& graph) : printed_(std::make_unique<Printed>()) {
  printed_->printer.name_all(graph);
}
GraphText::~GraphText() = default;
std::string GraphText::line(const Node& node) const { return printed_->printer.line_of(node); }
std::string GraphText::name(const Value& value) const {
  return printed_->printer.at(&value).substr(1);
}

std::string print(const Node& node) { return Printer({}).node(node); }

std::string to_string(const SymFact& f) {
  constexpr const char* kHolds[] = {" == ", " != ", " < ", " <= "};
  constexpr const char* kFails[] = {" != ", " == ", " >= ", " > "};
  const char* between = (f.holds ? kHolds : kFails)[static_cast<int>(f.relation)];
  return absl::StrCat(lathe::to_string(f.a), between, lathe::to_string(f.b));
}

}  // namespace lathe::ir
