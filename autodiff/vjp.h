// A program's forward and backward pass, as differentiate() makes them.
#pragma once

#include <vector>

#include "graph/ir/datum.h"
#include "graph/ir/ir.h"

namespace lathe {

struct Vjp {
  /// Something that the backward reads: an input of the program or a result of `forward`, or the
  /// size of one.
  struct Read {
    enum class From : uint8_t { input, result } from = From::input;
    size_t index = 0;
    int axis = -1;  // the size along it; -1: the tensor or number itself
    friend bool operator==(const Read&, const Read&) = default;
  };
  /// The program. Behind its results, `extra` more that the backward reads: tensors, and sizes as
  /// integers.
  ir::Graph forward;
  size_t results = 0, hidden = 0;  // the program's own; VjpOptions::hidden, which follow them
  /// Inputs: the reads, then one cotangent for each of `cotangents`, then one sum for each input
  /// that VjpOptions::continued names. Outputs: gradients.
  ir::Graph backward;
  std::vector<Read> reads;
  int extra = 0;
  /// `forward` with the hidden results too, and `derived` more behind the extra: values that the
  /// derivative reads and that the backward computes again. The results of the program are numbered
  /// as here: its own, hidden, extra, derived, writes.
  ir::Graph whole;
  int derived = 0;
  /// From what the backward reads, the derived values.
  ir::Graph again;
  /// What the derivative reads if nothing is computed again: for a derivative of higher order, to
  /// which a derived value is a result of the program, with the sum of all that arrives at it.
  std::vector<Read> direct_reads;
  std::vector<int> cotangents;  // which results of the program have one
  std::vector<int>
      gradients;             // by wanted input: which output of `backward`; -1: it has no influence
  std::vector<bool> active;  // by result of the program: does it depend on a wanted input?
  /// What the rules took for granted of sizes that the inputs of the program say, beyond what it
  /// states itself: in its symbols, for those inputs alone.
  std::vector<SymFact> asked;

  /// Where `forward` gives result k of the program.
  size_t given_at(size_t k) const { return k < results ? k : k - hidden; }
};

/// What the backward reads: the first of its inputs. `inputs` of the program, `results` of
/// Vjp::forward.
ir::Data read(const Vjp& vjp, const ir::Data& inputs, const ir::Data& results);

}  // namespace lathe
