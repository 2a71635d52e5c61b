// x[...] and x[...] = v.
//
// An index is read item by item against the axes of x. Numbers, slices, None and ... are views,
// made by ops one after the other. Slices that walk backwards are the view of the same elements
// forwards, which is turned round after that: a copy, as strides are never negative. Index tensors
// (at most one group of them takes part in the views' wake) become one index_select over the axes
// they name, joined; boolean masks are turned into index tensors, which needs their data, or for a
// write with one value into a where, which does not. True and False are masks without axes: index
// tensors along a new axis, or alone that axis with one element or none. A write is core's assign
// to the view, or to x with the indexed elements put in.
#include <absl/strings/str_cat.h>

#include "core/base/error.h"
#include "core/dispatch/assign.h"
#include "core/dispatch/call.h"
#include "core/dispatch/fn.h"
#include "core/ops/families.h"
#include "graph/trace/tracer.h"
#include "include/lathe/ops/create.h"
#include "include/lathe/ops/index.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/shape.h"
#include "kernels/runtime/pool.h"
#include "python/bindings/arguments.h"
#include "python/bindings/build.h"
#include "python/bindings/tensor.h"
#include "python/bindings/values.h"

namespace lathe::py {
namespace {

using C = create_ops<Tensor>;
using I = index_ops<Tensor>;
using M = math_ops<Tensor>;
using S = shape_ops<Tensor>;

struct Picked {
  int axis;      // of the view
  Tensor index;  // integers, non-negative
};

/// What an index comes to: a view, axes of it that are walked backwards, and tensors that pick
/// along some of the axes.
struct Resolved {
  Tensor view;
  Shape backwards;
  absl::InlinedVector<Picked, 2> picks;
  bool by_truth = false;  // True or False is among the index: what it gives is a copy
};

/// x with its axes turned round where the index walks backwards; and, being that, the way back.
Tensor turned(const Resolved& r, const Tensor& x) {
  return r.backwards.empty() ? x : S::flip(x, r.backwards);
}

[[noreturn]] void no_index(PyObject* o) {
  throw TypeError(
      {.op = "index",
       .problem = "this cannot index a tensor",
       .got = Py_TYPE(o)->tp_name,
       .expected = "integers, slices, None, ..., and tensors, lists or ranges of integers or bools",
       .next = "convert it with int(), or with list()"});
}

/// Positions of the true elements, one i64 tensor an axis. Needs the mask's data.
Tensors positions(const Tensor& mask) {
  reading(mask, "index");
  return positions_of(mask);
}

/// As the index definitions take it. (i8 and i16, which no index is, are refused there.)
Tensor as_index(const Tensor& index, Int size) {
  if (index.dtype() == DType::u8) return M::cast(index, DType::i64);
  if (index.dtype() == DType::i8 || index.dtype() == DType::i16) return index;
  return from_the_end(index, size);
}

class Reader {
 public:
  explicit Reader(Tensor x) : rank_(x.rank()), out_{std::move(x), {}, {}} {}

  Resolved read(PyObject* index) {
    PyObject* const* items = &index;
    Py_ssize_t count = 1;
    if (PyTuple_Check(index)) {
      items = &PyTuple_GET_ITEM(index, 0);
      count = PyTuple_GET_SIZE(index);
    }
    int taken = 0;
    for (Py_ssize_t i = 0; i < count; ++i) taken += axes_of(items[i]);
    if (taken > rank_)
      throw IndexError({.op = "index",
                        .problem = "more indexes than axes",
                        .got = absl::StrCat(taken, " for ", to_string(type_of(out_.view))),
                        .expected = absl::StrCat("at most ", rank_),
                        .next = "leave some out"});
    for (Py_ssize_t i = 0; i < count; ++i) step(items[i], taken);
    if (out_.by_truth && out_.picks.size() == 1) {  // alone a truth is a slice
      const Picked truth = out_.picks[0];
      out_.picks.clear();
      if (truth.index.numel() == Int(0))
        out_.view = S::slice(out_.view, truth.axis, Int(0), Int(0), 1);
    }
    return std::move(out_);
  }

 private:
  /// How many axes of x an item uses up.
  static int axes_of(PyObject* o) {
    if (o == Py_None || o == Py_Ellipsis || PyBool_Check(o)) return 0;
    if (is_tensor(o) && impl_of(o)->dtype == DType::bool_) return impl_of(o)->geometry.rank();
    return 1;
  }

  void step(PyObject* o, int taken) {
    Tensor& v = out_.view;
    if (o == Py_None) {
      v = S::unsqueeze(v, axis_++);
    } else if (o == Py_Ellipsis) {
      if (ellipsis_) throw IndexError({.op = "index", .problem = "an index can have one ... only"});
      ellipsis_ = true;
      axis_ += rank_ - taken;
    } else if (PySlice_Check(o)) {
      slice(o);
    } else if (PyBool_Check(o)) {
      v = S::unsqueeze(v, axis_);
      out_.picks.push_back({axis_++, C::zeros({o == Py_True ? 1 : 0}, DType::i64, v.device())});
      out_.by_truth = true;
    } else if (is_tensor(o)) {
      tensor(tensor_of(o));
    } else if (Tensor array = stand_in_tensor(o); array.defined()) {
      tensor(array);
    } else if (PyList_Check(o) || PyTuple_Check(o) || PyRange_Check(o) || has_buffer(o)) {
      nb::object items = PyRange_Check(o) ? owned(PySequence_List(o)) : nb::borrow(o);
      Tensor index = build(items.ptr(), {.device = v.device()});
      if (index.numel() == Int(0) && is_floating(index.dtype())) index = M::cast(index, DType::i64);
      tensor(index);  // [] picks nothing
    } else if (is_int(o)) {
      v = S::select(v, axis_, to_int(o));
    } else {
      no_index(o);
    }
  }

  Arg bound(PyObject* o) const {
    if (o == Py_None) return Arg();
    if (!is_int(o) && !is_tensor(o)) no_index(o);
    if (is_tensor(o) && tensor_of(o).symbolic()) {  // a size that data decides
      const Tensor t = tensor_of(o);
      if (is_integer(t.dtype()) && t.rank() == 0) return Arg(size_in(M::cast(t, DType::i64)));
    }
    return Arg(to_int(o));
  }

  void slice(PyObject* o) {
    auto* s = reinterpret_cast<PySliceObject*>(o);
    Int step = s->step == Py_None ? Int(1) : to_int(s->step);
    if (step == Int(0))
      throw ValueError({.op = "index",
                        .problem = "a slice's step must not be 0",
                        .got = "0",
                        .expected = "any other integer",
                        .next = "leave it out for every element"});
    if (step < Int(0))
      slice_backwards(bound(s->start), bound(s->stop), -step);
    else if (s->start != Py_None || s->stop != Py_None || s->step != Py_None)
      out_.view = S::slice(out_.view, axis_, bound(s->start), bound(s->stop), step);
    ++axis_;
  }

  /// Python's x[start:stop:-step]: the same elements forwards, and the axis to be turned round.
  void slice_backwards(const Arg& start, const Arg& stop, Int step) {
    const Int size = out_.view.size(axis_);
    auto place = [&](const Arg& a, Int when_none) {
      if (a.none()) return when_none;
      Int at = a.integer();
      if (at < Int(0)) at += size;
      return at < Int(0) ? Int(-1) : at < size ? at : size - 1;
    };
    const Int last = place(start, size - 1), before = place(stop, Int(-1));
    const bool some = before < last;
    const Int first = some ? last - floor_div(last - before - 1, step) * step : Int(0);
    if (!(some && identical(step, Int(1)) && start.none() && stop.none()))
      out_.view = S::slice(out_.view, axis_, first, some ? last + 1 : Int(0), step);
    out_.backwards.push_back(Int(axis_));
  }

  void tensor(Tensor index) {
    if (index.dtype() == DType::u8) index = M::cast(index, DType::bool_);  // a mask, as in PyTorch
    if (index.dtype() == DType::bool_) {
      if (index.rank() == 0) {  // as True and False: a new axis that has one element, or none
        out_.view = S::unsqueeze(out_.view, axis_);
        index = S::unsqueeze(index, 0);
      }
      for (int k = 0; k < index.rank(); ++k)  // a mask of no element picks none
        if (!identical(index.size(k), Int(0)) &&
            !require(Relation::eq, index.size(k), out_.view.size(axis_ + k)))
          throw IndexError({.op = "index",
                            .problem = "the mask has another shape than what it masks",
                            .got = to_string(type_of(index)),
                            .expected = to_string(type_of(out_.view)),
                            .next = "make the mask from the tensor itself, as in x[x > 0]"});
      for (Tensor& at : positions(index)) out_.picks.push_back({axis_++, std::move(at)});
      return;
    }
    if (!is_integer(index.dtype()))
      throw IndexError({.op = "index",
                        .problem = "an index tensor must hold integers or bools",
                        .got = to_string(type_of(index)),
                        .expected = "integers or bools",
                        .next = "convert with .to(lt.int64)"});
    if (index.rank() == 0 && thread_state().backend == nullptr) {  // a trace must not read it
      out_.view = S::select(out_.view, axis_, Int(index.item_int()));
      return;
    }
    out_.picks.push_back({axis_, as_index(index, out_.view.size(axis_))});
    ++axis_;
  }

  int rank_;
  Resolved out_;
  int axis_ = 0;
  bool ellipsis_ = false;
};

/// Several picks as one: the axes they name side by side at `axis`, joined, and one index into
/// them.
struct Joined {
  Tensor x;  // the picked axes are one, at `axis`
  int axis;
  Tensor index;      // of any rank, which takes that axis' place
  Shape order = {};  // of the axes of the view, where they have another in x
};

/// The sum of two parts of an index. An error is about the index, and no sum that nobody wrote.
Tensor joined(const Tensor& a, const Tensor& b) {
  try {
    return M::add(a, b);
  } catch (const ShapeError&) {
    throw IndexError({.op = "index",
                      .problem = "the index tensors do not broadcast to one shape",
                      .got = absl::StrCat(to_string(a.shape()), " and ", to_string(b.shape())),
                      .expected = "sizes equal or 1, counted from the last axis",
                      .next = "for all pairs of both: x[i[:, None], j]"});
  }
}

Joined join(const Resolved& r) {
  const auto& picks = r.picks;
  if (picks.size() == 1) return {r.view, picks[0].axis, picks[0].index};
  // NumPy's rule: picks side by side stay where they are, others move to the front.
  bool together = true;
  for (size_t i = 1; i < picks.size(); ++i) together &= picks[i].axis == picks[i - 1].axis + 1;
  int axis = together ? picks[0].axis : 0;
  Shape order;
  auto picked = [&](int a) {
    for (const Picked& p : picks)
      if (p.axis == a) return true;
    return false;
  };
  for (int a = 0; a < axis; ++a) order.push_back(Int(a));
  for (const Picked& p : picks) order.push_back(Int(p.axis));
  for (int a = axis; a < r.view.rank(); ++a)
    if (!picked(a)) order.push_back(Int(a));
  if (together) order.clear();
  Tensor x = together ? r.view : S::permute(r.view, order);
  Tensor index;
  for (size_t i = 0; i < picks.size(); ++i) {
    Int size = x.size(axis + static_cast<int>(i));
    // Looked up in a table of its own axis, so that one index out of range cannot hide in the sum.
    Tensor checked =
        I::index_select(C::arange(0, size, 1, DType::i64, x.device()), 0, picks[i].index);
    index = index.defined() ? joined(M::mul(index, size), checked) : checked;
  }
  return {S::flatten(x, axis, axis + static_cast<int>(picks.size()) - 1), axis, index, order};
}

Tensor pick(const Resolved& r) {
  if (r.picks.empty()) return r.view;
  Joined j = join(r);
  return I::index_select(j.x, j.axis, j.index);
}

/// A value that is written may have more axes than there are places, of one element each.
Tensor without_leading_ones(Tensor value, int rank) {
  while (value.rank() > rank && decide(Relation::eq, value.size(0), 1))
    value = S::select(value, 0, 0);
  return value;
}

/// `value` where the index points. An error is about the index, too.
Tensor spread(const Tensor& value, const Shape& target) {
  try {
    return S::expand(value, target);
  } catch (const ShapeError&) {
    throw ShapeError({.op = "index",
                      .problem = "the value does not fit where the index points",
                      .got = to_string(value.shape()),
                      .expected = absl::StrCat(to_string(target), ", or what broadcasts to that"),
                      .next = "reshape the value, or look at the index alone"});
  }
}

/// The same elements as `value`, broadcast to where `index` of `x` points.
Tensor put(const Joined& j, Tensor value) {
  Shape target;
  for (int a = 0; a < j.axis; ++a) target.push_back(j.x.size(a));
  for (Int s : j.index.shape()) target.push_back(s);
  for (int a = j.axis + 1; a < j.x.rank(); ++a) target.push_back(j.x.size(a));
  value = without_leading_ones(value, static_cast<int>(target.size()));
  return I::index_copy(j.x, j.axis, j.index, spread(value, target));
}

/// The view with the elements of `value` where the index points.
Tensor put_picked(const Resolved& r, const Tensor& value) {
  Joined j = join(r);
  Tensor changed = put(j, value);
  if (r.picks.size() == 1) return changed;
  // Back through what join did: the axes apart, then where they were.
  if (j.order.empty()) return S::reshape(changed, r.view.shape());
  Shape shape, back(j.order.size(), Int(0));
  for (size_t i = 0; i < j.order.size(); ++i) {
    const auto a = static_cast<size_t>(j.order[i].value());
    shape.push_back(r.view.size(static_cast<int>(a)));
    back[a] = Int(static_cast<int64_t>(i));
  }
  return S::permute(S::reshape(changed, shape), back);
}

/// x[index] = value, for the view that `r` is of x.
void write(const Resolved& r, Tensor value) {
  if (r.picks.empty()) value = without_leading_ones(value, r.view.rank());
  if (!r.picks.empty()) {
    Resolved from = r;
    from.view = turned(r, r.view);
    assign(r.view, turned(r, put_picked(from, value)));
  } else if (r.backwards.empty() || value.rank() == 0) {
    assign(r.view, value);
  } else {
    assign(r.view, turned(r, spread(value, r.view.shape())));
  }
}

/// x[mask] = one value, where the mask covers leading axes of x: needs no data of the mask.
bool put_masked(const Tensor& x, PyObject* index, const Tensor& value) {
  if (!is_tensor(index) || impl_of(index)->dtype != DType::bool_ || value.rank() > 0) return false;
  Tensor mask = tensor_of(index);
  if (mask.rank() > x.rank()) return false;
  for (int i = 0; i < mask.rank(); ++i)
    if (!require(Relation::eq, mask.size(i), x.size(i))) return false;
  for (int i = mask.rank(); i < x.rank(); ++i) mask = S::unsqueeze(mask, i);
  assign(x, M::where(mask, cast_for(x, value), x));
  return true;
}

PyObject* subscript(PyObject* self, PyObject* index) {
  return guarded([&] {
    Tensor x = tensor_of(self);
    Resolved at = Reader(x).read(index);
    at.view = turned(at, at.view);
    Tensor y = pick(at);
    if (at.by_truth && at.picks.empty()) y = M::clone(y);
    bool views = !at.picks.empty();  // eagerly: indexes of one element select, and give a view
    for (const Picked& p : at.picks) views = views && p.index.rank() == 0;
    if (ir::Tracer* tracer = ir::Tracer::current(); views && tracer != nullptr)
      tracer->note_picked(y, x, [at, x](const Tensor& value) { write(at, cast_for(x, value)); });
    // x[...] is a tensor of its own, though the elements are the same.
    return wrap(y.impl() == x.impl() ? S::view(x, x.shape()) : std::move(y));
  });
}

int assign_subscript(PyObject* self, PyObject* index, PyObject* o) {
  return guarded_int([&] {
    if (o == nullptr)
      throw TypeError({.op = "index", .problem = "elements of a tensor cannot be deleted"});
    Tensor x = tensor_of(self), value;
    Arg arg;
    if (!operand(o, arg, value)) {
      value = build(o, {.dtype = x.dtype(), .device = x.device()});
    } else if (arg.tag == Tag::tensor) {
      value = py::to_device(arg.tensor(), x.device());
    } else {
      value = number_tensor(arg, x.dtype(), x.device());
    }
    if (put_masked(x, index, value)) return 0;
    Resolved r = Reader(x).read(index);
    write(r, r.picks.empty() ? value : cast_for(x, value));
    return 0;
  });
}

Py_ssize_t length(PyObject* self) {
  Py_ssize_t n = -1;
  int status = guarded_int([&] {
    Tensor t = tensor_of(self);
    if (t.rank() == 0)
      throw TypeError({.op = "len",
                       .problem = "a tensor without axes has no length",
                       .got = to_string(type_of(t)),
                       .expected = "at least one axis",
                       .next = "use item() for its value"});
    n = t.size(0).value();
    return 0;
  });
  return status < 0 ? -1 : n;
}

/// Rows along the first axis, made at once: x may change while it is iterated.
PyObject* iterate(PyObject* self) {
  return guarded([&] {
    Tensor t = tensor_of(self);
    if (t.rank() == 0)
      throw TypeError({.op = "iter",
                       .problem = "a tensor without axes cannot be iterated",
                       .got = to_string(type_of(t)),
                       .expected = "at least one axis",
                       .next = "use item() for its value"});
    int64_t n = t.size(0).value();
    nb::object rows = owned(PyTuple_New(n));
    for (int64_t i = 0; i < n; ++i)
      PyTuple_SET_ITEM(rows.ptr(), i, checked(wrap(S::select(t, 0, Int(i)))));
    return PyObject_GetIter(rows.ptr());
  });
}

template <class F>
void* slot(F* f) {
  return reinterpret_cast<void*>(f);
}

}  // namespace

void append_index_slots(std::vector<PyType_Slot>& slots) {
  slots.push_back({Py_mp_subscript, slot(subscript)});
  slots.push_back({Py_mp_ass_subscript, slot(assign_subscript)});
  slots.push_back({Py_mp_length, slot(length)});
  slots.push_back({Py_tp_iter, slot(iterate)});
}

}  // namespace lathe::py
