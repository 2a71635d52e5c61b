// Rows of kind index. Every index is checked before anything is written that anyone could see; the
// error names the lowest bad logical position.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/scalar/element.h"
#include "kernels/own/convert.h"
#include "kernels/own/copy.h"
#include "kernels/own/implementations.h"
#include "kernels/own/index_moves.h"
#include "kernels/runtime/launch.h"
#include "kernels/runtime/pool.h"
#include "kernels/runtime/scratch.h"
#include "kernels/simd/choose_loops.h"

namespace lathe::own {
namespace {

/// Rank 0 is treated as one axis of size 1.
Operand with_axis(Operand o) {
  if (o.shape.empty()) {
    o.shape.push_back(1);
    o.strides.push_back(1);
  }
  return o;
}

Operand contiguous_like(const Operand& index, std::byte* data) {
  Operand o{data, DType::i64, index.shape, contiguous_strides(index.shape)};
  return o;
}

struct Complaint {
  std::string op;
  int axis;
  int64_t size;
  Site site;
};

[[noreturn]] void out_of_range(const Complaint& c, const Operand& index, int64_t linear,
                               int64_t value) {
  absl::InlinedVector<int64_t, 6> at(index.shape.size());
  for (size_t i = at.size(); i-- > 0;) {
    at[i] = linear % index.shape[i];
    linear /= index.shape[i];
  }
  throw IndexError({.op = c.op,
                    .problem = absl::StrCat("an index is out of range on axis ", c.axis),
                    .got = absl::StrCat(value, " at position [", absl::StrJoin(at, ", "), "]"),
                    .expected = absl::StrCat("0 to ", c.size - 1),
                    .next = value < 0 ? "indexes of this op count from 0; those in x[index] may be "
                                        "-size at least, and have had the size added by now"
                                      : "clamp() the indexes, or check how they were computed",
                    .site = c.site});
}

constexpr int64_t kPlaces = 4096;  // checked at a time

/// The index as contiguous i64: as it lies, or a copy in `room`.
const int64_t* read_index(const Operand& index, std::optional<Scratch>& room) {
  const int64_t n = index.numel();
  const auto* to = reinterpret_cast<const int64_t*>(index.data);
  if (index.dtype != DType::i64 || !row_major(index)) {
    room.emplace(static_cast<size_t>(n) * sizeof(int64_t));
    Operand target = contiguous_like(index, room->data());
    index.dtype == DType::i64 ? copy_elements(index, target) : convert(index, target);
    to = room->as<int64_t>();
  }
  return to;
}

/// Of places [from, until), all of the index: throws for the first that is none.
void check_places(const Operand& index, const int64_t* where, const Complaint& complaint,
                  int64_t from, int64_t until) {
  const int64_t last = complaint.size - 1;
  for (int64_t begin = from; begin < until; begin += kPlaces) {
    const int64_t end = std::min(until, begin + kPlaces);
    if (simd_loops().all_within(where + begin, static_cast<size_t>(end - begin), last)) continue;
    for (int64_t i = begin; i < end; ++i)
      if (where[i] < 0 || where[i] > last) out_of_range(complaint, index, i, where[i]);
  }
}

/// The longest axis along which the index only repeats itself, as an expanded one does, but for the
/// one it counts along; -1: none.
int repeated_axis(absl::Span<const int64_t> shape, absl::Span<const int64_t> strides, size_t axis) {
  int found = -1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i == axis || strides[i] != 0 || shape[i] <= 1) continue;
    if (found < 0 || shape[i] > shape[static_cast<size_t>(found)]) found = static_cast<int>(i);
  }
  return found;
}

/// Leaves a repeated axis to the lines that go along it, which takes and puts know. many: the
/// operand that is indexed.
Lines take_lines(Access access, Operand& index, size_t axis, const Operand& many,
                 const Operand& one) {
  if (access != Access::take && access != Access::put) return {};
  const int repeated = repeated_axis(index.shape, index.strides, axis);
  if (repeated < 0) return {};
  const auto r = static_cast<size_t>(repeated);
  return {std::exchange(index.shape[r], 1), many.strides[r], one.strides[r]};
}

/// What one call needs once it runs.
struct Job {
  Access access;
  Fold fold;
  size_t axis;
  Operand x, index, source, out;
  Complaint complaint;
};

Operand scalar_source(const Arg& value, DType dtype, const Operand& index, std::byte* room) {
  if (value.tag == Tag::real)
    store_element(dtype, room, value.real().value());
  else
    store_element(dtype, room,
                  value.tag == Tag::flag ? int64_t{value.flag_} : value.integer().value());
  return Operand{room, dtype, index.shape, Sizes(index.shape.size(), 0)};
}

void run_job(const Job& job) {
  std::optional<Scratch> room;
  Operand index = job.index;
  const bool takes = job.access == Access::take;
  const Lines lines = take_lines(job.access, index, job.axis, takes ? job.x : job.out,
                                 takes ? job.out : job.source);
  const int64_t* where = read_index(index, room);
  const auto check = [&](int64_t begin, int64_t end) {
    check_places(index, where, job.complaint, begin, end);
  };
  // What is taken goes to fresh memory: its places are checked on the way.
  if (!takes) check(0, index.numel());
  const bool puts = !takes && job.access != Access::select;
  if (puts && job.x.data != job.out.data) copy_elements(job.x, job.out);
  if (job.index.numel() == 0) return;
  const Moves moves{job.axis, index, where, lines};
  switch (job.access) {
    case Access::take: {
      Operand x = job.x;
      if (x.shape.empty()) {  // the index may have an axis, and then x has it too
        x.shape = Sizes(job.index.shape.size(), 1);
        x.strides = Sizes(job.index.shape.size(), 0);
      }
      return moves.take(x, job.out, check);
    }
    case Access::put:
      return moves.put(job.source, job.out, job.fold);
    case Access::select:
      return moves.select(job.x, job.out);
    case Access::select_put:
      return moves.select_put(job.source, job.out, job.fold);
    case Access::through:
      break;
  }
}

/// out = x, then the view of out takes the value.
void run_through(const Call& call, Outputs& outputs) {
  Tensor x = call.args.tensor(0), value = call.args.tensor(1);
  Tensor out = call.over ? x : result_of(call);
  absl::InlinedVector<Arg, 8> rest(call.args.begin() + 1, call.args.end());
  rest[0] = call.args[0];
  Geometry seen = call.op.put_of->geometry(out.geometry(), absl::MakeConstSpan(rest));
  Tensor view = make_tensor(out.impl()->storage, value.dtype(), seen);
  Operand xo = operand(x), vo = operand(value), oo = operand(out), target = operand(view);
  submit(out.device(), {x, value}, {out}, [=] {
    if (xo.data != oo.data) copy_elements(xo, oo);
    copy_elements(vo, target);
  });
  outputs.push_back(std::move(out));
}

}  // namespace

/// The places that the index names, where they do not lie as they are read.
size_t index_room(const Call& call) {
  const IndexSpec& spec = call.op.index;
  if (spec.access == Access::through) return 0;
  const Tensor places = call.args.tensor(spec.index);  // without memory, when a plan asks
  Operand index = with_axis(
      {nullptr, places.dtype(), sizes(places.geometry().shape), sizes(places.geometry().strides)});
  const int rank = call.args.tensor(0).rank();
  const int axis = normalise_axis(call.op.name(), call.args.integer(spec.axis).value(), rank);
  take_lines(spec.access, index, static_cast<size_t>(axis), index, index);
  if (index.dtype == DType::i64 && row_major(index)) return 0;
  return size_class_bytes(static_cast<size_t>(index.numel()) * sizeof(int64_t));
}

void run_index(const Call& call, Outputs& outputs) {
  const IndexSpec& spec = call.op.index;
  if (spec.access == Access::through) return run_through(call, outputs);
  Tensor x = call.args.tensor(0), index = call.args.tensor(spec.index);
  Tensor out = call.over ? x : result_of(call);
  Tensors reads{x, index};
  Job job;
  job.access = spec.access;
  job.fold = spec.fold;
  int axis = normalise_axis(call.op.name(), call.args.integer(spec.axis).value(), x.rank());
  job.axis = static_cast<size_t>(axis);
  job.x = with_axis(operand(x));
  job.index = with_axis(operand(index));
  job.out = operand(out);
  bool slices = spec.access == Access::select || spec.access == Access::select_put;
  if (!slices || spec.access == Access::select_put || (x.rank() == 0 && index.rank() == 1))
    job.out = with_axis(job.out);
  job.complaint = {call.op.name(), axis, job.x.shape[job.axis], here()};
  auto constant = std::make_shared<std::array<std::byte, 16>>();
  if (spec.source >= 0) {
    const Arg& source = call.args[static_cast<size_t>(spec.source)];
    if (source.tag == Tag::tensor) {
      Tensor s = call.args.tensor(spec.source);
      reads.push_back(s);
      job.source = with_axis(operand(s));
    } else {
      job.source = scalar_source(source, job.out.dtype, job.index, constant->data());
    }
  }
  if (slices) {
    // An index without axes adds none: give it one, and the operand that has its axes too.
    Operand& has = spec.access == Access::select ? job.out : job.source;
    const bool has_it = spec.access == Access::select_put && x.rank() == 0;
    if (index.rank() == 0 && !has_it) {
      has.shape.insert(has.shape.begin() + axis, 1);
      has.strides.insert(has.strides.begin() + axis, 1);
    }
    for (size_t i = job.index.shape.size() - 1; i-- > 0;)
      if (has.strides[job.axis + i] !=
              has.strides[job.axis + i + 1] * has.shape[job.axis + i + 1] &&
          has.numel() > 0) {
        // The slices are not evenly apart: make them so.
        Tensor flat = empty({has.dtype, Shape(has.shape.begin(), has.shape.end()), out.device()});
        Operand to = operand(flat), from = has;
        submit(out.device(), reads, {flat}, [=] { copy_elements(from, to); });
        has = to;
        reads.push_back(flat);
        break;
      }
  }
  submit(out.device(), reads, {out}, [job, constant] { run_job(job); });
  outputs.push_back(std::move(out));
}

}  // namespace lathe::own
