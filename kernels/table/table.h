// The look-up table: which implementation runs an op, and why not the others.
//
// Entries stand in one order per kind of definition; the first that accepts a query is its
// implementation, and the reference, which accepts everything, is last. Own and reference entries
// serve every definition of a kind; a vendor's entry names the definitions it knows. A choice reads
// only what cannot differ between eager and a graph, or between two calls of one program: the op,
// its attributes, dtypes, ranks, reduced extents, the device, flags and the table file; never an
// output extent and never a clock. So both engines ask here and get the same answer.
//
// The lists of entries.cpp are where it begins; register_entry adds to them, for vendors, shared
// objects (include/lathe/custom_op.h) and tests alike. Entries of composites claim them whole:
// where none does, the expansion is run.
//
// Where to read: table.cpp (the order, family, explain), entries.cpp (the list),
// own/product.cpp and reference/entry.cpp (what ours accept), plugin.h (how a vendor's shared
// object offers entries).
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/dispatch/call.h"
#include "kernels/problem/epilogue.h"
#include "kernels/problem/operand.h"

namespace lathe {

/// Why an entry does not take a query. Each has one sentence; numbers go beside it.
enum class Reason : uint8_t {
  none,
  disabled,      // by flag
  not_built,     // this build has no such plug-in
  not_found,     // its shared object is not where it was built to be
  not_loadable,  // it is there but could not be opened
  no_cuda,
  device,  // the operands are on a device it does not serve
  op,      // it does not know this definition
  dtype,
  rank,
  extent,         // a reduced extent it is not chosen for
  core_type,      // a vendor that mistakes the processor for an old one
  later,          // it would do, but another stands before it
  engine,         // of a compiled function: the flag `engine` asks for another
  not_ready,      // no machine code yet
  not_compiled,   // making its machine code failed
  no_arithmetic,  // of a kernel that only moves elements: nothing to compile
  declined,       // a registered entry's own words
  numerics,       // the flag `numerics` asks for defined bits, which another entry gives
};
inline constexpr int kReasons = static_cast<int>(Reason::numerics) + 1;
std::string_view sentence(Reason reason);

class Verdict {
 public:
  static Verdict yes() { return Verdict(Reason::none, {}); }
  static Verdict no(Reason reason, std::string numbers = {}) {
    return Verdict(reason, std::move(numbers));
  }
  bool accepted() const { return reason_ == Reason::none; }
  Reason reason() const { return reason_; }
  const std::string& numbers() const { return numbers_; }
  /// "accepts", or the reason's sentence with its numbers.
  std::string text() const;

 private:
  Verdict(Reason reason, std::string numbers) : reason_(reason), numbers_(std::move(numbers)) {}
  Reason reason_;
  std::string numbers_;
};

/// What a choice may read. Tensors among `args` may be symbolic. Refers to what it was made of.
struct Query {
  const Op& op;
  Args args;
  absl::InlinedVector<DType, 3> in;  // of the tensor operands, in order
  absl::InlinedVector<int, 3> ranks;
  DType common = DType::f32;       // what the operands meet in
  DType accumulator = DType::f32;  // contractions: what terms are summed in
  Device device;
  const Types* results = nullptr;

  /// Contractions: operands and result are of one dtype, `common`.
  bool uniform() const { return (*results)[0].dtype == common; }
  /// Contractions: the extents summed over, first outermost.
  Shape reduced() const;
  /// Their product; -1 if it is symbolic.
  int64_t terms() const;
};
Query make_query(const Op& op, Args args, const Types& results);

/// A contraction or a reduction to be computed, in numbers. The operands of a contraction have the
/// dtype that they meet in.
struct Problem {
  const Op& op;
  Args args;                     // attributes; the elements of tensors are not to be read
  absl::Span<const Operand> in;  // data pointers may be null: they come with the launch
  const Operand& out;            // contiguous; the one result
  DType accumulator;             // contractions: what terms are summed in
};

/// What an entry works out once for a problem. Immutable: any number of threads run it at once.
class Prepared {
 public:
  virtual ~Prepared() = default;
};
using PreparedRef = std::unique_ptr<const Prepared>;

/// An operand whose elements do not change, in the form an entry reads best. Immutable.
class Packed {
 public:
  virtual ~Packed() = default;
  /// Every element of the operand, as it is, once: element (line, term) is at place(line, term).
  struct Layout {
    const std::byte* elements;
    int64_t lines, depth;
    int width;
    int64_t place(int64_t line, int64_t term) const {
      return line / width * width * depth + term * width + line % width;
    }
  };
  virtual Layout layout() const = 0;
};
using PackedRef = std::shared_ptr<const Packed>;

/// What a run takes of the allocator beside its operands and its result: the most at once, and what
/// operands in the form of `pack` keep from then on. In sizes as the allocator hands them out.
struct Room {
  size_t during = 0, kept = 0;
};

/// Of a product of two matrices: results from column `columns` on may hold anything (an epilogue
/// then is called on none of them), and terms from `terms` on may be left out.
struct Needed {
  int64_t columns = INT64_MAX, terms = INT64_MAX;
};

struct Launch {
  const std::byte* a;
  const std::byte* b;  // none: a reduction
  std::byte* out;
  Epilogue epilogue;
  const Packed* packed[2] = {};  // a and b, where Entry::pack gave something
  Needed needed;
};

struct Entry {
  std::string_view name;  // "own.gemm": vendor, then what
  Kind kind;
  Bits bits;
  Verdict (*accepts)(const Entry&, const Query&);
  // Contractions, and reductions to one result: work of before the first run, and a run.
  /// Null: it cannot do this one after all, and the entry that would be chosen without it is asked.
  PreparedRef (*prepare)(const Entry&, const Problem&) = nullptr;
  void (*run)(const Entry&, const Prepared&, const Launch&) = nullptr;
  /// Operand 0 or 1 for all runs of this plan, which then read nothing else of it: `known` (of this
  /// entry, for another plan) if it serves, null if the operand is read best as it is. Without
  /// data: `known` or null. Which line and term an element is, is the same whenever it is packed.
  PackedRef (*pack)(const Entry&, const Prepared&, int operand, const std::byte* data,
                    const PackedRef& known) = nullptr;
  /// `lasting`: operands that will be packed if `pack` has a form for them. Null: not known.
  Room (*room)(const Entry&, const Prepared&, std::array<bool, 2> lasting) = nullptr;
  // All but contractions run a call as it stands: ours by `call`, registered ones by `take`.
  void (*call)(const Call&, Outputs&) = nullptr;
  void (*take)(const Entry&, const Call&, Outputs&) = nullptr;
  /// What such a call takes beside its results, which are known by their types. Null: not known.
  size_t (*call_room)(const Call&) = nullptr;
  /// Whether it can be used at all, whatever the call; null: it can.
  Verdict (*usable)(const Entry&) = nullptr;
  /// Whether the entry of this vendor that stands behind this one, if it accepts, is much faster
  /// here: then that one is chosen, unless the flag `numerics` asks for defined bits. Null: never.
  bool (*yields)(const Query&) = nullptr;
  std::string_view yields_to = {};
  bool fuses = false;           // contractions: run heeds the launch's epilogue
  const void* state = nullptr;  // of whoever registered it

  std::string_view vendor() const { return name.substr(0, name.find('.')); }
  void run_call(const Call& c, Outputs& outputs) const {
    return take != nullptr ? take(*this, c, outputs) : call(c, outputs);
  }
};

/// Whether an entry can be used at all: not if a flag disables it, or its library is not there.
Verdict usable(const Entry& entry);
/// The entries of a kind, in order.
absl::Span<const Entry* const> entries(Kind kind);

/// Adds an entry in front of the one named `before`, or, if that is empty, behind all but the
/// reference. For the life of the process; choices made before are asked again, but a program that
/// is captured keeps what it was captured from. ValueError if there is an entry of that name, none
/// named `before`, or no function to run it.
void register_entry(const Entry& entry, std::string_view before = {});
/// The entry that takes this composite whole; null: none does, or the expansion draws random
/// numbers, takes lists of tensors or writes to an operand, and so has to be run as it is. `types`:
/// of its results, if there is one.
const Entry* claiming_entry(const Op& op, Args args, Types& types);

/// The entry that runs this query, `but` left out; null: none accepts.
const Entry* find_entry(const Query& query, const Entry* but = nullptr);
/// The least that results promise, whatever reduced extents are that the query leaves open: rules
/// of the table file may give these to another entry. free: none accepts.
Bits promised_bits(const Query& query);
/// The entry that runs this query. UnsupportedError, with every verdict, if no entry accepts, or
/// if only the reference does while the flag fallback_is_error is on; a table file may name the
/// reference, which is no fallback.
const Entry& choose_entry(const Query& query);

struct Explained {
  const Entry* entry;
  Verdict verdict;
  bool chosen;
};
/// Every entry's verdict, in order.
std::vector<Explained> explain(const Query& query);
/// The same as text, one line an entry: "own.gemm (defined): chosen (1 of 8)". One that would do as
/// well says why it was not taken: its place, or the rule of the table file.
std::string explain_text(const Query& query);

/// Rules of a tuned table, one a line: "<op> <dtype> <least k>..<most k> <entry>"; '#' begins a
/// comment. The first that fits moves its entry to the front, if the entry accepts. Set before the
/// first query; ValueError on a bad line or an unknown entry, UnsupportedError after a query.
void use_table(std::string_view text);
std::string table_text();

}  // namespace lathe
