// Static programs.
//
// A Graph is a function: inputs, a body, results. The body is a Block: an ordered list of Nodes,
// each of which uses Values made earlier and makes new ones. `if`, `for`, `while` and `group` nodes
// hold Blocks of their own. Only pure nodes may move, merge or die (effects()), so what prints,
// draws random numbers or writes keeps its order without tokens.
//
// A graph is functional: nothing in it changes a value, and what the program does to its inputs is
// stated once, at the end (Graph::writes).
//
// Sizes are Ints over the graph's symbols s0, s1 ...; a symbol means the size (or integer) of the
// first value, in order, whose type has it standing alone (sources()). `assumptions` are what the
// trace took for granted, `checks` what every call must satisfy.
//
// An argument of an op is a Value or a literal. Node::attrs is the whole argument list in schema
// order, with None where a Value stands; Node::in are the Values, and Node::places says which
// argument (and which element, if that is a list) each of them is.
//
// Where to start: the accessors below; every change goes through Graph. graph/ir/text.h prints and
// parses, graph/ir/verify.h says what is well-formed, graph/trace/trace.h makes graphs from running
// code, and graph/trace/interpret.h runs them node by node.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <deque>
#include <memory>

#include "core/op/op.h"
#include "core/sizes/symexpr.h"
#include "graph/ir/type.h"

namespace lathe::ir {

class Block;
class Graph;
class Node;
class Value;
using Values = std::vector<Value*>;

enum class Structure : uint8_t {
  op,        // attrs, in: the op's arguments
  constant,  // attrs[0]: a tensor, or a number (an Int may be an expression over symbols)
  if_,       // in[0]: the condition; blocks: then, else; results: what the taken one yields
  for_,      // arguments 0 to 2: start, stop, step; then what is carried. blocks: body, whose
             // parameters are the loop variable and the carried values
  while_,    // in: what is carried; blocks: condition (its parameters belong to both), body
  call,      // in: arguments; callee: a function of this graph
  group,  // in: inputs; blocks[0]: a body that uses nothing else; attrs[0]: what it was grouped as
  yield,  // the end of every block: the values it gives
};
std::string_view name(Structure structure);

/// Where a Value stands among an op's arguments.
struct Place {
  uint16_t param = 0;
  int32_t element = -1;  // of a list; -1: it is the whole argument
  friend bool operator==(const Place&, const Place&) = default;
};

/// The arguments of a node under construction. `next` numbers them in schema order.
class Operands {
 public:
  struct Item {
    Value* value = nullptr;  // or
    Arg literal;
    // NOLINTBEGIN(google-explicit-constructor)
    Item(Value* v) : value(v) {}
    Item(const Arg& a) : literal(a) {}
    // NOLINTEND(google-explicit-constructor)
  };
  Operands() = default;
  Operands(const Operands&) = default;
  Operands(
      Operands&& o) noexcept;  // out of line: g++ 12 misreads the move of an empty InlinedVector
  Operands& operator=(Operands o) noexcept;
  Operands(std::initializer_list<Item> items) {
    for (const Item& i : items) push(i);
  }
  void push(const Item& item);
  void push_list(absl::Span<const Item> items);  // all literal: a plain list
  size_t size() const { return attrs.size(); }

  ArgVec attrs;
  Values in;
  std::vector<Place> places;
};

struct Use {
  Node* node;
  uint32_t index;  // node->in(index)
};

class Value {
 public:
  const Type& type() const { return type_; }
  /// The tensor type; InternalError for anything else.
  const TensorType& tensor() const;
  /// What the user called it, without '%'; "" if nobody said.
  const std::string& name() const { return name_; }
  Node* node() const { return node_; }     // that makes it; null: a parameter of `block`
  Block* block() const { return block_; }  // that it is a parameter of, or that its node stands in
  uint32_t index() const { return index_; }  // among its node's results or its block's parameters
  const std::vector<Use>& uses() const { return uses_; }
  bool used() const { return !uses_.empty(); }

 private:
  friend class Graph;
  Type type_;
  std::string name_;
  Node* node_ = nullptr;
  Block* block_ = nullptr;
  uint32_t index_ = 0;
  std::vector<Use> uses_;
};

class Node {
 public:
  Structure structure() const { return structure_; }
  bool is(Structure s) const { return structure_ == s; }
  /// Null unless structure() == op.
  const Op* op() const { return op_; }
  const std::string& callee() const { return callee_; }
  const ArgVec& attrs() const { return attrs_; }
  const Values& in() const { return in_; }
  Value* in(size_t i) const { return in_[i]; }
  const std::vector<Place>& places() const { return places_; }
  const Values& out() const { return out_; }
  Value* out(size_t i) const { return out_[i]; }
  const std::vector<Block*>& blocks() const { return blocks_; }
  Block& block(size_t i) const { return *blocks_[i]; }
  Site site() const { return site_; }
  /// Run with gradients off (no_grad, detach): what depends on the results has no gradient through
  /// them.
  bool detached() const { return detached_; }
  Block* parent() const { return parent_; }
  Node* next() const { return next_; }  // null at the end; the yield is not in the list
  Node* previous() const { return previous_; }

  /// The Value that is argument `param`, null if that is a literal or a list.
  Value* value(int param) const;
  /// The Values of a list argument; null where an element is a literal.
  Values values(int param) const;
  /// The first of in() that a loop carries or a group takes: what comes before are arguments.
  size_t carried_from() const { return structure_ == Structure::for_ ? places_.size() : 0; }
  /// A literal argument; None where a Value stands.
  const Arg& literal(int param) const { return attrs_[static_cast<size_t>(param)]; }

 private:
  friend class Graph;
  Structure structure_ = Structure::op;
  const Op* op_ = nullptr;
  std::string callee_;
  ArgVec attrs_;
  Values in_;
  std::vector<Place> places_;
  Values out_;
  std::vector<Block*> blocks_;
  Site site_;
  bool detached_ = false;
  Block* parent_ = nullptr;
  Node *next_ = nullptr, *previous_ = nullptr;
};

class Block {
 public:
  Node* owner() const { return owner_; }  // null: the body of a graph
  const Values& parameters() const { return parameters_; }
  const Values& yields() const { return end_->in(); }
  Node* end() const { return end_; }  // the yield
  Node* first() const { return first_; }
  Node* last() const { return last_; }
  bool empty() const { return first_ == nullptr; }
  /// A copy of the list, so that the block may change under a loop over it.
  std::vector<Node*> nodes() const;

 private:
  friend class Graph;
  Node* owner_ = nullptr;
  Values parameters_;
  Node* end_ = nullptr;
  Node *first_ = nullptr, *last_ = nullptr;
};

/// After the run, `value` is written to `input`.
struct Write {
  Value* input;
  Value* value;
};

struct SymbolInfo {
  int64_t hint = 0;     // its value at the first call
  bool is_size = true;  // at least zero
};

/// "gradient @g of @f wrt 1, 2": a function of this name to be written, which gives the gradients
/// of a result of f by some of its arguments (autodiff/gradient_graph.h).
struct GradientDeclaration {
  std::string name, of;
  std::vector<int> wrt;
  int from = 0;              // which result of f; its cotangent is ones, unless `seeded`
  std::vector<int> keeping;  // results of f that are given behind the gradients
  bool seeded = false;       // one more argument, the last: the cotangent
  TypeList results;          // as they were declared; empty: not said
  Site site;
};

/// What a symbol is: the size of `value` along `axis`, or the integer `value` itself (axis -1). The
/// guards of a capture know strides too (Traced::strides), graphs do not.
struct SymbolSource {
  Value* value = nullptr;  // null: nothing says
  int axis = -1;
  bool stride = false;

  /// Does a parameter of the block say it? Those of a graph's body are its inputs.
  bool is_parameter_of(const Block& block) const;
};

class Graph {
 public:
  /// The name becomes one that a text can hold: "lambda_" of "<lambda>".
  explicit Graph(std::string name = "main");
  Graph(Graph&&) noexcept = default;
  Graph& operator=(Graph&&) noexcept = default;
  /// `known`: gets the images of its values.
  Graph clone(absl::flat_hash_map<const Value*, Value*>* known = nullptr) const;

  const std::string& name() const { return name_; }
  void set_name(std::string name);
  Block& body() const { return *body_; }
  const Values& inputs() const { return body_->parameters(); }
  /// What it returns: the body's yields but for the last writes().size().
  absl::Span<Value* const> outputs() const;
  std::vector<Write> writes() const;

  // ── building: new nodes go where the innermost InsertAt says, at first the end of the body ──
  Value* add_input(Type type, std::string name = {});
  void set_results(Values outputs, absl::Span<const Write> writes = {}, Site site = {});
  Block& insertion_block() const { return *at_block_; }
  Node* add(const Op& op, Operands operands, TypeList results, Site site = {});
  /// A number or a tensor. Tensors are kept by reference: nobody may write to them afterwards.
  Value* add_constant(const Arg& literal, Site site = {});
  Node* add_structure(Structure structure, Operands operands, TypeList results, Site site = {});
  Node* add_call(std::string callee, Values in, TypeList results, Site site = {});
  Block& add_block(Node* node);
  Value* add_parameter(Block& block, Type type, std::string name = {});
  void set_yields(Block& block, Values values, Site site = {});
  /// One more result of a structure (loops gain carried values).
  Value* add_result(Node* node, Type type, std::string name = {});

  // ── changing ──
  void set_name(Value* value, std::string name) { value->name_ = std::move(name); }
  void set_type(Value* value, Type type) { value->type_ = std::move(type); }
  void set_detached(Node* node, bool detached) { node->detached_ = detached; }
  void set_attrs(Node* node, ArgVec attrs) { node->attrs_ = std::move(attrs); }
  void set_input(Node* node, size_t index, Value* value);
  void append_input(Node* node, Value* value);
  void erase_parameter(Block& block, size_t index);  // unused ones only
  /// Of a structure: an unused one, with what its blocks yield for it. A loop's is carried by a
  /// parameter that nothing uses but the yield, and goes, too.
  void erase_result(Node* node, size_t index);
  /// Every use of `old` becomes one of `by`.
  void replace(Value* old, Value* by);
  /// All results at once, and the node dies. A name the user gave moves to an unnamed replacement.
  void replace(Node* node, absl::Span<Value* const> by);
  void erase(Node* node);  // InternalError if a result is used
  void move_before(Node* node, Node* before);

  // ── symbols ──
  std::vector<SymbolInfo>& symbols() { return symbols_; }
  const std::vector<SymbolInfo>& symbols() const { return symbols_; }
  std::vector<SymFact>& assumptions() { return assumptions_; }
  const std::vector<SymFact>& assumptions() const { return assumptions_; }
  std::vector<SymFact>& checks() { return checks_; }
  const std::vector<SymFact>& checks() const { return checks_; }
  /// By symbol number. A symbol means its first source in program order.
  std::vector<SymbolSource> sources() const { return sources(symbols_.size()); }
  std::vector<SymbolSource> sources(size_t count) const;
  /// Do inputs say all that the expression mentions? `sources`: this graph's.
  bool inputs_say(Int e, absl::Span<const SymbolSource> sources) const;

  // ── constants too large to stand in the text, and functions called ──
  const std::vector<Tensor>& constants() const { return constants_; }
  /// Its place in constants(), or -1: written out in the text.
  int constant_index(const Tensor& t) const;
  int add_large_constant(const Tensor& t);  // once each
  void drop_unused_constants();
  const std::vector<std::unique_ptr<Graph>>& functions() const { return functions_; }
  Graph& add_function(std::unique_ptr<Graph> function);  // NameError if the name is taken
  Graph* function(std::string_view name) const;          // null if there is none
  void drop_functions() { functions_.clear(); }
  /// Those that nothing in the body leads to.
  void drop_uncalled_functions();
  /// Functions that are declared and not written yet. What runs has none.
  std::vector<GradientDeclaration>& gradients() { return gradients_; }
  const std::vector<GradientDeclaration>& gradients() const { return gradients_; }

  // ── whole graphs ──
  /// Copies `from`'s nodes into this graph at the insertion point. `known` maps Values of `from`'s
  /// graph to Values here and gains all that is copied; Values not in it stand for themselves. The
  /// yields' images.
  using ValueMap = absl::flat_hash_map<const Value*, Value*>;
  Values copy_nodes(const Block& from, ValueMap& known);
  Node* copy_node(const Node& from, ValueMap& known);
  size_t node_count() const;
  /// Of structure, ops, literals and types; not of names, lines, hints or the contents of large
  /// constants.
  uint64_t hash() const;

 private:
  friend class InsertAt;
  Node* make_node(Structure structure, Operands operands, TypeList results, Site site);
  Value* make_value(Type type, std::string name);
  void link(Node* node, Block* block, Node* before);
  void unlink(Node* node);
  void add_use(Node* node, size_t index);
  void drop_use(Node* node, size_t index);
  void copy_block(const Block& from, Block& to, ValueMap& known);

  std::string name_;
  std::deque<Value> values_;
  std::deque<Node> nodes_;
  std::deque<Block> blocks_;
  Block* body_;
  Values written_;  // the inputs that the last yields of the body are written to
  Block* at_block_;
  Node* at_before_ = nullptr;  // null: the end of at_block_
  std::vector<SymbolInfo> symbols_;
  std::vector<SymFact> assumptions_, checks_;
  std::vector<Tensor> constants_;
  absl::flat_hash_map<const TensorImpl*, int> constant_index_;
  std::vector<std::unique_ptr<Graph>> functions_;
  std::vector<GradientDeclaration> gradients_;
};

/// New nodes go to the end of a block, or before a node, until the scope ends.
class InsertAt {
 public:
  InsertAt(Graph& graph, Block& block) : InsertAt(graph, &block, nullptr) {}
  InsertAt(Graph& graph, Node* before) : InsertAt(graph, before->parent(), before) {}
  ~InsertAt() {
    graph_.at_block_ = block_;
    graph_.at_before_ = before_;
  }
  InsertAt(const InsertAt&) = delete;

 private:
  InsertAt(Graph& graph, Block* block, Node* before)
      : graph_(graph), block_(graph.at_block_), before_(graph.at_before_) {
    graph.at_block_ = block;
    graph.at_before_ = before;
  }
  Graph& graph_;
  Block* block_;
  Node* before_;
};

/// What passes ask before they touch a node. `fails`: it may raise, so it may merge but not vanish.
enum class Effects : uint8_t { pure, fails, ordered };
/// From the schema's (!), the kind (a random definition moves the generator on) and the body's
/// checks; a structure is what its blocks are.
Effects effects(const Node& node, const Graph& graph);

/// Nodes whose results say what a symbol is: counts that only running them tells, numbers after a
/// loop.
absl::flat_hash_set<const Node*> symbol_nodes(const Graph& graph);

/// Calls `visit` on every node of the block and of the blocks inside, in order, owners first.
void for_each_node(const Block& block, const std::function<void(Node*)>& visit);
/// Is `inner` the block itself or inside it?
bool encloses(const Block& outer, const Block* inner);
/// May code in `at` use `v`, as far as blocks go? The body of a while sees its condition's
/// parameters.
bool visible_from(const Value* v, const Block& at);
/// Values made outside the block that it uses, in order of first use.
Values free_values(const Block& block);

/// Every size expression in the graph, changed: types, literals, facts.
void map_ints(Graph& graph, const std::function<Int(Int)>& change);
/// Of one node, its results and blocks.
void map_ints(Graph& graph, Node* node, const std::function<Int(Int)>& change);
ArgVec map_ints(const ArgVec& literals, const std::function<Int(Int)>& change);
/// Gives symbols that nothing uses up, numbers the rest by first appearance, and drops facts about
/// symbols that nothing says. Returns how an expression over the old numbers is written now.
std::function<Int(Int)> compact_symbols(Graph& graph);

/// Makes the graph's symbols those of a scope that has none.
void enter_symbols(const Graph& graph, SymScope& scope);

/// A SymScope that knows a graph's symbols and facts, entered while it lives: what infer needs.
/// Throws ValueError if the hints contradict an assumption.
class GraphScope {
 public:
  explicit GraphScope(const Graph& graph);
  ~GraphScope() { scope_.leave(); }
  GraphScope(const GraphScope&) = delete;
  SymScope& operator*() { return scope_; }
  SymScope* operator->() { return &scope_; }
  /// Has anything been taken for granted that the graph does not state?
  bool grew() const {
    return scope_.guards().size() + scope_.checks().size() > facts_ || scope_.guesses() > 0;
  }

 private:
  SymScope scope_;
  size_t facts_ = 0;
};

}  // namespace lathe::ir

namespace lathe {
using ir::Graph;
}  // namespace lathe
