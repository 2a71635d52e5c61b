// Composites in eager code. softmax, layer_norm and their like are ten ops, and so ten trips
// through memory; as a program they are one kernel, with the same bits, and one node of the tape.
// Which is worth it nobody has to say: an op that is called again and again is captured as a traced
// function is, and keeps its program if that starts fewer kernels than the expansion.
#pragma once

#include <absl/functional/function_ref.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dispatch/call.h"

namespace lathe::jit {

/// A CompositeRunner (core/dispatch/call.h), for calls of one kind from the (flag `fuse_after`)th
/// on. A call of a kind are the dtypes and ranks of its operands, which of them require grad, and
/// all other arguments. False where an operand is not in row-major order, is of another device or
/// in a list, where the expansion draws, reads data, or hands on what it was given, and where it
/// fails: its error is then the expansion's own.
bool run_composite(const Op& op, Args args, Outputs& outputs);

/// The same for a loop of rounds, `body`, which is all that its name says of it, applied to these
/// inputs. Nothing where run_composite() is false, and while something records what eager code
/// does.
std::optional<Tensors> run_loop(std::string_view name, const Tensors& inputs,
                                absl::FunctionRef<Tensors(const Tensors&)> body);

/// Which calls of composites ran as programs, one after the other. What is done twice, and has to
/// keep the same for its derivative both times, notes them in the first run and follows them in the
/// second: in between an op may have been called often enough.
struct CompositeChoices {
  std::vector<bool> programs;  // by call
  size_t next = 0;             // that is followed
  bool follows = false;

  /// Whether the next call ran as a program; false behind the last.
  bool take() { return next < programs.size() && programs[next++]; }
};
/// From now on these count on this thread (null: none); gives what counted before.
CompositeChoices* set_choices(CompositeChoices* choices);

/// What runs so now, a line each: "softmax(x: f32[s0, s1]): 1 for 5", launches for those of the
/// expansion.
std::string composites_text();

}  // namespace lathe::jit
