#include <absl/strings/str_cat.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <random>

#include "autodiff/tape.h"
#include "core/base/flags.h"
#include "core/base/stable_hash.h"
#include "core/dispatch/backend.h"
#include "core/dispatch/fn.h"
#include "core/tensor/random.h"
#include "graph/ir/text.h"
#include "graph/trace/interpret.h"
#include "include/lathe/ops/math.h"
#include "jit/saved_program.h"
#include "kernels/runtime/pool.h"
#include "tests/fuzz/targets.h"

namespace lathe::fuzz {

using namespace ir;  // NOLINT: graphs and their data

namespace {

using M = math_ops<Tensor>;
using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kTime{200};
constinit thread_local Clock::time_point deadline;

/// Stops what runs for longer than kTime, as Ctrl-C would.
class Timed {
 public:
  Timed() {
    deadline = Clock::now() + kTime;
    set_cancel_hook([]() noexcept { return Clock::now() > deadline; });
  }
  ~Timed() { set_cancel_hook(nullptr); }
  Timed(const Timed&) = delete;
};

/// Draws data for the inputs of a graph.
class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed) {}

  /// Nothing where the sizes that the graph asks for are too many elements, or none.
  std::optional<Data> inputs(const Graph& g) {
    std::vector<int64_t> sizes;
    const bool hinted = random_() % 2 == 0;
    for (const SymbolInfo& s : g.symbols())
      sizes.push_back(hinted ? s.hint : static_cast<int64_t>(random_() % 5));
    Data out;
    for (const Value* v : g.inputs()) {
      std::optional<Datum> d = one(v->type(), sizes);
      if (!d) return std::nullopt;
      out.push_back(std::move(*d));
    }
    return out;
  }

 private:
  static constexpr int64_t kMostElements = 1 << 14;

  double number() {
    constexpr double kOdd[] = {0.0, -0.0, 1.0, -1.0, 0.5, 1e30, -1e-30, INFINITY, NAN};
    return random_() % 4 == 0 ? kOdd[random_() % std::size(kOdd)]
                              : static_cast<double>(random_() % 33) / 4 - 4;
  }
  std::optional<Datum> one(const Type& type, const std::vector<int64_t>& sizes) {
    if (const Scalar* s = type.scalar()) {
      if (s->kind == ScalarKind::flag) return Datum(Arg(random_() % 2 == 0));
      if (s->kind == ScalarKind::real) return Datum(Arg(number()));
      return Datum(Arg(Int(static_cast<int64_t>(random_() % 9) - 2)));
    }
    const TensorType* t = type.tensor();
    if (t == nullptr) return Datum(std::holds_alternative<None>(type.is) ? Arg() : Arg("text"));
    Shape shape;
    int64_t count = 1;
    for (Int size : t->shape) {
      Int known =
          substitute(size, [&](uint32_t k) { return Int(k < sizes.size() ? sizes[k] : 1); });
      if (!known.known() || known.value() < 0 || known.value() > kMostElements) return std::nullopt;
      count *= known.value();
      if (count > kMostElements) return std::nullopt;
      shape.push_back(known);
    }
    return Datum(elements(t->dtype, shape, count));
  }
  Tensor elements(DType dtype, const Shape& shape, int64_t count) {
    std::vector<double> drawn(static_cast<size_t>(count));
    for (double& d : drawn) d = is_floating(dtype) ? number() : static_cast<double>(random_() % 5);
    Tensor x = from_host(drawn.data(), DType::f64, shape);
    return dtype == DType::f64 ? x : M::cast(x, dtype);
  }

  std::mt19937_64 random_;
};

/// In row-major order, as f64.
Tensor plain(const Tensor& t) { return M::clone(M::cast(t, DType::f64)); }

/// NaNs are one value.
template <class T>
bool same_elements(const Tensor& a, const Tensor& b) {
  const auto *x = reinterpret_cast<const T*>(a.data()), *y = reinterpret_cast<const T*>(b.data());
  for (int64_t i = 0; i < a.numel().value(); ++i) {
    const bool numbers = x[i] == x[i] && y[i] == y[i];
    if (numbers ? std::memcmp(x + i, y + i, sizeof(T)) != 0 : x[i] == x[i] || y[i] == y[i])
      return false;
  }
  return true;
}

bool same(const Datum& a, const Datum& b) {
  if (a.is_tensor() != b.is_tensor()) return false;
  if (!a.is_tensor()) return lathe::to_string(a.arg()) == lathe::to_string(b.arg());
  const Tensor &s = a.tensor(), &t = b.tensor();
  if (lathe::to_string(type_of(s)) != lathe::to_string(type_of(t))) return false;
  // Small and half floats without loss; what is left has no NaN.
  if (is_floating(s.dtype())) return same_elements<double>(plain(s), plain(t));
  if (is_complex(s.dtype())) return true;  // compared by tests/bits
  const Tensor x = M::clone(s), y = M::clone(t);
  const auto bytes = static_cast<size_t>(x.numel().value()) * size_of(x.dtype());
  return bytes == 0 || std::memcmp(x.data(), y.data(), bytes) == 0;
}

struct Ran {
  std::optional<Data> results;  // nothing: it was refused, as `why` says
  Data inputs;                  // afterwards
  std::string why;
};

template <class Run>
Ran ran(const Data& inputs, Run run) {
  Ran out;
  for (const Datum& d : inputs) out.inputs.push_back(d.is_tensor() ? M::clone(d.tensor()) : d);
  manual_seed(0);
  Timed timed;
  try {
    out.results = run(out.inputs);
  } catch (const Error& e) {
    allowed(e);
    out.why = e.what();
  }
  return out;
}

void agree(const char* what, const Data& a, const Data& b) {
  if (a.size() != b.size()) throw Finding(absl::StrCat("another number of ", what));
  for (size_t i = 0; i < a.size(); ++i)
    if (!same(a[i], b[i])) throw Finding(absl::StrCat(what, " ", i, " differ"));
}

}  // namespace

namespace {

std::optional<Graph> graph_of(std::string_view input) {
  if (!is_file(input)) return read(input);
  std::optional<Loaded> loaded = load(input);
  return loaded ? std::optional(std::move(loaded->graph)) : std::nullopt;
}

}  // namespace

void program(std::string_view input) {
  std::optional<Graph> g = graph_of(input);
  if (!g) return;
  FlagScope one(Flag::threads, "1"), simd(Flag::engine, "simd"), most(Flag::max_memory, "256M");
  std::optional<jit::SavedProgram> compiled;
  try {
    compiled.emplace(g->clone());
  } catch (const Error& e) {
    allowed(e);
    return;
  }
  compiled->explain(ir::Detail::verbose);
  Draw draw(StableHash().add(input).value());
  for (int round = 0; round < 3; ++round) {
    std::optional<Data> inputs = draw.inputs(*g);
    if (!inputs) continue;
    GradMode off(false);
    Ran nodes = ran(*inputs, [&](const Data& in) { return interpret(*g, in); });
    Ran whole = ran(*inputs, [&](const Data& in) { return compiled->run(in); });
    if (!nodes.results || !whole.results) continue;  // what nothing reads need not run, nor fail
    agree("results", *nodes.results, *whole.results);
    agree("inputs", nodes.inputs, whole.inputs);
    GradMode on(true);
    ran(*inputs, [&](const Data& in) {
      for (const Datum& d : in) {
        if (!d.is_tensor() || !is_floating(d.tensor().dtype())) continue;
        Tensor x = d.tensor();
        set_requires_grad(x, true);
      }
      return compiled->run(in);
    });
  }
}

}  // namespace lathe::fuzz
