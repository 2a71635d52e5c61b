// Calls that eager code makes again and again, as programs: what composites.h and gradients.h
// share. Calls of a kind are captured as a traced function is, and served by the program if it
// starts fewer kernels than what it was captured from.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/functional/function_ref.h>

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/fork.h"
#include "jit/function.h"

namespace lathe::jit {

/// What tells one kind of call from another, as words: the dtypes and ranks of its tensors, and
/// which of them require grad; all else by value. Words of different tags may be equal.
class CallKey {
 public:
  absl::InlinedVector<uint64_t, 24> words;
  int tensors = 0;

  /// False: no call like this one runs as a program. Tensors have to lie in row-major order, on the
  /// host.
  bool take(const Arg& a);
  bool take(const TensorImpl* t);
  bool take(std::string_view text);
  bool mark(uint64_t tag, bool answer) {
    words.push_back(tag);
    return answer;
  }
};

/// Calls of one kind.
class CallsOfAKind {
 public:
  using Names = absl::FunctionRef<std::vector<std::string>()>;  // of the inputs
  using Body = absl::FunctionRef<ir::Data(const ir::Data&)>;

  explicit CallsOfAKind(std::string name)
      : name_(name), function_(std::move(name), Terms{ir::no_user_rules(), false}) {}

  /// False for the first calls, and where it was not worth it.
  bool due(int64_t after) {
    if (refused_.load(std::memory_order_relaxed)) return false;
    if (served_.load(std::memory_order_relaxed)) return true;
    return calls_.fetch_add(1, std::memory_order_relaxed) >= after;
  }
  /// The results, or nothing where `body` has to be done as it is: its own error is then the
  /// call's. A result that is not defined is none that a program gives.
  std::optional<ir::Data> run(const ir::Data& inputs, Names names, Body body);
  bool served() const { return served_.load(std::memory_order_relaxed); }
  /// "softmax(x: f32[s0, s1]): 1 for 5".
  std::string text() const;

 private:
  bool capture(const ir::Data& inputs, Names names, Body body, int64_t number);
  bool worth_it(const Function::Compiled& c) const;

  std::string name_;
  Function function_;
  std::atomic<int64_t> calls_{0};
  std::atomic<int> captures_{0};
  std::atomic<bool> refused_{false}, served_{false};
};

/// What is known of calls by definition; kinds are never dropped.
class RepeatedCalls {
 public:
  bool off(const Op& op) const {
    return op.id >= kMostDefinitions || off_[op.id].load(std::memory_order_relaxed);
  }
  void turn_off(const Op& op) { off_[op.id].store(true, std::memory_order_relaxed); }
  /// The kind of this key, whose first word is the definition's id, for calls that people know as
  /// `name`. Null where the definition has too many.
  CallsOfAKind* find(uint32_t id, absl::Span<const uint64_t> key, std::string_view name);
  std::string text();

 private:
  static constexpr size_t kMostDefinitions = 4096;
  struct SameKey {
    using is_transparent = void;
    bool operator()(absl::Span<const uint64_t> a, absl::Span<const uint64_t> b) const {
      return a == b;
    }
  };
  struct HashOfKey {
    using is_transparent = void;
    size_t operator()(absl::Span<const uint64_t> key) const { return absl::HashOf(key); }
  };

  std::array<std::atomic<bool>, kMostDefinitions> off_{};
  ForkSafeMutex mutex_;  // of what follows
  absl::flat_hash_map<std::vector<uint64_t>, std::unique_ptr<CallsOfAKind>, HashOfKey, SameKey>
      kinds_;
  absl::flat_hash_map<uint32_t, int> count_;
};

/// From which call of a kind on, by flag `fuse_after`; nothing: none is to run as a program here
/// and now.
std::optional<int64_t> fuse_after();

}  // namespace lathe::jit
