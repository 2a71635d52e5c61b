#include "tests/bits/generate.h"

#include <algorithm>
#include <map>
#include <optional>

#include "core/base/error.h"
#include "core/dispatch/call.h"
#include "core/tensor/random.h"
#include "include/lathe/ops/math.h"
#include "tests/bits/definitions.h"

namespace lathe::bits_test {
namespace {

using M = math_ops<Tensor>;
using testing::Sample;
using testing::SampleTensor;

constexpr int64_t kMostElements = 60000;
constexpr int kMostRank = 6;

/// How far a proposal strays from its sample.
enum Level : int { kWild, kFresh, kPlain };

/// Finite and moderate, so that what is computed from it says something.
bool tame(const Tensor& x) {
  if (is_complex(x.dtype())) return tame(M::abs(x));
  if (!is_floating(x.dtype())) return true;
  Tensor wide = M::cast(x, DType::f64);
  const auto* data = reinterpret_cast<const double*>(wide.data());
  int64_t count = wide.numel().value();
  for (int64_t i = 0; i < count; ++i)
    if (!(std::abs(data[i]) < 1e4)) return false;
  return true;
}

class Generator {
 public:
  explicit Generator(uint64_t seed) : rng_(seed * 0x9e3779b97f4a7c15u + 1) { p_.seed = seed; }

  Program make() {
    GradMode off(false);
    manual_seed(p_.seed);  // whether a step can be run depends on what random ones before it gave
    draw_sizes();
    main_ = draw_dtype();
    size_t steps = 3 + below(8);
    for (size_t i = 0; i < steps; ++i) add_step();
    draw_outputs();
    draw_gradient();
    return std::move(p_);
  }

 private:
  uint64_t below(uint64_t n) { return rng_() % n; }
  bool chance(int percent) { return below(100) < static_cast<uint64_t>(percent); }

  void draw_sizes() {
    constexpr int64_t kUsual[] = {2, 3, 4, 5, 6, 7, 8, 9, 11, 16, 17, 31, 33, 40};
    while (p_.sizes.size() < 3) {
      int64_t n = chance(6) ? 0 : chance(12) ? 1 : kUsual[below(std::size(kUsual))];
      if (p_.sizes.empty() && chance(6)) n = 500 + static_cast<int64_t>(below(1500));
      if (std::find(p_.sizes.begin(), p_.sizes.end(), n) == p_.sizes.end()) p_.sizes.push_back(n);
    }
  }

  DType draw_dtype() {
    constexpr DType kOther[] = {DType::f16,  DType::bf16,  DType::f64, DType::f64, DType::f16,
                                DType::bf16, DType::i32,   DType::i64, DType::i16, DType::i8,
                                DType::u8,   DType::bool_, DType::c64, DType::c64, DType::c128,
                                DType::c128, DType::u16,   DType::u32, DType::u64};
    return chance(50) ? DType::f32 : kOther[below(std::size(kOther))];
  }
  /// The program's own dtype where the definition takes it, now and then another one.
  DType draw_dtype(const Row& row) {
    if (row.takes.has(main_) && chance(85)) return main_;
    for (int i = 0; i < 20; ++i)
      if (DType d = draw_dtype(); row.takes.has(d)) return d;
    return kTensorTypes[below(std::size(kTensorTypes))];
  }

  // ── values ──

  int slot_of(Int size) const {
    for (size_t i = 0; i < p_.sizes.size(); ++i)
      if (identical(size, Int(p_.sizes[i]))) return static_cast<int>(i);
    return -1;
  }

  /// Operands of one call are mostly of one dtype: that of the first.
  DType dtype_for(char kind, const Row& row, Level level) {
    if (kind == 'b') return DType::bool_;
    if (kind == 'n') return level == kPlain || chance(70) ? DType::i64 : DType::i32;
    if (level == kPlain) return kind == 'i' ? DType::i64 : kind == 'c' ? DType::c64 : DType::f32;
    if (call_dtype_ && chance(85)) return *call_dtype_;
    DType d = draw_dtype(row);
    if (kind == 'c' && chance(60)) d = DType::c64;
    if (kind == 'i' && chance(60)) d = draw_integer();
    return d;
  }
  DType draw_integer() {
    constexpr DType kIntegers[] = {DType::i64, DType::i64, DType::i64, DType::i64,  DType::i32,
                                   DType::i16, DType::i8,  DType::u8,  DType::bool_};
    return kIntegers[below(std::size(kIntegers))];
  }
  void note_dtype(char kind, DType d) {
    if (any_dtype(kind) && !call_dtype_) call_dtype_ = d;
  }

  int fresh(const SampleTensor& like, const Row& row, Shape shape, Level level) {
    Input in;
    in.id = p_.ids + static_cast<int>(drafts_.size());
    in.like = like;
    in.like.shape = shape;
    in.dtype = dtype_for(like.kind, row, level);
    note_dtype(like.kind, in.dtype);
    in.seed = rng_();
    bool wide = like.kind == 'f' || like.kind == 'i' || like.kind == 'c';
    in.special = wide && chance(8);
    for (Int s : shape) in.slots.push_back(slot_of(s));
    constexpr Layout kLayouts[] = {Layout::transposed, Layout::strided, Layout::offset,
                                   Layout::expanded};
    if (level != kPlain && chance(25)) in.layout = kLayouts[below(std::size(kLayouts))];
    if (numel(shape).value() > kMostElements) return -1;
    in.value = make_input(in, p_.sizes);
    drafts_.push_back(in);
    draft_values_.push_back(laid_out(in.value, in.layout));
    return in.id;
  }

  const Tensor& value(int id) const {
    return id < p_.ids ? pool_[static_cast<size_t>(id)]
                       : draft_values_[static_cast<size_t>(id - p_.ids)];
  }

  static bool kind_fits(char kind, const Row& row, const Tensor& t) {
    if (kind == 'n' || kind == 's') return false;
    return kind == 'b' ? t.dtype() == DType::bool_ : row.takes.has(t.dtype());
  }

  /// A value made before, the later the likelier; -1: none fits.
  int reuse(const std::function<bool(const Tensor&)>& fits) {
    std::vector<int> ids;
    for (int id = 0; id < p_.ids; ++id) {
      const Tensor& t = pool_[static_cast<size_t>(id)];
      bool wild = !tame_[static_cast<size_t>(id)];
      if (fits(t) && (!wild || chance(8))) ids.push_back(id);
    }
    if (ids.empty()) return -1;
    size_t back = std::min<size_t>(chance(60) ? below(3) : below(ids.size()), ids.size() - 1);
    return ids[ids.size() - 1 - back];
  }

  // ── proposals ──

  Shape mapped(const Shape& shape, std::map<int64_t, int64_t>& sizes, Level level) {
    Shape out;
    for (Int e : shape) {
      int64_t n = e.value();
      auto [it, first] = sizes.try_emplace(n, n);
      bool change = level == kPlain ? false : n == 1 ? chance(15) : chance(75);
      if (first && change) it->second = p_.sizes[below(p_.sizes.size())];
      out.push_back(Int(it->second));
    }
    return out;
  }

  /// A shape that broadcasts with `with`.
  Shape alongside(const Shape& with) {
    Shape out = with;
    for (Int& e : out)
      if (chance(15)) e = 1;
    if (!out.empty() && chance(20)) out.erase(out.begin());
    return out;
  }

  int operand(const SampleTensor& t, const Row& row, const Tensor* leader, Level level,
              std::map<int64_t, int64_t>& sizes) {
    bool free_shape = row.op->kind == Kind::elementwise;
    bool plain_kind = t.kind == 'f' || t.kind == 'i' || t.kind == 'b' || t.kind == 'c';
    if (level == kWild && chance(plain_kind ? 85 : 25)) {
      bool alike = any_dtype(t.kind) && call_dtype_ && chance(free_shape ? 30 : 80);
      auto fits = [&](const Tensor& v) {
        if (!kind_fits(t.kind, row, v) || (alike && v.dtype() != *call_dtype_)) return false;
        if (!free_shape) return v.rank() == static_cast<int>(t.shape.size());
        return leader == nullptr || broadcasts(v.shape(), leader->shape());
      };
      if (int id = reuse(fits); id >= 0) {
        note_dtype(t.kind, value(id).dtype());
        return id;
      }
    }
    if (level != kPlain && free_shape && leader != nullptr)
      return fresh(t, row, alongside(leader->shape()), level);
    return fresh(t, row, mapped(t.shape, sizes, level), level);
  }

  static bool broadcasts(const Shape& a, const Shape& b) {
    for (size_t k = 1; k <= std::min(a.size(), b.size()); ++k) {
      Int x = a[a.size() - k], y = b[b.size() - k];
      if (!(x == y || x == Int(1) || y == Int(1))) return false;
    }
    return true;
  }

  void add_literal(Step& s, size_t param, const Arg& a, const std::map<int64_t, int64_t>& sizes,
                   const std::function<int(const TensorImpl*)>& id_of, bool map_sizes) {
    if (a.tag == Tag::tensor) {
      s.attrs.push(Arg());
      s.operands.push_back({{static_cast<uint16_t>(param), -1}, id_of(a.tensor_)});
      return;
    }
    if (a.tag != Tag::list) {
      s.attrs.push(a);
      return;
    }
    std::vector<Arg> items(a.list_->data, a.list_->data + a.list_->size);
    for (size_t e = 0; e < items.size(); ++e) {
      ir::Place place{static_cast<uint16_t>(param), static_cast<int32_t>(e)};
      if (items[e].tag == Tag::tensor) {
        s.operands.push_back({place, id_of(items[e].tensor_)});
        items[e] = Arg();
      } else if (items[e].tag == Tag::integer && map_sizes) {
        auto it = sizes.find(items[e].integer().value());
        if (it == sizes.end()) continue;
        items[e] = Arg(Int(it->second));
        refer_to_size(s, place, items[e]);
      }
    }
    ArgList list{items.data(), items.size()};
    s.attrs.push(Arg(list));
  }

  /// A size that some value has may be asked of that value instead of written as a number.
  void refer_to_size(Step& s, ir::Place place, Arg& item) {
    if (chance(40)) return;
    for (int id = 0; id < p_.ids; ++id)
      for (int axis = 0; axis < value(id).rank(); ++axis)
        if (identical(value(id).size(axis), item.integer())) {
          s.operands.push_back({place, id, axis});
          item = Arg();
          return;
        }
  }

  /// A dtype argument: what is made from nothing has what the definition takes, a cast goes
  /// anywhere.
  Arg draw_dtype_arg(const Row& row) {
    if (makes_from_nothing(*row.op)) return draw_dtype(row);
    return kTensorTypes[below(std::size(kTensorTypes))];
  }

  std::optional<Step> propose(const Row& row, const Sample& sample, Level level) {
    call_dtype_.reset();
    std::map<int64_t, int64_t> sizes;
    std::vector<std::pair<const TensorImpl*, int>> ids;
    const Tensor* leader = nullptr;
    bool possible = true;
    auto make = [&](const SampleTensor& t) {
      int id = operand(t, row, leader, level, sizes);
      if (id < 0) {
        possible = false;
        return scalar_tensor(0.0, DType::f32);
      }
      // Drafts may move: keep no reference into them.
      const Tensor& v = value(id);
      ids.emplace_back(v.impl(), id);
      if (leader == nullptr) leader_ = v, leader = &leader_;
      return v;
    };
    testing::PreparedCall call = testing::prepare(sample, make);
    if (!possible) return std::nullopt;
    auto id_of = [&](const TensorImpl* impl) {
      for (auto& [known, id] : ids)
        if (known == impl) return id;
      LATHE_INTERNAL("a tensor that was not handed out");
    };
    Step s;
    s.op = row.op;
    bool map_sizes = level != kPlain && chance(60);
    for (size_t k = 0; k < call.args.size(); ++k)
      if (row.op->schema.params[k].type == ArgType::dtype && level != kPlain && chance(70))
        s.attrs.push(draw_dtype_arg(row));
      else
        add_literal(s, k, call.args[k], sizes, id_of, map_sizes);
    return s;
  }

  /// Runs the step on the values there are; keeps it, and what is new, if nothing refuses it.
  bool attempt(Step& s) {
    Pool trial = pool_;
    for (const Tensor& t : draft_values_) trial.push_back(t);
    // What is written keeps its id: it is the same tensor afterwards.
    bool writes = s.form == Step::Form::inplace || s.form == Step::Form::assign;
    size_t results = writes ? 0 : s.op != nullptr ? s.op->schema.results.size() : 1;
    // A grid has a bin for each combination of bins along the last axis.
    if (s.op != nullptr && s.op->name().rfind("histogramdd", 0) == 0 &&
        trial[static_cast<size_t>(s.operands[0].id)].shape().back().value() > 6)
      return false;
    s.gradients = !chance(8);
    s.out.clear();
    for (size_t k = 0; k < results; ++k) s.out.push_back(static_cast<int>(trial.size() + k));
    trial.resize(trial.size() + results);
    try {
      run_step(s, trial);
    } catch (const Error& e) {
      if (e.kind() == ErrorKind::internal) throw;
      return false;
    }
    for (int id : s.out) {
      const Tensor& t = trial[static_cast<size_t>(id)];
      if (t.numel().value() > kMostElements || t.rank() > kMostRank) return false;
    }
    for (Input& in : drafts_) p_.inputs.push_back(std::move(in));
    pool_ = std::move(trial);
    p_.ids = static_cast<int>(pool_.size());
    for (size_t id = tame_.size(); id < pool_.size(); ++id) tame_.push_back(tame(pool_[id]));
    p_.steps.push_back(s);
    return true;
  }

  void add_step() {
    if (p_.ids > 0 && chance(22)) {
      drop_drafts();
      uint64_t which = below(10);
      bool done = which < 5 ? add_inplace() : which < 7 ? add_assign() : add_structure();
      if (done) return;
    }
    // A sample may fail for the values that were drawn: not every matrix has what its op asks for.
    for (int unlucky = 0;; ++unlucky) {
      const Row& row = rows()[below(rows().size())];
      const Sample& sample = *row.samples[below(row.samples.size())];
      for (Level level : {kWild, kWild, kFresh, kFresh, kPlain}) {
        drop_drafts();
        std::optional<Step> s = propose(row, sample, level);
        if (s && attempt(*s)) return;
      }
      drop_drafts();
      if (unlucky == 3)
        LATHE_INTERNAL("the sample of " + row.op->name() + " does not run as it stands");
    }
  }

  void drop_drafts() {
    drafts_.clear();
    draft_values_.clear();
  }

  const Row* elementwise_row() {
    for (int i = 0; i < 20; ++i) {
      const Row& row = rows()[below(rows().size())];
      if (row.op->kind == Kind::elementwise && row.op->schema.results.size() == 1) return &row;
    }
    return nullptr;
  }

  bool add_inplace() {
    for (int i = 0; i < 4; ++i) {
      drop_drafts();
      const Row* row = elementwise_row();
      if (row == nullptr) continue;
      std::optional<Step> s = propose(*row, *row->samples[0], kWild);
      // Only a value there is can be written to; a new input will do too.
      if (!s || s->operands.empty() || s->operands[0].place.param != 0) continue;
      s->form = Step::Form::inplace;
      if (attempt(*s)) return refresh_tameness();
    }
    return false;
  }

  bool add_assign() {
    drop_drafts();
    int dst = reuse([](const Tensor&) { return true; });
    if (dst < 0) return false;
    int src = reuse([&](const Tensor& v) {
      return v.rank() <= value(dst).rank() && broadcasts(v.shape(), value(dst).shape());
    });
    if (src < 0 || src == dst) return false;
    Step s;
    s.form = Step::Form::assign;
    s.operands = {{{0, -1}, dst}, {{1, -1}, src}};
    return attempt(s) && refresh_tameness();
  }

  /// Writes may change other values.
  bool refresh_tameness() {
    for (size_t id = 0; id < pool_.size(); ++id) tame_[id] = tame(pool_[id]);
    return true;
  }

  std::optional<Step> link(const Tensor& x) {
    const Row* row = elementwise_row();
    if (row == nullptr || !row->takes.has(x.dtype())) return std::nullopt;
    const Sample& sample = *row->samples[0];
    std::vector<std::pair<const TensorImpl*, int>> ids{{x.impl(), kCarried}};
    bool first = true, possible = true;
    auto make = [&](const SampleTensor& t) {
      possible = possible && t.kind == 'f';
      if (first || chance(40)) {
        first = false;
        return x;
      }
      auto fits = [&](const Tensor& v) {
        return kind_fits(t.kind, *row, v) && identical(v.shape(), x.shape());
      };
      int id = reuse(fits);
      if (id < 0) return x;
      ids.emplace_back(value(id).impl(), id);
      return value(id);
    };
    testing::PreparedCall call = testing::prepare(sample, make);
    if (!possible) return std::nullopt;
    auto id_of = [&](const TensorImpl* impl) {
      for (auto& [known, id] : ids)
        if (known == impl) return id;
      LATHE_INTERNAL("a tensor that was not handed out");
    };
    Step s;
    s.op = row->op;
    for (size_t k = 0; k < call.args.size(); ++k) add_literal(s, k, call.args[k], {}, id_of, false);
    return s;
  }

  std::vector<Step> chain(const Tensor& x) {
    std::vector<Step> out;
    size_t length = 1 + below(3);
    for (int i = 0; i < 8 && out.size() < length; ++i)
      if (std::optional<Step> s = link(x)) out.push_back(std::move(*s));
    return out;
  }

  bool runs(const std::vector<Step>& chain, int id) const {
    Step s;
    s.form = Step::Form::repeat;
    s.operands = {{{0, -1}, id}};
    s.first = chain;
    s.trips = 1;
    Pool trial = pool_;
    try {
      run_step(s, trial);
    } catch (const Error& e) {
      if (e.kind() == ErrorKind::internal) throw;
      return false;
    }
    return true;
  }

  bool add_structure() {
    for (int i = 0; i < 4; ++i) {
      drop_drafts();
      int id = reuse([](const Tensor& v) { return v.numel().value() < 2000; });
      if (id < 0) return false;
      Step s;
      constexpr Step::Form kStructures[] = {Step::Form::branch, Step::Form::repeat,
                                            Step::Form::until};
      s.form = kStructures[below(3)];
      s.operands = {{{0, -1}, id}};
      s.first = chain(value(id));
      s.second = chain(value(id));
      // A trace goes through every part, also through what eager passes by: all must be valid.
      s.trips = 1;
      if (s.first.empty() || s.second.empty() || !runs(s.first, id) || !runs(s.second, id))
        continue;
      s.trips = static_cast<int>(below(4));
      if (attempt(s)) return true;
    }
    return false;
  }

  // ── what comes out ──

  void draw_outputs() {
    std::vector<int> made;
    for (const Step& s : p_.steps) {
      made.insert(made.end(), s.out.begin(), s.out.end());
      if (s.out.empty()) made.push_back(s.operands[0].id);
    }
    for (size_t k = made.size(); k-- > 0;) {
      bool there = std::find(p_.outputs.begin(), p_.outputs.end(), made[k]) != p_.outputs.end();
      if (!there && (p_.outputs.empty() || chance(40))) p_.outputs.push_back(made[k]);
    }
  }

  void draw_gradient() {
    if (chance(35)) return;
    bool any = false;
    for (Input& i : p_.inputs) {
      i.tracked = differentiable.has(i.value.dtype()) && i.layout != Layout::expanded && chance(60);
      any = any || i.tracked;
    }
    if (!any) return;
    bool structures = std::any_of(p_.steps.begin(), p_.steps.end(),
                                  [](const Step& s) { return !s.first.empty(); });
    // A backward inside of a trace that goes through a recorded structure is refused by name.
    p_.gradient = !structures && chance(60) ? Gradient::inside : Gradient::outside;
    try {
      GradMode on(true);
      Program tracked = p_;
      tracked.gradient = Gradient::inside;  // what can go wrong goes wrong this way as well
      run(tracked, inputs_of(tracked));
    } catch (const Error& e) {
      if (e.kind() == ErrorKind::internal) throw;
      p_.gradient = Gradient::none;
    }
    if (p_.gradient == Gradient::none)
      for (Input& i : p_.inputs) i.tracked = false;
  }

  std::mt19937_64 rng_;
  Program p_;
  DType main_ = DType::f32;
  std::optional<DType> call_dtype_;  // of the call that is being proposed
  Pool pool_;
  std::vector<bool> tame_;
  std::vector<Input> drafts_;
  std::vector<Tensor> draft_values_;
  Tensor leader_;
};

}  // namespace

Program generate(uint64_t seed) { return Generator(seed).make(); }

std::vector<int64_t> other_sizes(const Program& program, uint64_t seed) {
  std::mt19937_64 rng(seed * 31 + program.seed);
  constexpr int64_t kSizes[] = {0, 1, 2, 3, 4, 5, 6, 8, 13, 16, 21};
  std::vector<int64_t> out;
  for (int64_t n : program.sizes)
    out.push_back(n > 100 ? n - 7 : kSizes[rng() % std::size(kSizes)]);
  return out;
}

}  // namespace lathe::bits_test
