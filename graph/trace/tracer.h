// The Tracer itself; users of tracing want graph/trace/trace.h.
#pragma once

#include <absl/container/flat_hash_set.h>

#include "core/dispatch/call.h"
#include "graph/trace/structure.h"
#include "graph/trace/trace.h"

namespace lathe::ir {

class Tracer final : public Backend {
 public:
  Tracer(std::string name, TraceCallbacks& host);
  /// Goes on recording at the end of a graph, under its symbols and facts.
  Tracer(Graph graph, TraceCallbacks& host);
  ~Tracer() override;

  /// The innermost trace of this thread, null if there is none.
  static Tracer* current();
  /// No other trace has, or had, this number.
  uint64_t epoch() const { return epoch_; }

  // Backend.
  void run(const Call& call, Outputs& outputs) override;
  bool claims(const Op& op, Args args, Types& types) const override;
  Bits bits(const Call& call) const override;
  void write(Tensor& dst, const Tensor& value) override;  // trace_writes.cpp

  // Structures (trace_structure.cpp).
  Data record_if(const Datum& condition, Branch yes, Branch no);
  /// The same for a front end that knows only after both branches which of their results belong
  /// together: `pairs` gives, for each result, its place among either branch's.
  using Pairs = std::vector<std::pair<size_t, size_t>>;
  Data record_if(const Datum& condition, Branch yes, Branch no, absl::FunctionRef<Pairs()> pairs);
  Data record_while(LoopCondition condition, LoopBody body, const Data& start);
  Data record_for(Int start, Int stop, Int step, ForBody body, const Data& carried);
  /// Has the block that is being recorded written to what was there before?
  bool block_writes() const;
  /// Runs what is never run when the program is, and forgets it: for what that would give.
  void record_nothing(absl::FunctionRef<void()> run);
  /// A function that calls itself where data decides: what one call of it does is recorded once, as
  /// a function of the graph. Nothing: its body does not call itself.
  std::optional<Data> record_recursion(std::string name, LoopBody body, const Data& start);
  /// In the body of such a function, the `which`-th under way: it calls itself. Nothing: what it
  /// gives is not known yet, and the body is to be recorded as far as it goes without.
  std::optional<Data> record_recursive_call(size_t which, const Data& arguments);
  /// Have all calls of itself so far had sizes that its body is recorded for?
  bool sizes_fit(size_t which) const;
  /// Does the expression mention something that changes from round to round of a loop being
  /// recorded?
  bool in_loop(Int e) const;

  static Tensor root_of(const Tensor& t) { return t.impl()->view ? t.impl()->view->base : t; }
  /// `t` stands for what eagerly shares memory with `others`, and with what those may share it
  /// with: writes that would tell are refused.
  void note_chosen(const Tensor& t, Tensors others);
  /// Data says which elements of x these are, of which eagerly it is a view. `put`: writes a value
  /// to them.
  void note_picked(const Tensor& t, const Tensor& x, std::function<void(const Tensor&)> put);
  /// The tensor's value without its history: a tensor of its own that sees later writes to t, as it
  /// has t's memory. Writes to it are refused.
  Tensor aliased(const Tensor& t);

  /// t.data = v: t has v's memory from then on, and what shared t's until then keeps its values.
  /// TraceError where the types differ, and where v lives on outside of the trace.
  void renew(const Tensor& t, const Tensor& v);

  /// Might the tensor have a history in some round of a loop, where it has none in the recording?
  /// What a loop hands on is recorded without.
  bool may_have_history(const Tensor& t);

  /// The tensors from outside that the program has written to so far, as they were met: what is
  /// there in memory is still the old value.
  Tensors written() const;

  /// A structure as the tape sees it: the values that each input and each result had then.
  struct Part {
    Node* node;
    Values inputs, results;
  };
  /// While the tape is told of one: what it is. Null: a value of an input is not to be found among
  /// what the structure reads, so that nothing can be said of its derivative.
  const Part* part() const { return part_ ? &*part_ : nullptr; }

  /// How many blocks are being recorded inside each other.
  int depth() const { return static_cast<int>(frames_.size()); }
  /// The last node of the block being recorded, and taking back what came after it.
  Node* last_node() const { return graph_.insertion_block().last(); }
  void forget_after(Node* last);

  /// Gradients may be asked for by any input later, whatever requires grad now.
  void expect_any_history() { any_history_ = true; }

  Datum add_input(const InputSpec& spec);
  /// A float that was met on the way, as one more input, found again by the path.
  Real capture_number(const Path& path, double now);
  /// The same of an integer.
  Int capture_number(const Path& path, int64_t now);
  Traced finish(const Data& results, bool aliases);

  // For transformations of graphs, which record with ordinary ops.
  Graph& graph() { return graph_; }
  SymScope& scope() { return scope_; }
  /// A symbolic tensor that is this value.
  Tensor tensor_for(Value* v);
  /// A number of the graph, as an argument of an op: an integer's expression, or a symbolic float,
  /// which is `hint` now if that is known.
  Arg number_for(Value* v, std::optional<double> hint = std::nullopt);
  Value* value_of(const Tensor& t);
  Value* value_of(const Datum& d);
  /// The graph, with the symbols and facts gathered. Recording is over.
  Graph take();

 private:
  struct Captured {
    Tensor tensor;  // kept alive, so that its address stays its own
    Value* start;   // the input or the constant
    Value* now;
    int input = -1;            // place among the graph's inputs; -1: a constant
    bool by_identity = false;  // it lives on outside of the trace, where nobody writes it back
  };
  /// A tensor that a block writes to, as it was before.
  struct Before {
    Tensor tensor;
    Value* value;
    std::shared_ptr<AutogradMeta> history;
    bool requires_grad;
  };
  /// Places in `chosen_` of what a write has made stale, and the writer's line.
  using Stale = std::vector<std::pair<size_t, Site>>;
  /// A block that is being recorded.
  struct Frame {
    Block* block;
    std::vector<Before> before = {};
    Tensors tracked = {};   // from outside, with a history; read or written in the block
    Values of_leaves = {};  // values that the block gave to leaves, which stay leaves
  };
  /// Parts of a loop that is being recorded: what it carries, and which sizes change from round to
  /// round.
  struct LoopPlan {
    Data start;
    std::vector<Tensor> written;              // carried without being asked
    std::vector<std::vector<bool>> changing;  // by carried value, by axis
    std::vector<Tensors> others;              // by carried value: what the last round may give
    Stale stale;                              // by a round, and so for the next
  };
  struct BlockResult {
    Data results;
    Values values;  // of the results that are tensors, as the block's writes have left them
    std::vector<std::pair<Tensor, Value*>> writes;  // the value each has at the end
    Tensors tracked;                                // as the frame's
    Values of_leaves;                               // as the frame's
    Stale stale;  // once the structure is recorded: nothing in the block is seen outside before
  };
  /// A tensor that came out of an if or a loop, or is carried by one: eagerly it may be one of
  /// `others` itself, or a view of it, and data decides.
  struct Chosen {
    Tensor tensor;
    Tensors others;
    bool stale = false;  // one of the others was written to since
    Site writer = {};
    Tensor source = {};  // the one it shares all its memory with, if that is known
    std::function<void(const Tensor&)> put = {};  // writes to where it was picked from
  };

  /// A function that is being recorded (trace_recursion.cpp).
  struct Recursion {
    struct Size {                   // of a result
      std::optional<Int> fixed;     // the same in all calls, or
      int argument = -1, axis = 0;  // that of an argument, or neither: new at each call
    };
    struct Result {
      Tensor like;
      std::vector<Size> sizes;
      bool shared;  // it may be what the function was given, or a view of it
    };
    std::string name;
    LoopPlan plan;  // of its arguments
    std::optional<std::vector<Result>> results = std::nullopt;
    Values parameters = {};
    int calls = 0;  // of itself
    bool fits = true;
  };

  bool ask_size(const SymFact& fact);
  bool is_lone_view(const Tensor& t, const Data& results) const;
  Value* sized_before(const Call& call);
  bool any_tracked() const;
  Value* lift(const Tensor& t);
  Value* as_kept(const Tensor& t) const;
  void refuse_stale(const Tensor& t) const;
  Tensor detached_from(const Tensor& t) const;
  Tensor memory_of(const Tensor& t) const;
  /// Writes to where `written` was picked from, if it was.
  bool put_picked(const Tensor& written, const Tensor& value);
  /// `put`: it was written to where it was picked from.
  void check_chosen(const Tensor& written, bool put);
  void make_stale(const Stale& stale);
  /// What an if gives: in each branch one that was there before, or (undefined) a new one.
  struct Alternatives {
    Tensor of[2];
    bool known = true;  // and no view of another
  };
  /// For what was noted as chosen last.
  void note_alternatives(const Tensor& condition, const Alternatives& chosen);
  void renew_aliases(const Tensor& written);
  Value* without_history(const Tensor& t);
  Value* cut_off(const Tensor& t);
  bool has_history(const Tensor& t);
  Value* written(const Tensor& dst, const Tensor& value);
  /// What was there before the block that the tensor may be or be a view of; with `parameters`
  /// those of the block are as if they had been there.
  Tensors given_as(const Tensor& t, const Block& block, bool parameters) const;
  uint32_t id_of(Value* v);
  /// Where an expression over float inputs is computed.
  Value* value_of(Real r);
  Operands::Item operand_of(const Arg& a);
  bool at_head(const Value* v) const;
  Value* now(const Tensor& t) const;
  void set_now(const Tensor& t, Value* v);
  void note_write(const Tensor& root);
  void begin_history(const Tensor& t);
  void note_tracked(const Tensor& t);
  /// What came out of a structure, and what it wrote, depends on what is tracked. How, its
  /// derivative knows: the tape sees one step. Null node: nobody knows.
  std::optional<Part> part_of(Node* node, const Tensors& inputs, const Tensors& results,
                              absl::Span<const Tensor> written) const;
  /// The values that tracked tensors have now, and those that the blocks gave to leaves.
  using Origins = absl::flat_hash_set<const Value*>;
  Origins origins(const Tensors& tracked, const Values& of_leaves);
  /// Is `v` made of one of them, as far as gradients go?
  static bool leads_back(const Value* v, const Origins& origins);
  /// `origins`: of `tracked`, before `written` were given what the structure leaves them with.
  void pass_history(Structure structure, Node* node, const Tensors& tracked, const Data& results,
                    absl::Span<const Tensor> written, const Origins& origins);
  Geometry geometry_of(const Call& call, size_t result, const TensorType& type) const;
  Operands operands_of(const Call& call);

  // Structures.
  BlockResult record_block(Block& block, absl::FunctionRef<Data()> run);
  Value* yielded(const BlockResult& r, size_t i);
  bool proven_equal(Int a, Int b) const;
  Int loop_variable(Int start, Int stop, Int step);
  Int fresh_integer(int64_t hint, bool is_size = false);
  Type carried_type(const Datum& start, const std::vector<bool>& changing);
  Type result_type(const Value* parameter, uint32_t first_symbol);
  Datum datum_for(Value* v, const Datum& like);
  Data bind_parameters(Block& block, const LoopPlan& plan, size_t first);
  bool stays(Int before, Int after) const;
  bool loop_fits(LoopPlan& plan, BlockResult& body, Block& block, const Values& parameters);
  Data loop_results(Node* node, const LoopPlan& plan, const BlockResult& body,
                    const Values& parameters, uint32_t first_symbol);
  Values loop_yields(const LoopPlan& plan, const BlockResult& body);
  std::string free_name(const std::string& wanted) const;
  Recursion::Size size_of_result(const Recursion& r, Int size, uint32_t first_symbol) const;
  bool fits(const Recursion& r, const Recursion::Size& size, Int now) const;
  bool recursion_fits(Recursion& r, const BlockResult& body, const Block& block, uint32_t first);
  Data call_results(const Recursion& r, Values in, const Data& arguments, const Tensors& others);
  Values lift_function(const Recursion& r, const Block& block);
  std::vector<SymbolInfo> symbol_infos() const;
  Value* condition_value(const Datum& condition);
  LoopPlan plan_for(const Data& start);
  std::pair<Type, bool> joined(const Datum& a, const Datum& b) const;
  bool are_one_size(Int a, Int b);

  // The end.
  std::optional<size_t> as_input(const Tensor& t) const;
  void give_back(const Data& results, Values& outputs, bool aliases, Traced& traced);
  void refuse_shared_memory(absl::Span<const Write> writes) const;
  void name_values();
  void tidy_detached();
  void add_guards(Traced& traced);
  Backend& below() const;
  void lay_out(Geometry& g, const Geometry& real);
  std::vector<SymFact> part_from_strides(Traced& traced);
  void give_strides(Traced& traced, std::vector<SymFact> facts,
                    const std::function<Int(Int)>& change);
  void written_inputs(std::vector<Write>& writes);

  TraceCallbacks& host_;
  uint64_t epoch_;
  Graph graph_;
  SymScope scope_;
  RealScope reals_;
  absl::flat_hash_map<const RealExpr*, Value*> real_values_;
  std::vector<Node*> real_nodes_;  // that compute them, at the head of the graph, in order
  std::vector<Value*> values_;     // by Symbol::value
  absl::flat_hash_map<const Value*, uint32_t> ids_;
  absl::flat_hash_map<const TensorImpl*, Captured> captured_;
  std::vector<const TensorImpl*> captured_order_;
  std::vector<Path> paths_;  // of captured inputs
  Data captured_now_;
  std::vector<Guard> guards_;
  std::vector<Tensor> inputs_;  // stand-ins; undefined for numbers
  std::vector<InputSpec> specs_;
  bool any_history_ = false;
  std::optional<Part> part_;
  int64_t ops_ = 0;  // so far
  static constexpr int64_t kMostOps = int64_t{1} << 18;
  absl::flat_hash_set<uint32_t> given_;  // symbols of the arguments' sizes and strides
  struct StrideSymbol {
    uint32_t symbol;
    Traced::Stride of;
  };
  std::vector<StrideSymbol> strides_;
  std::vector<Node*> sized_;  // that make counts sizes
  std::vector<Frame> frames_;
  std::vector<Chosen> chosen_;
  std::vector<Recursion*> recursions_;  // under way, the innermost last
  uint32_t loop_symbols_ = 0;           // symbols from here on belong to open loops
  int open_loops_ = 0;
  // What was there before.
  Backend* outer_backend_;
  uint64_t outer_epoch_;
  Tracer* outer_tracer_;
};

}  // namespace lathe::ir
