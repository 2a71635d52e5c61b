// call(): the short way of elementwise ops on small tensors (shortcut.h says when there is one),
// and the long way of everything else.
//
// Where to start: call() and call_short() at the end; Glance, what the short way asks of the
// operands; call_in_full; call_profiled, by which calls go while a profile is open.
#include "core/dispatch/call.h"

#include <absl/cleanup/cleanup.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "core/base/error.h"
#include "core/base/flags.h"
#include "core/dispatch/in_place.h"
#include "core/dispatch/profile.h"
#include "core/dispatch/shortcut.h"
#include "core/dispatch/view_path.h"
#include "core/op/each_tensor.h"
#include "core/scalar/element.h"

namespace lathe {
namespace {

// ── the short way ───────────────────────────────────────────────────────────────────────────────

constexpr int kMostOperands = 3;
constexpr int kPatterns = 27;            // of three operands: tensor, 0-d tensor, number
constexpr int64_t kMostElements = 2048;  // more would share their work among threads
constexpr size_t kMostDefinitions = 4096;

/// What was found for one definition, dtype and pattern.
struct Slot {
  std::atomic<uint64_t> revision{0};  // of the flags that `now` was found under
  std::atomic<const Shortcut*> now{nullptr};
  std::vector<std::unique_ptr<const Shortcut>> all;  // under publishing; few: flags choose
};
struct Table {
  Slot at[kDTypeCodes][kPatterns];
};
constinit std::mutex publishing;
constinit std::atomic<Table*> tables[kMostDefinitions]{};  // by Op::id
constinit std::atomic<ShortcutFinder> finder{nullptr};

/// A call as it looks at a glance.
struct Glance {
  const TensorImpl* lead = nullptr;  // gives shape and dtype
  const std::byte* data[kMostOperands];
  unsigned splat = 0;    // single elements
  unsigned numbers = 0;  // those of them that are no tensors
  int pattern = 0;
  int64_t elements = 1;
  bool tracked = false;  // an operand requires grad

  bool look(const Op& op, Args args);

 private:
  bool tensor(const TensorImpl* t, unsigned bit, int scale);
  bool measure();
  static bool alike(const TensorImpl* a, const TensorImpl* b);
};

const std::byte* address_of(const TensorImpl* t) {
  const Int offset = t->geometry.offset;
  if (identical(offset, Int(0))) [[likely]]
    return t->storage->data;
  return t->storage->data + offset.value() * static_cast<int64_t>(size_of(t->dtype));
}

Tensor make_result(const TensorImpl* like, const Shortcut& s, int64_t elements) {
  auto* out = new TensorImpl;
  Tensor result(out);
  out->dtype = s.result;
  // Moved from copies, which is two block moves; assignment would go element by element.
  out->geometry.shape = Shape(like->geometry.shape);
  out->geometry.strides = Strides(like->geometry.strides);
  out->storage = new_storage({}, static_cast<size_t>(elements) * s.result_bytes);
  return result;
}

/// Are the plain numbers among integers of this dtype? The rule for types has a word for others.
bool in_range(DType dtype, Args args) {
  IntegerRange r = range_of(dtype);
  return std::all_of(args.begin(), args.end(), [&](const Arg& a) {
    return a.tag != Tag::integer || r.has(a.integer().value());
  });
}

bool known_number(const Arg& a) {
  if (a.tag == Tag::integer) return a.integer().known();
  return a.tag == Tag::flag || (a.tag == Tag::real && a.real().known());
}

[[gnu::always_inline]] inline bool Glance::look(const Op& op, Args args) {
  if (op.kind != Kind::elementwise || args.size() > kMostOperands) return false;
  int scale = 1, most = 0;
  for (size_t i = 0; i < args.size(); ++i, scale *= 3) {
    const Arg& a = args[i];
    unsigned bit = 1u << i;
    if (a.tag == Tag::tensor) {
      if (!tensor(a.tensor_, bit, scale)) return false;
      continue;
    }
    if (!known_number(a)) return false;
    most = std::max(most, a.tag == Tag::real ? 2 : a.tag == Tag::integer ? 1 : 0);
    splat |= bit;
    numbers |= bit;
    pattern += 2 * scale;
  }
  if (lead == nullptr) return false;
  if (numbers != 0) {
    if (most > category(lead->dtype)) return false;
    if (is_integer(lead->dtype) && !in_range(lead->dtype, args)) return false;
  }
  return measure();
}

[[gnu::always_inline]] inline bool Glance::tensor(const TensorImpl* t, unsigned bit, int scale) {
  tracked |= t->requires_grad;
  if (t->device.kind != DeviceKind::cpu || !t->storage || t->storage->ready) return false;
  if (t->view && t->view->version != t->view->base.impl()->version) return false;
  data[std::countr_zero(bit)] = address_of(t);
  if (lead == nullptr) {
    lead = t;
    return true;
  }
  if (t->dtype != lead->dtype) return false;
  if (alike(lead, t)) return true;
  if (t->geometry.rank() == 0) {
    splat |= bit;
    pattern += scale;
    return true;
  }
  // The first operand may be the single element: x[0] * y.
  if (lead->geometry.rank() != 0 || splat != 0 || bit != 2u) return false;
  lead = t;
  splat |= 1;
  pattern += 1;
  return true;
}

bool Glance::alike(const TensorImpl* a, const TensorImpl* b) {
  if (a == b) return true;
  const size_t rank = a->geometry.shape.size();
  if (rank != b->geometry.shape.size()) return false;
  const Int *p = a->geometry.shape.data(), *q = b->geometry.shape.data();
  const Int *r = a->geometry.strides.data(), *s = b->geometry.strides.data();
  for (size_t i = 0; i < rank; ++i)
    if (!identical(p[i], q[i]) || !identical(r[i], s[i])) return false;
  return true;
}

/// Row-major, without exceptions for sizes of 1, because the result takes over the strides.
[[gnu::always_inline]] inline bool Glance::measure() {
  const Int *sizes = lead->geometry.shape.data(), *strides = lead->geometry.strides.data();
  for (size_t i = lead->geometry.shape.size(); i-- > 0;) {
    if (!sizes[i].known() || !identical(strides[i], Int(elements))) return false;
    elements *= sizes[i].value();
    if (elements > kMostElements || elements == 0) return false;
  }
  return true;
}

/// One that is like another is that one, so that flags may change as often as they like. None is
/// ever dropped: a thread may be using it.
const Shortcut* make(const Op& op, Args args, Slot& slot) {
  ShortcutFinder find = finder.load(std::memory_order_acquire);
  uint64_t revision = flags_revision();
  Shortcut made;
  if (find == nullptr || !find(op, args, made)) made.run = nullptr;
  made.result_bytes = size_of(made.result);
  std::lock_guard hold(publishing);
  auto same =
      std::find_if(slot.all.begin(), slot.all.end(), [&](const auto& s) { return *s == made; });
  const Shortcut* s = same != slot.all.end()
                          ? same->get()
                          : slot.all.emplace_back(std::make_unique<Shortcut>(made)).get();
  if (revision >= slot.revision.load(std::memory_order_relaxed)) {
    slot.now.store(s, std::memory_order_release);
    slot.revision.store(revision, std::memory_order_release);
  }
  return s;
}

const Shortcut* find_shortcut(const Op& op, Args args, const Glance& g) {
  if (op.id >= kMostDefinitions) return nullptr;
  Table* table = tables[op.id].load(std::memory_order_acquire);
  if (table == nullptr) {
    auto* made = new Table;
    if (tables[op.id].compare_exchange_strong(table, made, std::memory_order_acq_rel))
      table = made;
    else
      delete made;
  }
  Slot& slot = table->at[static_cast<int>(g.lead->dtype)][g.pattern];
  bool current = slot.revision.load(std::memory_order_acquire) == flags_revision();
  const Shortcut* s = slot.now.load(std::memory_order_acquire);
  if (s == nullptr || !current) [[unlikely]]
    s = make(op, args, slot);
  return s->run == nullptr ? nullptr : s;
}

/// Numbers as elements of the dtype the loop takes them in.
struct Cells {
  alignas(16) std::byte room[kMostOperands][16];
  void fill(const Shortcut& s, Args args, Glance& g) {
    for (unsigned left = g.numbers; left != 0; left &= left - 1) {
      auto i = static_cast<size_t>(std::countr_zero(left));
      const Arg& a = args[i];
      if (a.tag == Tag::real)
        store_element(s.number, room[i], a.real().value());
      else
        store_element(s.number, room[i],
                      a.tag == Tag::flag ? int64_t{a.flag_} : a.integer().value());
      g.data[i] = room[i];
    }
  }
};

/// The tape sees the call as it would have seen it on the long way.
[[gnu::noinline]] Tensor record(const Op& op, Args args, Tensor result) {
  Outputs outputs;  // an initializer list would copy
  outputs.push_back(std::move(result));
  tape()->saw(op, args, outputs);
  return std::move(outputs[0]);
}

/// Into a fresh tensor.
void run_fresh(const Op& op, Args args, const Glance& g, const Shortcut& s, Tensor& result) {
  result = make_result(g.lead, s, g.elements);
  s.run(s, result.impl()->storage->data, g.data, g.splat, static_cast<size_t>(g.elements));
  if (g.tracked && thread_state().grad_enabled && tape() != nullptr)
    result = record(op, args, std::move(result));
}

/// May the first operand be written where it lies, while the loop reads the others?
bool may_run_in_place(Args args, const Glance& g) {
  if (g.tracked && thread_state().grad_enabled) return false;
  if (args[0].tag != Tag::tensor || g.lead != args[0].tensor_) return false;
  // What may overlap itself is refused, also where its sizes happen to keep it from doing so.
  if (g.lead->view && g.lead->view->path->overlaps) return false;
  // A view without the history of its base: written to with gradients on, it is refused.
  if (g.lead->view && thread_state().grad_enabled && g.lead->view->base.requires_grad())
    return false;
  // Another operand in the same memory must be the very same elements. All lie without gaps.
  const auto element = static_cast<ptrdiff_t>(size_of(g.lead->dtype));
  const ptrdiff_t written = g.elements * element;
  for (size_t i = 1; i < args.size(); ++i) {
    if (args[i].tag != Tag::tensor) continue;
    const bool splat = (g.splat >> i & 1) != 0;
    const ptrdiff_t from = g.data[i] - g.data[0];
    const bool apart = from >= written || from <= -(splat ? element : written);
    if (!apart && (from != 0 || splat)) return false;
  }
  return true;
}

// ── the long way ────────────────────────────────────────────────────────────────────────────────

/// A tensor of a trace that is over: kernels would find no memory.
[[noreturn]] void escaped(const TensorImpl* t) {
  throw TraceError({.problem = "a symbolic tensor is used after its trace: it escaped from the "
                               "function that was traced",
                    .got = to_string(TensorType{t->dtype, t->geometry.shape, t->device}),
                    .next = "return the tensor from the traced function instead of keeping it in a "
                            "global, an attribute or a cache"});
}

constinit std::atomic<CompositeRunner> composite_runner{nullptr};

/// As one program, or by its expansion.
void call_composite(const Op& op, Args args, Outputs& outputs) {
  const ThreadState& state = thread_state();
  const bool plain = state.backend == nullptr && state.observers == nullptr;
  const CompositeRunner run = plain ? composite_runner.load(std::memory_order_acquire) : nullptr;
  if (run == nullptr || !run(op, args, outputs)) outputs = expand(op, args);
}

/// The long way, apart so that the short one does not pay for its frame.
[[gnu::noinline]] void call_in_full(const Op& op, Args args, Outputs& outputs) {
  Backend& backend = current_backend();
  if (casts_operands(op)) [[unlikely]]
    return call_cast(op, args, outputs);
  Types types;
  refresh_operands(args);  // first: to ask who claims a composite is to infer its types
  const bool whole = op.kind == Kind::composite;
  if (whole && !backend.claims(op, args, types)) return call_composite(op, args, outputs);
  if (!whole) types = op.infer(args);
  const Call made{op, args, types};
  backend.run(made, outputs);
  if (op.kind == Kind::view) remember_view(outputs[0], args.tensor(0), op, args);
  const ThreadState& state = thread_state();
  if (state.grad_enabled && needs_grad(args))
    if (Observer* t = tape(); t != nullptr) t->saw(op, args, outputs);
  for (Observer* o = state.observers; o != nullptr; o = o->next) o->saw(op, args, outputs);
}

void call_long(const Op& op, Args args, CallForm form, Outputs& outputs) {
  if (form == CallForm::fresh) return call_in_full(op, args, outputs);
  const AutocastScope over(DType::f32);  // what is written into has its dtype
  assign_result(op, args);
}

/// While a profile is open the short way is taken inside of a span only.
constinit thread_local bool in_span = false;

bool take_short_in_span(const Op& op, Args args, CallForm form, Tensor& result) {
  in_span = true;
  const absl::Cleanup end = [] { in_span = false; };
  return call_short(op, args, form, result);
}

/// With a span of the profile around it, unless another backend than the kernels' takes the call.
[[gnu::cold]] void call_profiled(const Op& op, Args args, CallForm form, Outputs& outputs) {
  if (thread_state().backend != nullptr) return call_long(op, args, form, outputs);
  const bool in_place = form == CallForm::in_place;
  Span span(SpanKind::op, absl::StrCat(op.name(), in_place ? "_" : ""), here());
  each_tensor(args, [&](const Arg& a) { span.reads(type_of(a.tensor()), bytes_of(a.tensor())); });
  if (op.kind == Kind::view) span.moves_nothing();
  if (Tensor result; take_short_in_span(op, args, form, result)) {
    if (!in_place) outputs.push_back(std::move(result));
  } else {
    call_long(op, args, form, outputs);
  }
  if (in_place) span.writes(type_of(args.tensor(0)), bytes_of(args.tensor(0)));
  for (const Tensor& t : outputs)
    if (t.defined()) span.writes(type_of(t), bytes_of(t));
  if (op.kind == Kind::contract && !outputs.empty())
    span.works(operations_of(op, args, type_of(outputs[0])));
}

}  // namespace

void refresh_operands(Args args) {
  each_tensor(args, [](const Arg& a) {
    if (!a.tensor_->storage && thread_state().backend == nullptr) [[unlikely]]
      escaped(a.tensor_);
    if (a.tensor_->view) refresh(a.tensor());
  });
}

void set_composite_runner(CompositeRunner r) {
  composite_runner.store(r, std::memory_order_release);
}
void set_shortcut_finder(ShortcutFinder f) { finder.store(f, std::memory_order_release); }

// Hot: g++ takes what follows many early returns for cold, and copies shapes by `rep movs` there.
[[gnu::hot]] bool call_short(const Op& op, Args args, CallForm form, Tensor& result) {
  const bool profiled = profiling();
  if (profiled && !in_span) [[unlikely]]
    return false;
  const ThreadState& state = thread_state();
  Glance g;
  if (state.backend != nullptr || state.observers != nullptr || !g.look(op, args)) return false;
  const bool in_place = form == CallForm::in_place;
  if (in_place && !may_run_in_place(args, g)) return false;
  const Shortcut* s = find_shortcut(op, args, g);
  if (s == nullptr || (in_place && s->result != g.lead->dtype)) return false;
  if (profiled) [[unlikely]]
    note_kernel(s->entry);
  Cells cells;
  if (g.numbers != 0) cells.fill(*s, args, g);
  if (!in_place) {
    run_fresh(op, args, g, *s, result);
    return true;
  }
  s->run(*s, const_cast<std::byte*>(g.data[0]), g.data, g.splat, static_cast<size_t>(g.elements));
  g.lead->storage->written();
  return true;
}

Tensor call_one(const Op& op, Args args) {
  Tensor result;
  if (call_short(op, args, CallForm::fresh, result)) return result;
  Outputs outputs;
  profiling() ? call_profiled(op, args, CallForm::fresh, outputs) : call_in_full(op, args, outputs);
  return std::move(outputs[0]);
}

Outputs call(const Op& op, Args args, CallForm form) {
  Outputs outputs;  // the only object returned, so that it is made where the caller wants it
  Tensor result;
  if (call_short(op, args, form, result)) {
    if (form == CallForm::fresh) outputs.push_back(std::move(result));
  } else if (profiling()) {
    call_profiled(op, args, form, outputs);
  } else {
    call_long(op, args, form, outputs);
  }
  return outputs;
}

}  // namespace lathe
