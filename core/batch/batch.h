// vmap: a backend that runs each call for many examples at once, as it is made.
//
// While it lives, a tensor with one example for each place along its axis 0 is handed to the code
// as a stand-in: a tensor of one example's type, without data, whose symbol holds all of them. A
// call with a stand-in among its operands is made once, below, on all examples: by the rule that
// follows from the definition's kind (rules.cpp), or example by example where there is none. A call
// without one goes below as it is.
//
// Below is whatever was there before: the kernels, a trace, another vmap. The tape sees the call on
// stand-ins and the call below, each with its own history, so that derivatives may be taken inside
// and of the whole.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <string>
#include <vector>

#include "core/dispatch/backend.h"

namespace lathe {

/// What random definitions give each example.
enum class Randomness : uint8_t { error, different, same };

class Batch final : public Backend {
 public:
  /// The calling thread's calls come here until leave().
  Batch(Int size, Randomness randomness);
  ~Batch() override;
  void leave();

  /// A tensor of one example's type for all those along axis 0.
  Tensor stand_in(const Tensor& all) const;
  bool is_stand_in(const Tensor& t) const { return t.impl()->symbol.epoch == epoch_; }
  /// All examples along axis 0; of a tensor that is the same for all, as many views of it.
  Tensor all(const Tensor& t) const;
  Int size() const { return size_; }
  /// The innermost one of this thread, if nothing else runs calls; else null.
  static Batch* current();
  /// Eagerly both would share memory: from here on neither is written to while the other is there.
  void note_shared(const Tensor& a, const Tensor& b);

  // Backend.
  void run(const Call& call, Outputs& outputs) override;
  bool claims(const Op& op, Args args, Types& types) const override;
  void write(Tensor& dst, const Tensor& value) override;

 private:
  friend class Below;
  void run_below(const Call& call, Outputs& outputs);
  bool run_random(const Call& call, Outputs& outputs);
  Outputs one_by_one(const Call& call) const;
  void adopt(const Tensor& made);
  void refuse_shared(const Tensor& written) const;
  void set(const Tensor& t, const Tensor& all) const;

  Int size_;
  Randomness randomness_;
  uint64_t epoch_;
  Backend* outer_backend_;
  Observer* outer_observers_;
  bool entered_ = true;
  /// What was made inside, the same for all examples so far: a write may make it differ.
  absl::flat_hash_map<const TensorImpl*, Tensor> made_;
  std::vector<std::pair<Tensor, Tensor>> shared_;
};

/// While it lives, calls go to what is below a vmap.
class Below {
 public:
  explicit Below(const Batch& batch);
  ~Below();
  Below(const Below&) = delete;

 private:
  Backend* backend_;
  Observer* observers_;
};

/// Runs the call for all examples, which lie along axis 0 of the results; to be called Below.
/// False, and nothing is done: there is no rule for these operands (rules.cpp).
bool run_batched(const Batch& batch, const Call& call, Outputs& outputs);

/// How often each definition was run example by example since the process began.
std::vector<std::pair<std::string, uint64_t>> batch_fallbacks();

}  // namespace lathe
