// Long work asks whether it is still wanted: the same number of times on any machine, so nothing
// here depends on a clock. One line of a million elements is the worst case of most kernels,
// since a line cannot be cut.
#include <absl/strings/str_cat.h>

#include <atomic>
#include <functional>
#include <map>

#include "core/dispatch/assign.h"
#include "core/dispatch/call.h"
#include "kernels/runtime/pool.h"
#include "tests/cpp/support/kernels_support.h"

namespace lathe::test {
namespace {

constexpr int64_t kMany = 1 << 20;
constexpr int64_t kAtMost = 1 << 18;  // elements between two questions: a few milliseconds

std::atomic<int64_t> asked{0};
std::atomic<int64_t> stops_at{0};  // 0: never

/// Counts questions, and says stop from one of them on.
class Asked {
 public:
  explicit Asked(int64_t stop = 0) {
    asked = 0;
    stops_at = stop;
    set_cancel_hook([]() noexcept {
      const int64_t now = ++asked;
      return stops_at > 0 && now >= stops_at;
    });
  }
  ~Asked() { set_cancel_hook(nullptr); }
  Asked(const Asked&) = delete;
};

using Work = std::function<void()>;

Tensor line(DType dtype = DType::f32) {
  return run1("cast", random_tensor(DType::f32, {kMany}, 3), dtype);
}
Tensor places(int64_t below) {
  return run1("remainder", run1("arange", 0, Int(kMany), 1, DType::i64), Int(below));
}

/// An op of a kind that works along an axis, called on one long line.
Work along_a_line(const Op& op, const Tensor& x) {
  return [&op, x = x] {
    std::vector<Arg> args;
    for (const Param& p : op.schema.params) {
      if (p.type == ArgType::tensor && !p.list && args.empty())
        args.emplace_back(x);
      else if (p.has_default)
        args.push_back(p.default_value[0]);
      else
        args.emplace_back(p.name == "k" ? 3 : 0);
    }
    call(op, Args(args.data(), args.size()));
  };
}

std::map<std::string, Work> long_work() {
  std::map<std::string, Work> all;
  const Tensor x = line(), truth = line(DType::bool_);
  for (const Op* op : all_ops()) {
    const bool along = op->kind == Kind::scan || op->kind == Kind::sort || op->kind == Kind::reduce;
    if (!along) continue;
    const bool of_bool = op->name() == "all" || op->name() == "any";
    all[op->name()] = along_a_line(*op, of_bool ? truth : x);
  }
  const Tensor at = places(kMany), few = places(8), out = run1("zeros_like", x);
  all["topk, half of it"] = [x] { run("topk", x, Int(kMany / 5), 0, true); };
  all["gather"] = [=] { run("gather", x, 0, at); };
  all["scatter"] = [=] { run("scatter", x, 0, at, x); };
  all["scatter_add to few"] = [=] { run("scatter_add", x, 0, few, x); };
  all["index_select"] = [=] { run("index_select", x, 0, at); };
  all["index_add to few"] = [=] { run("index_add", x, 0, few, x); };
  all["add"] = [=] { run("add", x, x); };
  all["exp"] = [=] { run("exp", x); };
  all["cast"] = [=] { run("cast", x, DType::f64); };
  all["arange"] = [] { run("arange", 0, Int(kMany), 1); };
  all["broadcast"] = [] {
    Tensor a = run1("arange", 0, 1024, 1, DType::f32);
    run("add", run1("unsqueeze", a, 0), run1("unsqueeze", a, 1));
  };
  all["row times column"] = [=] { run("mm", run1("unsqueeze", x, 0), run1("unsqueeze", x, 1)); };
  all["few rows, few columns, deep"] = [] {
    Tensor a = random_tensor(DType::f32, {8, 1 << 17}, 1);
    run("mm", a, run1("transpose", a, 0, 1));
  };
  all["few columns, deep"] = [] {
    Tensor a = random_tensor(DType::f32, {40, 1 << 15}, 1);
    run("mm", a, run1("contiguous", run1("transpose", a, 0, 1)));
  };
  return all;
}

class Cancel : public testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() { install_executor(); }
};

TEST_P(Cancel, LongWorkAsks) {
  FlagScope threads(Flag::threads, GetParam());
  for (const auto& [name, work] : long_work()) {
    SCOPED_TRACE(name);
    work();  // what is made once for all calls
    Asked count;
    work();
    if (GetParam() == std::string_view("1")) {
      EXPECT_GE(asked, kMany / kAtMost);
    }
  }
}

/// With several threads the caller may have no second chunk to ask before.
TEST_P(Cancel, LongWorkStopsAtTheNextQuestionAndCanBeDoneAgain) {
  FlagScope threads(Flag::threads, GetParam());
  const int64_t which = GetParam() == std::string_view("1") ? 2 : 1;
  for (const auto& [name, work] : long_work()) {
    SCOPED_TRACE(name);
    {
      Asked stop(which);
      try {
        work();
        ADD_FAILURE() << "it was not stopped after " << asked << " questions";
      } catch (const CancelledError&) {
        EXPECT_LE(asked, which + 2);  // a nested region may ask once more on the way out
      }
    }
    work();
  }
}

/// What is written in place is there as a whole, or not at all.
TEST_P(Cancel, AWriteIsDoneOrNotBegun) {
  FlagScope threads(Flag::threads, GetParam());
  Tensor x = line(), ones = run1("ones_like", x);
  const auto before = bits_of(x);
  for (int64_t stop = 1; stop < 40; ++stop) {
    Asked stopped(stop);
    try {
      assign(x, ones);
    } catch (const CancelledError&) {
      EXPECT_EQ(bits_of(x), before);
      continue;
    }
    EXPECT_EQ(bits_of(x), bits_of(ones));
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, Cancel, testing::Values("1", "3"));

}  // namespace
}  // namespace lathe::test
