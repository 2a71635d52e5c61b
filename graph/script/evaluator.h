// Runs syntax trees on values that may be symbolic. evaluate.cpp: statements; expression.cpp:
// expressions; calls.cpp: what calls, attributes and indices mean.
#pragma once

#include <map>

#include "graph/script/compile.h"
#include "graph/structure.h"

namespace lathe::script {

/// What a name or expression stands for while a script runs.
struct Thing {
  enum class Kind : uint8_t {
    none_yet,  // a variable that only some paths define; `text` says where
    datum,     // a tensor, number, text or None
    tuple,     // also lists: their length is known
    dtype,
    op,
    function,
    method,  // `text` of datum
    module,  // `text`: dotted
    range,   // items: start, stop, step
    last,    // the variable of a loop after it: items as range
  };
  Kind kind = Kind::datum;
  ir::Datum datum = {};
  std::vector<Thing> items = {};
  const Op* op = nullptr;
  const SyntaxTree* tree = nullptr;
  int function = -1;
  DType dtype = DType::f32;
  std::string text = {};
  bool is_list = false;

  Thing() = default;
  // NOLINTBEGIN(google-explicit-constructor)
  Thing(ir::Datum d) : datum(std::move(d)) {}
  Thing(Tensor t) : datum(std::move(t)) {}
  Thing(const Arg& a) : datum(a) {}
  // NOLINTEND
  bool is_tensor() const { return kind == Kind::datum && datum.is_tensor(); }
  bool is_number() const {
    return kind == Kind::datum && !datum.is_tensor() && datum.arg().scalar();
  }
  bool is_none() const { return kind == Kind::datum && !datum.is_tensor() && datum.arg().none(); }
};

using Environment = std::map<std::string, Thing, std::less<>>;

class Evaluator {
 public:
  Evaluator(const SyntaxTree& tree, Resolver& resolver, int depth)
      : t_(tree), resolver_(resolver), depth_(depth) {}
  Thing call(int function, std::vector<Thing> arguments, const std::map<std::string, Thing>& named);

 private:
  /// What remains to be run after a statement, up to the end of the function or the loop's body.
  struct Rest {
    int block;
    size_t next;
    const Rest* after;
  };
  enum class Exit : uint8_t { end, return_, break_, continue_, finished };
  /// `finished`: a symbolic branch ran everything to the end of the frame; `data` is what it gave.
  struct Outcome {
    Exit exit = Exit::end;
    Thing value = {};
    ir::Data data = {};
  };
  /// The function or loop body being run: how its end becomes plain values, so that two branches
  /// can be joined.
  struct Frame {
    bool loop = false;
    std::vector<std::string> carried = {};  // loop: names
    Thing shape = {};                       // function: the structure of what is returned
    bool has_shape = false;
    std::vector<Thing> carried_shapes = {};
  };

  // Statements.
  Outcome run(const Rest* at);
  Outcome statement(int node, const Rest& after);
  Outcome if_statement(int node, const Rest& after);
  Outcome join_exits(int node, const Thing& test, const Rest& after);
  void join_values(int node, const Thing& test);
  void while_loop(int node);
  void for_loop(int node);
  void range_loop(int node, const Thing& range, const std::string& name);
  void breaking_range_loop(int node, const Thing& range, const std::string& name);
  ir::Data finish(Outcome outcome);
  ir::Data body_round(int block, Frame& frame);
  void take_round(const ir::Data& state, const Frame& frame, size_t first);
  void forget_inner(const std::vector<std::string>& assigned, const Environment& before, int line);
  std::vector<std::string> carried_names(const std::vector<std::string>& assigned) const;
  void assign(int target, const Thing& value);
  void augmented(int node);

  // Plain values.
  void flatten(const Thing& t, ir::Data& out, int line) const;
  Thing restore(const Thing& shape, const ir::Data& data, size_t& at) const;
  static bool same_structure(const Thing& a, const Thing& b);

  // Expressions.
  Thing evaluate(int node);
  Thing name(int node);
  Thing resolved(const std::string& dotted, int line);
  Thing binary(std::string_view op, const Thing& a, const Thing& b, int line);
  Thing unary(int node);
  Thing boolean(int node, size_t from);
  Thing compare(int node);
  Thing compared(std::string_view op, const Thing& a, const Thing& b, int line);
  Thing conditional(int node);
  Thing both(const Thing& a, const Thing& b);
  Thing apply(const Op& op, absl::Span<const Thing> args, int line);
  ir::Datum test(int node);
  Thing last_of(const Thing& range, int line);

  // Calls, attributes, indices.
  Thing call_node(int node);
  Thing call_op(const Op& op, std::vector<Thing> args, const std::map<std::string, Thing>& named,
                int line);
  Thing call_method(const Thing& method, std::vector<Thing> args,
                    const std::map<std::string, Thing>& named, int line);
  Thing builtin(const std::string& name, const std::vector<Thing>& args, int line, bool& found);
  Thing attribute(int node);
  std::string dotted(int node) const;
  Thing subscript(int node);
  Tensor view_of(const Tensor& x, int index, int line);
  Arg as_arg(const Thing& t, std::deque<std::vector<Arg>>& lists, std::deque<ArgList>& spans,
             int line) const;
  Int integer(const Thing& t, int line, std::string_view what) const;

  [[noreturn]] void fail(int line, std::string_view problem, std::string_view got = {},
                         std::string_view next = {}) const {
    refuse(t_.file, line, problem, got, next);
  }
  std::string described(const Thing& t) const;

  const SyntaxTree& t_;
  Resolver& resolver_;
  int depth_;
  Environment env_;
  Frame* frame_ = nullptr;
};

/// Names assigned anywhere in the block, in order of first appearance.
std::vector<std::string> assigned_in(const SyntaxTree& tree, int node);
/// Does it hold a return, or a break or continue of a loop around it?
bool may_exit(const SyntaxTree& tree, int node, bool inside_loop = false);
bool has_break(const SyntaxTree& tree, int node);

/// The op of a Python operator.
const Op& operator_op(std::string_view symbol);

}  // namespace lathe::script
