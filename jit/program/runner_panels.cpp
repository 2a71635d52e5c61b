// Steps with panels (panels.cpp), as they run.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>

#include "core/base/flags.h"
#include "core/dispatch/profile.h"
#include "jit/program/runner.h"
#include "kernels/runtime/pool.h"
#include "kernels/runtime/scratch.h"

namespace lathe::jit {
namespace {

/// A kernel that is called on some of its positions, with some of its buffers elsewhere each time.
struct Moved {
  KernelCall call;
  absl::InlinedVector<size_t, 2> in, out;  // buffers that are the panel's

  /// For a panel whose first element is number `first` of the whole.
  void place(std::byte* from, std::byte* to, int64_t first, int64_t from_item, int64_t to_item) {
    for (size_t k : in) call.buffers[k] = from - first * from_item;
    for (size_t k : out) call.buffers[k] = to - first * to_item;
    call.run.buffers = call.buffers;
  }
};

/// An epilogue on a part of its positions.
struct Part {
  Part(const ElementKernel& kernel, const ElementKernel::Bound& bound, const KernelRun& run,
       int64_t begin)
      : launch(kernel, bound, run), first(begin) {}
  ElementKernel::Launch launch;
  int64_t first;

  static void apply(void* context, const Epilogue::Lines& lines) {
    auto& part = *static_cast<Part*>(context);
    part.launch.lines({part.first + lines.first, lines.count, lines.lines, lines.apart});
  }
};

/// Calls f with an unsigned number as wide as the dtype, the bits of its infinity and of its -0; f
/// false of what has none of these.
template <class F>
bool with_bits(DType dtype, F f) {
  if (dtype == DType::f32) return f(uint32_t{0x7f800000}, uint32_t{1} << 31);
  if (dtype == DType::f64) return f(uint64_t{0x7ff} << 52, uint64_t{1} << 63);
  return false;
}

template <class Word, class F>
bool any_of(const std::byte* data, int64_t count, F f) {
  const auto* words = reinterpret_cast<const Word*>(data);
  for (int64_t i = 0; i < count; i += 64) {
    bool any = false;
    for (int64_t k = i; k < std::min(i + 64, count); ++k) any |= f(words[k]);
    if (any) return true;
  }
  return false;
}

bool any_bit(const std::byte* data, int64_t bytes) {
  constexpr int64_t kWord = 8, kWords = 8;
  uint64_t words[kWords], rest = 0;
  for (; bytes >= kWord * kWords; bytes -= kWord * kWords, data += kWord * kWords) {
    std::memcpy(words, data, sizeof(words));
    if (((words[0] | words[1] | words[2] | words[3]) |
         (words[4] | words[5] | words[6] | words[7])) != 0)
      return true;
  }
  for (; bytes > 0; bytes -= kWord, data += kWord) {
    std::memcpy(&rest, data, static_cast<size_t>(std::min(bytes, kWord)));
    if (rest != 0) return true;
  }
  return false;
}

/// How many columns of the rows of a mask are up to the last true one.
int64_t seen_columns(const std::byte* mask, int64_t rows, int64_t cols) {
  int64_t seen = 0;
  for (int64_t r = 0; r < rows; ++r, mask += cols) {
    int64_t c = cols;
    for (uint64_t word = 0; c >= seen + 8; c -= 8) {
      std::memcpy(&word, mask + c - 8, 8);
      if (word != 0) break;
    }
    while (c > seen && mask[c - 1] == std::byte{0}) --c;
    seen = std::max(seen, c);
  }
  return seen;
}

int64_t item_of(const ir::Value* v) { return static_cast<int64_t>(size_of(v->tensor().dtype)); }

}  // namespace

/// One run: what its tasks have in common.
class Runner::InPanels {
 public:
  InPanels(Runner& runner, const Step& s, Bound::OfStep& b)
      : r_(runner), s_(s), b_(b), plan_(b.panels->plan), product_(s.panels->product) {
    const Step &product = product_, &rows = s.panels->rows;
    const Bound::OfPanels& parts = *b.panels;
    for (size_t k = 0; k < 2; ++k) first_[k] = r_.address(product, parts.product, k);
    second_ = r_.address(s, b, 1);
    const bool follows = s.epilogue != nullptr;
    out_ = r_.target(s, b);
    if (product.epilogue) {
      const Step& e = *product.epilogue;
      for (int input : e.kernel->tensors())
        add(scale_, e, *parts.product.epilogue, input, product.out[0]);
      add_result(scale_);
      r_.add_uniforms(e, e.kernel->numbers(), scale_.call);
      find_mask(e, *parts.product.epilogue);
    }
    const int made = (product.epilogue ? *product.epilogue : product).out[0];
    const RowKernel& kernel = rows.rows->kernel;
    for (int k = 0; k < kernel.loops().inputs; ++k) add(rows_, rows, parts.rows, k, made);
    add_result(rows_);
    r_.add_uniforms(rows, kernel.numbers(), rows_.call);
    if (follows) r_.prepare(*s.epilogue, *b.epilogue, last_);
  }

  void run() {
    if (profiling())
      for (const PanelProduct* p : {&plan_.first, &plan_.second}) note_kernel(p->whole.entry->name);
    parallel_for(plan_.tasks, 1, [&](int64_t begin, int64_t end) {
      const Scratch scratch(plan_.scratch_bytes);
      for (int64_t t = begin; t < end; ++t) task(t, scratch.data());
    });
    for (const std::atomic<Engine>* engine : {&epilogue_, &group_}) r_.count(*engine);
  }

 private:
  void add(Moved& kernel, const Step& s, const Bound::OfStep& b, int input, int made) {
    const auto k = static_cast<size_t>(input);
    const bool moved = s.in[k] == made;
    if (moved) kernel.in.push_back(kernel.call.buffers.size());
    const bool tensor = !moved && r_.at(s.in[k]).is_tensor();
    kernel.call.buffers.push_back(tensor ? r_.address(s, b, k) : nullptr);
  }
  static void add_result(Moved& kernel) {
    kernel.out.push_back(kernel.call.buffers.size());
    kernel.call.buffers.push_back(nullptr);
  }

  /// The right side, for all panels of a batch.
  static PackedRef packed(const PreparedCall& call, const std::byte* data) {
    if (call.entry->pack == nullptr) return nullptr;
    return call.entry->pack(*call.entry, *call.plan, 1, data, nullptr);
  }

  void task(int64_t t, std::byte* scratch) const {
    const int64_t parts = plan_.tasks / plan_.batches, batch = t / parts, part = t % parts;
    const std::byte* keys = first_[1] + plan_.first.offset(1, batch, plan_.leading);
    const std::byte* values = second_ + plan_.second.offset(1, batch, plan_.leading);
    PackedRef a, b;
    if (plan_.panels > 1) {
      a = packed(plan_.first.whole, keys);
      b = packed(plan_.second.whole, values);
    }
    const bool finite = mask_ != nullptr && all_finite(values);
    Moved scale = scale_, rows = rows_;
    const int64_t begin = plan_.panels * part / parts, end = plan_.panels * (part + 1) / parts;
    for (int64_t p = begin; p < end; ++p) {
      check_cancelled();
      const int64_t row = p * plan_.each, count = std::min(plan_.each, plan_.rows - row);
      panel({batch, row, count, keys, values, a.get(), b.get(), finite}, scale, rows, scratch);
    }
  }

  struct Panel {
    int64_t batch, row, count;
    const std::byte *keys, *values;
    const Packed *packed_keys, *packed_values;
    bool finite;  // values
  };
  const PreparedCall& of(const PanelProduct& p, const Panel& panel) const {
    return panel.count == plan_.each ? p.whole : p.last;
  }

  void panel(const Panel& at, Moved& scale, Moved& rows, std::byte* scratch) const {
    const Bound::OfPanels& parts = *b_.panels;
    const Step& group = s_.panels->rows;
    const int64_t first_row = at.batch * plan_.rows + at.row, first = first_row * plan_.cols;
    const ir::Value* made = product_.node->out(0);
    const ir::Value* scaled = product_.epilogue ? product_.epilogue->node->out(0) : made;
    const int64_t size = plan_.each * plan_.cols;
    std::byte* raw = scratch;
    std::byte* in = plan_.in_place || !product_.epilogue ? raw : raw + size * item_of(made);
    std::byte* out = in + size * item_of(scaled);
    const int64_t seen = mask_ == nullptr
                             ? plan_.cols
                             : seen_columns(mask_ + at.batch * mask_batch_ + at.row * plan_.cols,
                                            at.count, plan_.cols);
    Launch launch{
        first_[0] + plan_.first.offset(0, at.batch, plan_.leading) + at.row * plan_.first.row,
        at.keys,
        raw,
        {},
        {nullptr, at.packed_keys},
        {.columns = seen}};
    std::optional<Part> part;
    if (product_.epilogue) {
      const Step& e = *product_.epilogue;
      scale.place(raw, in, first, item_of(made), item_of(scaled));
      part.emplace(*e.kernel, parts.product.epilogue->kernel, scale.call.run, first);
    }
    run_with(of(plan_.first, at), launch, part, at.count * plan_.cols, seen < plan_.cols);
    rows.place(in, out, first, item_of(scaled), item_of(s_.node->in(0)));
    group_ = group.rows->kernel.run_some(parts.rows.rows, rows.call.run, first_row,
                                         first_row + at.count);
    const int64_t result = first_row * plan_.width;
    launch = {
        out, at.values, out_ + result * item_of(s_.node->out(0)), {}, {nullptr, at.packed_values}};
    if (seen < plan_.cols && at.finite && zero_from(out, at.count, seen))
      launch.needed.terms = std::max<int64_t>(seen, 1);
    part.reset();
    if (s_.epilogue) part.emplace(*s_.epilogue->kernel, b_.epilogue->kernel, last_.run, result);
    run_with(of(plan_.second, at), launch, part, at.count * plan_.width,
             launch.needed.terms < plan_.cols);
  }

  /// What the rows made of columns from `from` on is all +0.
  bool zero_from(const std::byte* data, int64_t rows, int64_t from) const {
    const int64_t item = item_of(s_.node->in(0));
    for (int64_t r = 0; r < rows; ++r)
      if (any_bit(data + (r * plan_.cols + from) * item, (plan_.cols - from) * item)) return false;
    return true;
  }

  /// A batch of the second product's second operand is finite, and the product is computed in the
  /// dtype that both operands have.
  bool all_finite(const std::byte* values) const {
    const ir::Node& n = *s_.node;
    const DType dtype = n.in(1)->tensor().dtype;
    const int64_t row = plan_.second.right[0], column = plan_.second.right[1];
    if (n.in(0)->tensor().dtype != dtype || n.out(0)->tensor().dtype != dtype) return false;
    return with_bits(dtype, [&]<class Word>(Word infinity, Word) {
      const auto infinite = [&](Word w) { return (w & infinity) == infinity; };
      for (int64_t k = 0; k < plan_.cols; ++k) {
        const std::byte* at = values + k * row;
        bool any = false;
        if (column == static_cast<int64_t>(sizeof(Word))) {
          any = any_of<Word>(at, plan_.width, infinite);
        } else {
          for (int64_t j = 0; j < plan_.width; ++j)
            any |= infinite(*reinterpret_cast<const Word*>(at + j * column));
        }
        if (any) return false;
      }
      return true;
    });
  }

  /// A product, and an epilogue on its `count` results: behind it, if some of them were left out.
  void run_with(const PreparedCall& product, Launch launch, std::optional<Part>& part,
                int64_t count, bool apart) const {
    const auto run = [&] { product.entry->run(*product.entry, *product.plan, launch); };
    const Epilogue apply{Part::apply, part ? &*part : nullptr};
    const bool fused = part && product.entry->fuses && !apart;
    if (fused) launch.epilogue = apply;
    run();
    if (launch.needed.terms != Needed().terms && minus_zero(launch.out, count)) {
      launch.needed = {};
      run();
    }
    if (!part) return;
    if (!fused) apply(0, count);
    part->launch.finish();
    epilogue_ = part->launch.engine();
  }
  bool minus_zero(const std::byte* out, int64_t count) const {
    return with_bits(s_.node->out(0)->tensor().dtype, [&]<class Word>(Word, Word minus) {
      return any_of<Word>(out, count, [&](Word w) { return w == minus; });
    });
  }

  /// The epilogue's mask, if it lies as a matrix of rows and columns for all batches or for each.
  void find_mask(const Step& epilogue, const Bound::OfStep& bound) {
    if (plan_.mask < 0) return;
    const auto k = static_cast<size_t>(plan_.mask);
    const ir::Datum& d = r_.at(epilogue.in[k]);
    if (!d.is_tensor() || bound.shifts[k] != 0) return;
    const TensorType type = type_of(d.tensor());
    const Shape& shape = type.shape;
    const size_t lead = shape.size() < 2 ? 0 : shape.size() - 2;
    int64_t batches = 1;
    for (size_t axis = 0; axis < lead; ++axis) batches *= shape[axis].value();
    const Shape& said = epilogue.node->in(plan_.mask)->tensor().shape;
    const bool as_said = shape.size() == said.size() &&
                         std::equal(shape.begin(), shape.end(), said.begin(),
                                    [&](Int a, Int b) { return a.value() == r_.value(b); });
    const bool matrix = as_said && shape.size() >= 2 && type.dtype == DType::bool_ &&
                        d.tensor().geometry().is_contiguous() &&
                        shape[lead].value() == plan_.rows && shape[lead + 1].value() == plan_.cols;
    if (!matrix || (batches != 1 && (batches != plan_.batches || lead != plan_.leading.size())))
      return;
    mask_ = r_.address(epilogue, bound, k);
    mask_batch_ = batches == 1 ? 0 : plan_.rows * plan_.cols;
  }

  Runner& r_;
  const Step& s_;
  const Bound::OfStep& b_;
  const PanelPlan& plan_;
  const Step& product_;
  std::array<const std::byte*, 2> first_;
  const std::byte* second_;
  std::byte* out_;
  Moved scale_, rows_;
  KernelCall last_;
  const std::byte* mask_ = nullptr;
  int64_t mask_batch_ = 0;
  mutable std::atomic<Engine> epilogue_{Engine::none}, group_{Engine::none};
};

void Runner::run_panels(const Step& s, Bound::OfStep& b) {
  Bound::OfPanels& parts = *b.panels;
  if (parts.revision != flags_revision()) {
    parts.plan = plan_panels(s, now_);
    parts.revision = flags_revision();
  }
  if (!parts.plan.fits) {
    run_bound(s.panels->product, parts.product);
    run_bound(s.panels->rows, parts.rows);
    return s.epilogue ? run_with_epilogue(s, b) : run_op(s, b);
  }
  c_.counts_.ops += 2;
  ++c_.counts_.in_panels;
  InPanels(*this, s, b).run();
}

}  // namespace lathe::jit
