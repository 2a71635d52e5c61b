#include "jit/kernel/element_kernel.h"

#include <absl/strings/str_cat.h>

#include <mutex>

#include "core/base/checks.h"
#include "core/base/error.h"
#include "core/base/flags.h"
#include "jit/kernel/positions.h"
#include "kernels/own/copy.h"
#include "kernels/runtime/pool.h"
#include "kernels/runtime/scratch.h"

namespace lathe::jit {
namespace {

constexpr int64_t kGrainBytes = 1 << 16;
/// Positions of a box of which something is staged, how far it goes along the last axis, and how
/// far at least along the axis of what is staged: that is still in the cache when it is read.
constexpr int64_t kBoxElements = 1 << 14, kAlong = 256, kAcross = 64;
/// Positions of a box that is one line.
constexpr int64_t kLineElements = 1 << 12;

}  // namespace

ElementKernel::ElementKernel(const Lowered& lowered)
    : CompiledKernel(lowered.kernel),
      tensors_(lowered.tensors),
      numbers_(lowered.numbers),
      simd_(of_elements(loops())->f),
      inputs_(of_elements(loops())->operands.size()),
      positions_(reads_position(of_elements(loops())->f)),
      staging_(loops()),
      pieces_(loops()) {}

bool ElementKernel::may_replace(size_t tensor, size_t result) const {
  const Compute& c = *of_elements(loops());
  const Access& store = c.stores[result];
  auto buffer = [&](int b) { return loops().buffers[static_cast<size_t>(b)]; };
  bool read = false;
  for (const Operand& o : c.operands) {
    const auto* several = std::get_if<Pieces>(&o);
    for (size_t p = 0; several != nullptr && p < several->all.size(); ++p)
      if (const auto& from = several->all[p].from; from && static_cast<size_t>(from->buf) == tensor)
        return false;
    const auto* load = std::get_if<Access>(&o);
    if (load == nullptr || static_cast<size_t>(load->buf) != tensor) continue;
    read = true;
    if (buffer(load->buf).dtype != buffer(store.buf).dtype ||
        !identical(load->map.offset, store.map.offset) || !moves_like(*load, store))
      return false;
  }
  return read;
}

/// Along an axis of one position there is no step.
bool ElementKernel::moves_like(const Access& load, const Access& store) const {
  for (size_t axis = 0; axis < loops().axes.size(); ++axis)
    if (!identical(loops().axes[axis].extent, Int(1)) &&
        !identical(load.map.along(axis), store.map.along(axis)))
      return false;
  return true;
}

ElementKernel::Bound ElementKernel::bind(const std::function<int64_t(Int)>& value) const {
  Bound b;
  CompiledKernel::bind(value, b);
  for (int64_t extent : b.extents) b.elements *= extent;
  if (pieces_.any() && b.elements > 0)
    b.pieces = pieces_.bind(value, b.extents, b.strides);
  else
    cut(b);
  return b;
}

void ElementKernel::cut(Bound& b) const {
  const Schedule& schedule = loops().schedule;
  const auto cuts = [](const ScheduleStep& s) { return s.kind == ScheduleKind::split; };
  if (!stages() && std::none_of(schedule.begin(), schedule.end(), cuts)) return;
  b.box = stages() ? staged_box(b) : Sizes(b.extents.begin(), b.extents.end());
  for (size_t axis = 0; axis < b.box.size(); ++axis) {
    const int64_t extent = std::max<int64_t>(1, b.extents[axis]);
    const auto on = static_cast<int>(axis);
    b.box[axis] = std::min(extent, count_of(schedule, ScheduleKind::split, b.box[axis], on));
    b.box[axis] = std::max<int64_t>(1, b.box[axis]);
    b.boxes.push_back((extent + b.box[axis] - 1) / b.box[axis]);
    b.box_count *= b.boxes.back();
  }
  b.staged = staging_.bind(b.box, b.strides);
}

/// Both along what is staged and along what it is staged for, a box goes as far as whole lines of
/// the cache and few pages ask for.
Sizes ElementKernel::staged_box(const Bound& b) const {
  const size_t rank = b.extents.size(), last = rank - 1;
  Sizes box(rank, 1);
  if (staging_.flat()) {
    int64_t most = kLineElements;
    for (size_t axis = rank; axis-- > 0; most /= std::max<int64_t>(1, b.extents[axis]))
      box[axis] = std::clamp<int64_t>(most, 1, std::max<int64_t>(1, b.extents[axis]));
    return box;
  }
  box[last] = std::min(b.extents[last], kAlong);
  const size_t across = staging_.runs_along(b.strides, rank);
  int64_t left = kBoxElements / std::max<int64_t>(1, box[last]);
  if (across != last) {
    box[across] = std::min(b.extents[across], std::max(kAcross, left));
    left /= std::max<int64_t>(1, box[across]);
  }
  for (size_t axis = last; axis-- > 0;) {
    if (axis == across) continue;
    box[axis] = std::min(b.extents[axis], std::max<int64_t>(1, left));
    left /= std::max<int64_t>(1, box[axis]);
  }
  return box;
}

size_t ElementKernel::room(const Bound& bound) const {
  if (bound.staged.bytes == 0 || bound.elements == 0) return 0;
  const int64_t threads = std::min<int64_t>(pool_threads(), bound.box_count);
  return static_cast<size_t>(threads) * size_class_bytes(bound.staged.bytes);
}

void ElementKernel::move(const Bound& bound, const Run& run) const {
  const Sizes shape(bound.extents.begin(), bound.extents.end());
  const auto side = [&](size_t k) {
    const DType dtype = loops().buffers[static_cast<size_t>(places()[k].buffer)].dtype;
    ::lathe::Operand o{place(k, bound, run), dtype, shape, {}};
    for (size_t axis = 0; axis < shape.size(); ++axis)
      o.strides.push_back(bound.strides[k * shape.size() + axis] / places()[k].item);
    return o;
  };
  own::copy_elements(side(0), side(1));
}

Engine ElementKernel::run(const Bound& bound, const Run& run) const {
  if (moves(run.wanted)) {
    if (bound.elements == 0) return Engine::none;
    move(bound, run);
    return Engine::moved;
  }
  const KernelFn fn = bound.elements == 0 ? nullptr : code_for(run);
  this->run(fn, bound, run);
  return bound.elements == 0 ? Engine::none : fn != nullptr ? Engine::generated : Engine::simd;
}

void ElementKernel::run(KernelFn fn, const Bound& bound, const Run& run) const {
  Launch launch(fn, *this, bound, run);
  launch.all();
  launch.finish();
}

// ── a run ───────────────────────────────────────────────────────────────────────────────────────

ElementKernel::Launch::Launch(KernelFn code, const ElementKernel& kernel, const Bound& bound,
                              const Run& run)
    : kernel_(kernel),
      bound_(bound),
      run_(run),
      code_(code),
      all_{{}, bound.extents, bound.strides} {
  for (size_t k = 0; k < kernel.places().size(); ++k)
    all_.places.push_back(kernel.place(k, bound, run));
}

std::unique_ptr<ElementKernel::Repeated> ElementKernel::repeated(const Bound& bound,
                                                                 const Run& run) const {
  const bool alike = !stages() && !loops().facts.has_checks;
  if (bound.elements == 0 || moves(run.wanted) || !alike) return nullptr;
  const KernelFn code = code_for(run);
  if (code == nullptr || bound.elements > grain_of_code()) return nullptr;
  return std::unique_ptr<Repeated>(new Repeated(*this, bound, run, code));
}

ElementKernel::Repeated::Repeated(const ElementKernel& kernel, const Bound& bound, const Run& run,
                                  KernelFn code)
    : code_(code), uniforms_(run.uniforms.begin(), run.uniforms.end()) {
  const Sizes begin(bound.extents.size());
  if (!kernel.pieces_.any()) {
    calls_.reserve(1);
    add(kernel, bound, {bound.extents, bound.strides, {}, {}, {}}, begin, nullptr);
    return;
  }
  lines_ = bound.pieces.lines;
  calls_.reserve(bound.pieces.boxes.size());
  for (const PieceBoxes::Box& box : bound.pieces.boxes)
    add(kernel, bound, {box.count, box.strides, {}, {}, {}}, box.first, &box);
}

/// `box`: where operands of several pieces lie in it.
void ElementKernel::Repeated::add(const ElementKernel& kernel, const Bound& bound, Call call,
                                  absl::Span<const int64_t> first, const PieceBoxes::Box* box) {
  const Run own{{}, uniforms_};
  const size_t rank = first.size();
  int64_t elements = 1;
  for (int64_t n : call.extents) elements *= n;
  for (size_t k = 0; k < kernel.places().size(); ++k) {
    const int buffer = kernel.places()[k].buffer;
    int64_t offset = bound.offsets[k];
    for (size_t axis = 0; axis < rank; ++axis)
      offset += first[axis] * bound.strides[k * rank + axis];
    if (buffer >= 0) call.tensors.push_back({k, static_cast<size_t>(buffer), offset});
    call.places.push_back(buffer >= 0 ? nullptr : kernel.place(k, bound, own));
  }
  for (size_t s = 0; box != nullptr && s < box->sources.size(); ++s) {
    const PieceBoxes::Source& from = box->sources[s];
    if (from.buffer >= 0)
      call.tensors.push_back({from.operand, static_cast<size_t>(from.buffer), from.offset});
    else
      call.places[from.operand] = lines_.data() + from.offset;
  }
  calls_.push_back(std::move(call));
  Call& there = calls_.back();
  there.args.data = there.places.data();
  there.args.extents = there.extents.data();
  there.args.strides = there.strides.data();
  there.args.end = elements;
}

int64_t ElementKernel::grain_of_code() const {
  return std::max<int64_t>(1024, (int64_t{1} << 18) / (1 + loops().facts.flops_per_element));
}

int64_t ElementKernel::Launch::grain() const {
  const int64_t best = code_ == nullptr ? kGrainBytes / 4 : kernel_.grain_of_code();
  return count_of(kernel_.loops().schedule, ScheduleKind::parallel, best);
}

int64_t ElementKernel::Launch::boxes_together() const {
  int64_t elements = 1;
  for (int64_t n : bound_.box) elements *= n;
  const int64_t best = std::max<int64_t>(1, kernel_.grain_of_code() / elements);
  return count_of(kernel_.loops().schedule, ScheduleKind::parallel, best);
}

void ElementKernel::Launch::all() {
  if (kernel_.pieces_.any()) return pieces();
  if (bound_.box.empty())
    return parallel_for(bound_.elements, grain(),
                        [&](int64_t begin, int64_t end) { piece(begin, end); });
  if (bound_.elements == 0) return;
  parallel_for(bound_.box_count, boxes_together(), [&](int64_t begin, int64_t end) {
    const Scratch room(bound_.staged.bytes);
    for (int64_t i = begin, most = 0; i < end; ++i)
      most = std::max(most, box(i, room.data(), most));
  });
}

void ElementKernel::Launch::pieces() {
  const std::vector<PieceBoxes::Box>& boxes = bound_.pieces.boxes;
  if (bound_.elements == 0) return;
  parallel_for(bound_.elements, grain(), [&](int64_t begin, int64_t end) {
    const auto begins_after = [](int64_t position, const PieceBoxes::Box& b) {
      return position < b.begin;
    };
    auto box = std::upper_bound(boxes.begin(), boxes.end(), begin, begins_after) - 1;
    for (; begin < end; ++box) {
      const int64_t last = box + 1 == boxes.end() ? bound_.elements : box[1].begin;
      const int64_t stop = std::min(end, last);
      run(area(*box), begin - box->begin, stop - box->begin);
      begin = stop;
    }
  });
}

ElementKernel::Launch::Area ElementKernel::Launch::area(const PieceBoxes::Box& box) const {
  Area of = area(box.first, box.count);
  for (const PieceBoxes::Source& s : box.sources) {
    auto* lines = const_cast<std::byte*>(bound_.pieces.lines.data());  // read only
    of.places[s.operand] =
        (s.buffer < 0 ? lines : run_.buffers[static_cast<size_t>(s.buffer)]) + s.offset;
  }
  of.strides = box.strides;
  return of;
}

int64_t ElementKernel::Launch::box(int64_t number, std::byte* room, int64_t most) {
  Sizes first = position_of(number, bound_.boxes), count = bound_.box;
  int64_t elements = 1;
  for (size_t axis = 0; axis < count.size(); ++axis) {
    first[axis] *= bound_.box[axis];
    count[axis] = std::min(count[axis], bound_.extents[axis] - first[axis]);
    elements *= count[axis];
  }
  Area of = area(first, count);
  if (kernel_.stages()) {
    const Sizes here(count.size());
    size_t axes = SIZE_MAX;  // along which boxes of a line follow each other
    if (elements <= most && kernel_.staging_.flat())
      for (axes = count.size(); axes > 1 && bound_.boxes[axes - 1] == 1;) --axes;
    kernel_.staging_.copy(bound_.staged, here, count, bound_.strides, absl::MakeSpan(of.places),
                          room, axes);
    of.strides = bound_.staged.strides;
  }
  if (kernel_.staging_.flat()) {
    of.extents.back() = elements;
    for (size_t axis = 0; axis + 1 < of.extents.size(); ++axis) of.extents[axis] = 1;
  }
  run(of, 0, elements);
  return elements;
}

ElementKernel::Launch::Area ElementKernel::Launch::area(const Sizes& first,
                                                        const Sizes& count) const {
  const size_t rank = count.size();
  Area area = all_;
  for (size_t axis = 0; axis < rank; ++axis) {
    area.extents[axis] = count[axis];
    for (size_t k = 0; k < area.places.size(); ++k)
      area.places[k] += first[axis] * bound_.strides[k * rank + axis];
  }
  return area;
}

void ElementKernel::Launch::run(const Area& area, int64_t begin, int64_t end) {
  if (begin == end) return;
  if (code_ == nullptr) return by_simd(area, begin, end);
  KernelArgs args;
  args.data = area.places.data();
  args.extents = area.extents.data();
  args.strides = area.strides.data();
  args.begin = begin;
  args.end = end;
  args.error = reinterpret_cast<uint64_t*>(&error_);
  static_assert(sizeof error_ == sizeof(uint64_t));
  code_(&args);
}

/// A part of as many rows of the last axis as there are lines, which follow each other along the
/// axis before; nothing asks for positions, which begin anew.
bool ElementKernel::Launch::are_rows(const Epilogue::Lines& lines) const {
  const size_t rank = bound_.extents.size();
  if (code_ == nullptr || rank < 2 || kernel_.positions_) return false;
  const int64_t length = bound_.extents[rank - 1], rows = bound_.extents[rank - 2];
  return lines.apart == length && lines.first % length + lines.count <= length &&
         lines.first / length % rows + lines.lines <= rows;
}

void ElementKernel::Launch::lines(const Epilogue::Lines& lines) {
  if (lines.lines == 1 || !are_rows(lines)) {
    for (int64_t l = 0; l < lines.lines; ++l) {
      const int64_t first = lines.first + l * lines.apart;
      piece(first, first + lines.count);
    }
    return;
  }
  const size_t rank = bound_.extents.size();
  Sizes count(rank, 1);
  count[rank - 1] = lines.count;
  count[rank - 2] = lines.lines;
  run(area(position_of(lines.first, bound_.extents), count), 0, lines.lines * lines.count);
}

void ElementKernel::Launch::by_simd(const Area& area, int64_t begin, int64_t end) {
  const size_t rank = area.extents.size();
  const int64_t length = area.extents[rank - 1];
  absl::InlinedVector<LineOperand, 8> at(area.places.size());
  while (begin < end) {
    int64_t line = begin / length, start = begin % length;
    int64_t count = std::min({length - start, end - begin, kGrainBytes / 4});
    for (size_t k = 0; k < area.places.size(); ++k) {
      const int64_t* strides = &area.strides[k * rank];
      int64_t rest = line, offset = start * strides[rank - 1];
      for (size_t axis = rank - 1; axis-- > 0;) {
        offset += rest % area.extents[axis] * strides[axis];
        rest /= area.extents[axis];
      }
      at[k] = {area.places[k] + offset, strides[rank - 1] / kernel_.places()[k].item};
    }
    LineContext context;
    context.linear = begin;
    context.checks = &checks_;
    auto all = absl::MakeConstSpan(at);
    kernel_.simd_.run(all.subspan(0, kernel_.inputs_), all.subspan(kernel_.inputs_), count, context,
                      own::Engine::simd);
    begin += count;
  }
}

void ElementKernel::Launch::finish() const {
  if (uint64_t word = error_.load(); word != kNoError)
    kernel_.check_failed(run_, bound_, error_index(word), error_code(word));
  if (uint64_t slot = checks_.lowest.load(); slot != UINT64_MAX)
    kernel_.check_failed(run_, bound_, static_cast<int64_t>(slot >> 8),
                         static_cast<uint32_t>(slot & 0xff));
}

void ElementKernel::check_failed(const Run& run, const Bound& bound, int64_t linear,
                                 uint32_t code) const {
  std::string at;
  for (size_t i = bound.extents.size(); i-- > 0;) {
    at = absl::StrCat(linear % bound.extents[i], at.empty() ? "" : ", ", at);
    linear /= bound.extents[i];
  }
  throw_check(std::string(run.op), code, at, run.site);
}

}  // namespace lathe::jit
