// Windows added up where they lie, and tensors rolled along an axis.
//
// A row of the result, along its last axis, is made at a time: the places in the window of all axes
// but the last that reach it are found in row-major order, and each place of the last axis adds
// what it has of all windows. So an element's terms come in the order of their places in the
// window, as the definition says.
#include <algorithm>
#include <cstring>

#include "kernels/own/copy.h"
#include "kernels/own/implementations.h"
#include "kernels/own/line_fold.h"
#include "kernels/own/search.h"
#include "kernels/problem/operand.h"
#include "kernels/runtime/launch.h"
#include "kernels/runtime/pool.h"

namespace lathe::own {
namespace {

struct Overlap {
  Operand x, out;  // [..., windows by axis, window by axis], [..., size by axis]
  Sizes stride, dilation;
  size_t axes() const { return stride.size(); }
};

int64_t product(absl::Span<const int64_t> sizes) {
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  return n;
}

/// Lines of real elements, `parts` to an element, that are added to others.
class Adder {
 public:
  Adder(const Overlap& job, int64_t from_step, int64_t to_step, int64_t count)
      : dtype_(real_type(job.x.dtype)),
        parts_(is_complex(job.x.dtype) ? 2 : 1),
        from_step_(from_step * parts_),
        to_step_(to_step * parts_),
        count_(count),
        program_(*line_fold(dtype_, Fold::sum)) {
    const LineOperand in[] = {{nullptr, to_step_}, {nullptr, from_step_}};
    direct_ = program_.direct(in, {nullptr, to_step_}, count, simd_loops());
  }
  void add(std::byte* to, std::byte* from) const {
    for (int64_t part = 0; part < parts_; ++part) {
      const auto at = static_cast<int64_t>(size_of(dtype_)) * part;
      const LineOperand in[] = {{to + at, to_step_}, {from + at, from_step_}}, out = in[0];
      if (direct_)
        direct_.run(in, out.data, count_);
      else
        program_.run(in, {&out, 1}, count_, LineContext());
    }
  }

 private:
  DType dtype_;
  int64_t parts_, from_step_, to_step_, count_;
  const SimdProgram& program_;
  SimdProgram::Direct direct_;
};

/// The rows of a result, each of its own.
class Rows {
 public:
  explicit Rows(const Overlap& job)
      : job_(job),
        outer_(job.axes() - 1),
        lead_(job.out.shape.size() - job.axes()),
        size_(static_cast<int64_t>(size_of(job.x.dtype))),
        adder_(job, job.x.strides[lead_ + outer_], job.stride[outer_],
               job.x.shape[lead_ + outer_]) {
    const auto lead = static_cast<ptrdiff_t>(lead_);
    leads_.shape.assign(job.x.shape.begin(), job.x.shape.begin() + lead);
    leads_.strides = {Sizes(job.x.strides.begin(), job.x.strides.begin() + lead)};
  }

  void run(int64_t row) const {
    const int64_t width = job_.out.shape.back();
    std::byte* out = job_.out.data + row * width * size_;
    std::memset(out, 0, static_cast<size_t>(width * size_));
    const auto axes = absl::MakeConstSpan(job_.out.shape).subspan(lead_, outer_);
    Sizes at(outer_);
    for (size_t k = outer_; k-- > 0; row /= axes[k]) at[k] = row % axes[k];
    int64_t offset = 0;
    walk_offsets(leads_, static_cast<int>(lead_), row, {&offset, 1});
    const auto window = absl::MakeConstSpan(job_.x.shape).last(job_.axes());
    const int64_t places = product(window.first(outer_));
    for (int64_t p = 0; p < places; ++p) {
      int64_t from = offset;
      if (reaches(at, window, p, from)) add_windows(out, from);
    }
  }

 private:
  /// Does place p of the window, in all axes but the last, reach this row? Then `from` goes on to
  /// where the windows that reach it there begin.
  bool reaches(const Sizes& at, absl::Span<const int64_t> window, int64_t p, int64_t& from) const {
    for (size_t k = outer_; k-- > 0; p /= window[k]) {
      const int64_t place = p % window[k], left = at[k] - place * job_.dilation[k];
      const int64_t which = left / job_.stride[k];
      if (left < 0 || left % job_.stride[k] != 0 || which >= job_.x.shape[lead_ + k]) return false;
      from += which * job_.x.strides[lead_ + k] + place * job_.x.strides[lead_ + job_.axes() + k];
    }
    return true;
  }
  void add_windows(std::byte* out, int64_t from) const {
    for (int64_t place = 0; place < job_.x.shape.back(); ++place)
      adder_.add(out + place * job_.dilation[outer_] * size_,
                 job_.x.data + (from + place * job_.x.strides.back()) * size_);
  }

  const Overlap& job_;
  size_t outer_, lead_;  // axes
  int64_t size_;
  Adder adder_;
  Walk leads_;
};

}  // namespace

void run_overlap_add(const Call& call, Outputs& outputs) {
  Tensor x = call.args.tensor(0), out = result_of(call);
  Overlap job{operand(x), operand(out), sizes(call.args.ints(2)), sizes(call.args.ints(3))};
  submit(x.device(), {x}, {out}, [job] {
    if (job.out.numel() == 0) return;
    const int64_t width = job.out.shape.back();
    const int64_t work = width * product(absl::MakeConstSpan(job.x.shape).last(job.axes()));
    parallel_for(job.out.numel() / width, std::max<int64_t>(1, 16384 / work),
                 [&](int64_t begin, int64_t end) {
                   const Rows rows(job);
                   for (int64_t row = begin; row < end; ++row) {
                     check_cancelled();
                     rows.run(row);
                   }
                 });
  });
  outputs.push_back(std::move(out));
}

namespace {

constexpr int64_t kFew = 4096;  // elements that are moved sooner than prepared for

void roll_few(const Operand& from, const Operand& to, size_t axis, int64_t first) {
  const auto inner = static_cast<size_t>(to.strides[axis]) * size_of(to.dtype);
  const size_t line = static_cast<size_t>(to.shape[axis]) * inner;
  const size_t front = static_cast<size_t>(first) * inner;
  const size_t bytes = static_cast<size_t>(to.numel()) * size_of(to.dtype);
  for (size_t at = 0; at < bytes; at += line) {
    std::memcpy(to.data + at + front, from.data + at, line - front);
    std::memcpy(to.data + at, from.data + at + line - front, front);
  }
}

}  // namespace

void run_rolled(const Call& call, Outputs& outputs) {
  Tensor x = call.args.tensor(0), out = result_of(call);
  Operand from = operand(x), to = operand(out);
  for (Operand* o : {&from, &to})
    if (x.rank() == 0) {  // an axis of one element
      o->shape.push_back(1);
      o->strides.push_back(1);
    }
  const auto axis =
      static_cast<size_t>(normalise_axis(call.op.name(), call.args.integer(2).value(), x.rank()));
  const int64_t shift = call.args.integer(1).value();
  submit(x.device(), {x}, {out}, [=] {
    if (to.numel() == 0) return;
    const int64_t size = to.shape[axis], first = ((shift % size) + size) % size;
    if (to.numel() <= kFew && row_major(from) && row_major(to))
      return roll_few(from, to, axis, first);
    // Elements [begin, end) along the axis, to `at`.
    const auto move = [&](int64_t begin, int64_t end, int64_t at) {
      Operand part = from, place = to;
      part.shape[axis] = place.shape[axis] = end - begin;
      part.data += begin * from.strides[axis] * static_cast<int64_t>(size_of(from.dtype));
      place.data += at * to.strides[axis] * static_cast<int64_t>(size_of(to.dtype));
      if (begin < end) copy_elements(part, place);
    };
    move(0, size - first, first);
    move(size - first, size, 0);
  });
  outputs.push_back(std::move(out));
}

}  // namespace lathe::own
