#include "graph/ir/ir.h"

#include <absl/strings/str_cat.h>

#include "core/base/error.h"

namespace lathe::ir {

std::string_view name(Structure structure) {
  constexpr std::string_view kNames[] = {"op",    "constant", "if",    "for",
                                         "while", "call",     "group", "yield"};
  return kNames[static_cast<size_t>(structure)];
}

// ── reading ─────────────────────────────────────────────────────────────────────────────────────

Operands::Operands(Operands&& o) noexcept
    : attrs(std::move(o.attrs)), in(std::move(o.in)), places(std::move(o.places)) {}

Operands& Operands::operator=(Operands o) noexcept {
  attrs = std::move(o.attrs);
  in = std::move(o.in);
  places = std::move(o.places);
  return *this;
}

void Operands::push(const Item& item) {
  if (item.value == nullptr) {
    attrs.push(item.literal);
    return;
  }
  places.push_back({static_cast<uint16_t>(attrs.size()), -1});
  in.push_back(item.value);
  attrs.push(Arg());
}

void Operands::push_list(absl::Span<const Item> items) {
  std::vector<Arg> list;
  for (size_t i = 0; i < items.size(); ++i) {
    list.push_back(items[i].literal);
    if (items[i].value == nullptr) continue;
    places.push_back({static_cast<uint16_t>(attrs.size()), static_cast<int32_t>(i)});
    in.push_back(items[i].value);
  }
  ArgList span{list.data(), list.size()};
  attrs.push(Arg(span));
}

const TensorType& Value::tensor() const {
  if (const TensorType* t = type_.tensor()) return *t;
  LATHE_INTERNAL(absl::StrCat("%", name_, " is no tensor but ", to_string(type_)));
}

Value* Node::value(int param) const {
  for (size_t i = 0; i < places_.size(); ++i)
    if (places_[i].param == param && places_[i].element < 0) return in_[i];
  return nullptr;
}

Values Node::values(int param) const {
  const Arg& list = attrs_[static_cast<size_t>(param)];
  Values out(list.tag == Tag::list ? list.list_->size : 0, nullptr);
  for (size_t i = 0; i < places_.size(); ++i)
    if (places_[i].param == param && places_[i].element >= 0)
      out[static_cast<size_t>(places_[i].element)] = in_[i];
  return out;
}

std::vector<Node*> Block::nodes() const {
  std::vector<Node*> out;
  for (Node* n = first_; n != nullptr; n = n->next()) out.push_back(n);
  return out;
}

absl::Span<Value* const> Graph::outputs() const {
  return absl::MakeConstSpan(body_->yields()).subspan(0, body_->yields().size() - written_.size());
}

std::vector<Write> Graph::writes() const {
  std::vector<Write> out;
  size_t first = body_->yields().size() - written_.size();
  for (size_t i = 0; i < written_.size(); ++i)
    out.push_back({written_[i], body_->yields()[first + i]});
  return out;
}

// ── building ────────────────────────────────────────────────────────────────────────────────────

namespace {

/// What the lexer takes for one name, unchanged; else with '_' in the place of what it does not.
std::string text_name(std::string_view name) {
  auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool dot = c == '.' && !out.empty() && i + 1 < name.size() && is_letter(name[i + 1]);
    if (dot || is_letter(c) || is_digit(c) || static_cast<unsigned char>(c) >= 0x80)
      out += c;
    else if (i > 0)
      out += '_';
  }
  return out.empty() || !is_letter(out[0]) ? "_" + out : out;
}

}  // namespace

Graph::Graph(std::string name) : name_(text_name(name)) {
  body_ = &blocks_.emplace_back();
  at_block_ = body_;
  set_yields(*body_, {});
}

void Graph::set_name(std::string name) { name_ = text_name(name); }

Value* Graph::make_value(Type type, std::string name) {
  Value& v = values_.emplace_back();
  v.type_ = std::move(type);
  v.name_ = std::move(name);
  return &v;
}

void Graph::add_use(Node* node, size_t index) {
  node->in_[index]->uses_.push_back({node, static_cast<uint32_t>(index)});
}

void Graph::drop_use(Node* node, size_t index) {
  auto& uses = node->in_[index]->uses_;
  for (size_t i = 0; i < uses.size(); ++i) {
    if (uses[i].node != node || uses[i].index != index) continue;
    uses.erase(uses.begin() + static_cast<std::ptrdiff_t>(i));
    return;
  }
  LATHE_INTERNAL("a use that its value does not know");
}

void Graph::link(Node* node, Block* block, Node* before) {
  node->parent_ = block;
  node->next_ = before;
  node->previous_ = before != nullptr ? before->previous_ : block->last_;
  (node->previous_ != nullptr ? node->previous_->next_ : block->first_) = node;
  (before != nullptr ? before->previous_ : block->last_) = node;
  for (Value* v : node->out_) v->block_ = block;
}

void Graph::unlink(Node* node) {
  Block* block = node->parent_;
  (node->previous_ != nullptr ? node->previous_->next_ : block->first_) = node->next_;
  (node->next_ != nullptr ? node->next_->previous_ : block->last_) = node->previous_;
  node->next_ = node->previous_ = nullptr;
}

Node* Graph::make_node(Structure structure, Operands operands, TypeList results, Site site) {
  Node& n = nodes_.emplace_back();
  n.structure_ = structure;
  n.attrs_ = std::move(operands.attrs);
  n.in_ = std::move(operands.in);
  n.places_ = std::move(operands.places);
  n.site_ = site;
  for (size_t i = 0; i < n.in_.size(); ++i) add_use(&n, i);
  for (Type& t : results) {
    Value* v = make_value(std::move(t), {});
    v->node_ = &n;
    v->index_ = static_cast<uint32_t>(n.out_.size());
    n.out_.push_back(v);
  }
  return &n;
}

Value* Graph::add_input(Type type, std::string name) {
  return add_parameter(*body_, std::move(type), std::move(name));
}

void Graph::set_results(Values outputs, absl::Span<const Write> writes, Site site) {
  written_.clear();
  for (const Write& w : writes) {
    outputs.push_back(w.value);
    written_.push_back(w.input);
  }
  set_yields(*body_, std::move(outputs), site);
}

Node* Graph::add(const Op& op, Operands operands, TypeList results, Site site) {
  Node* n = make_node(Structure::op, std::move(operands), std::move(results), site);
  n->op_ = &op;
  link(n, at_block_, at_before_);
  return n;
}

Value* Graph::add_constant(const Arg& literal, Site site) {
  Type type;
  switch (literal.tag) {
    case Tag::tensor:
      type = type_of(literal.tensor());
      break;
    case Tag::integer:
      type = integer_type(literal.integer());
      break;
    case Tag::real:
      type = float_type();
      break;
    case Tag::flag:
      type = flag_type();
      break;
    case Tag::text:
      type = Text{};
      break;
    case Tag::none:
      type = None{};
      break;
    default:
      LATHE_INTERNAL("a constant is a tensor or a number");
  }
  Operands operands;
  operands.attrs.push(literal);
  Node* n = make_node(Structure::constant, std::move(operands), {std::move(type)}, site);
  link(n, at_block_, at_before_);
  return n->out(0);
}

Node* Graph::add_structure(Structure structure, Operands operands, TypeList results, Site site) {
  Node* n = make_node(structure, std::move(operands), std::move(results), site);
  link(n, at_block_, at_before_);
  return n;
}

Node* Graph::add_call(std::string callee, Values in, TypeList results, Site site) {
  Operands operands;
  operands.in = std::move(in);
  Node* n = add_structure(Structure::call, std::move(operands), std::move(results), site);
  n->callee_ = std::move(callee);
  return n;
}

Block& Graph::add_block(Node* node) {
  Block& b = blocks_.emplace_back();
  b.owner_ = node;
  node->blocks_.push_back(&b);
  set_yields(b, {});
  return b;
}

Value* Graph::add_parameter(Block& block, Type type, std::string name) {
  Value* v = make_value(std::move(type), std::move(name));
  v->block_ = &block;
  v->index_ = static_cast<uint32_t>(block.parameters_.size());
  block.parameters_.push_back(v);
  return v;
}

void Graph::set_yields(Block& block, Values values, Site site) {
  if (block.end_ == nullptr) {
    block.end_ = make_node(Structure::yield, {}, {}, site);
    block.end_->parent_ = &block;
  }
  Node* end = block.end_;
  for (size_t i = 0; i < end->in_.size(); ++i) drop_use(end, i);
  end->in_ = std::move(values);
  end->site_ = site;
  for (size_t i = 0; i < end->in_.size(); ++i) add_use(end, i);
}

Value* Graph::add_result(Node* node, Type type, std::string name) {
  Value* v = make_value(std::move(type), std::move(name));
  v->node_ = node;
  v->block_ = node->parent_;
  v->index_ = static_cast<uint32_t>(node->out_.size());
  node->out_.push_back(v);
  return v;
}

// ── changing ────────────────────────────────────────────────────────────────────────────────────

void Graph::set_input(Node* node, size_t index, Value* value) {
  drop_use(node, index);
  node->in_[index] = value;
  add_use(node, index);
}

void Graph::append_input(Node* node, Value* value) {
  node->in_.push_back(value);
  add_use(node, node->in_.size() - 1);
}

void Graph::erase_parameter(Block& block, size_t index) {
  LATHE_CHECK(!block.parameters_[index]->used());
  block.parameters_.erase(block.parameters_.begin() + static_cast<std::ptrdiff_t>(index));
  for (size_t i = index; i < block.parameters_.size(); ++i)
    block.parameters_[i]->index_ = static_cast<uint32_t>(i);
}

void Graph::erase_result(Node* node, size_t index) {
  LATHE_CHECK(!node->out_[index]->used());
  const auto at = [](auto& list, size_t k) { return list.begin() + static_cast<ptrdiff_t>(k); };
  for (Block* b : node->blocks_) {
    if (node->is(Structure::while_) && b == node->blocks_.front()) continue;  // yields a condition
    Values yields = b->yields();
    yields.erase(at(yields, index));
    set_yields(*b, std::move(yields), b->end_->site_);
  }
  if (!node->is(Structure::if_)) {
    erase_parameter(*node->blocks_.front(), index + (node->is(Structure::for_) ? 1 : 0));
    for (size_t i = 0; i < node->in_.size(); ++i) drop_use(node, i);
    node->in_.erase(at(node->in_, node->carried_from() + index));
    for (size_t i = 0; i < node->in_.size(); ++i) add_use(node, i);
  }
  node->out_.erase(at(node->out_, index));
  for (size_t i = index; i < node->out_.size(); ++i)
    node->out_[i]->index_ = static_cast<uint32_t>(i);
}

void Graph::replace(Value* old, Value* by) {
  if (old == by) return;
  for (const Use& use : old->uses_) {
    use.node->in_[use.index] = by;
    by->uses_.push_back(use);
  }
  old->uses_.clear();
}

void Graph::replace(Node* node, absl::Span<Value* const> by) {
  LATHE_CHECK(by.size() == node->out_.size());
  for (size_t i = 0; i < by.size(); ++i) {
    if (by[i]->name_.empty()) by[i]->name_ = node->out_[i]->name_;
    replace(node->out_[i], by[i]);
  }
  erase(node);
}

void Graph::erase(Node* node) {
  for (Value* v : node->out_) LATHE_CHECK(!v->used());
  for (Block* b : node->blocks_) {
    set_yields(*b, {});
    while (b->last_ != nullptr) erase(b->last_);
  }
  for (size_t i = 0; i < node->in_.size(); ++i) drop_use(node, i);
  if (at_before_ == node) at_before_ = node->next_;
  unlink(node);
  node->in_.clear();
  node->attrs_ = ArgVec();
  node->parent_ = nullptr;
}

void Graph::move_before(Node* node, Node* before) {
  if (node == before) return;
  unlink(node);
  link(node, before->parent_, before);
}

// ── constants and functions ─────────────────────────────────────────────────────────────────────

int Graph::constant_index(const Tensor& t) const {
  auto it = constant_index_.find(t.impl());
  return it == constant_index_.end() ? -1 : it->second;
}

int Graph::add_large_constant(const Tensor& t) {
  auto [it, fresh] = constant_index_.emplace(t.impl(), static_cast<int>(constants_.size()));
  if (fresh) constants_.push_back(t);
  return it->second;
}

void Graph::drop_unused_constants() {
  std::vector<Tensor> kept;
  absl::flat_hash_map<const TensorImpl*, int> index;
  auto keep = [&](const Graph& g) {
    for_each_node(g.body(), [&](Node* n) {
      if (!n->is(Structure::constant) || n->literal(0).tag != Tag::tensor) return;
      Tensor t = n->literal(0).tensor();
      if (constant_index(t) < 0) return;
      if (index.emplace(t.impl(), static_cast<int>(kept.size())).second) kept.push_back(t);
    });
  };
  keep(*this);
  for (const auto& f : functions_) keep(*f);
  constants_ = std::move(kept);
  constant_index_ = std::move(index);
}

Graph& Graph::add_function(std::unique_ptr<Graph> function) {
  if (this->function(function->name()) != nullptr || function->name() == name_)
    throw NameError(
        {.op = "graph", .problem = absl::StrCat("two functions are named ", function->name())});
  functions_.push_back(std::move(function));
  return *functions_.back();
}

Graph* Graph::function(std::string_view name) const {
  for (const auto& f : functions_)
    if (f->name() == name) return f.get();
  return nullptr;
}

void Graph::drop_uncalled_functions() {
  absl::flat_hash_set<const Graph*> called;
  std::vector<const Graph*> waiting{this};
  while (!waiting.empty()) {
    const Graph* at = waiting.back();
    waiting.pop_back();
    for_each_node(at->body(), [&](Node* n) {
      const Graph* f = n->is(Structure::call) ? function(n->callee()) : nullptr;
      if (f != nullptr && called.insert(f).second) waiting.push_back(f);
    });
  }
  std::erase_if(functions_, [&](const auto& f) { return !called.contains(f.get()); });
}

}  // namespace lathe::ir
