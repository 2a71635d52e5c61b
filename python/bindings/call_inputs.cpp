#include "python/bindings/call_inputs.h"

#include "core/dispatch/call.h"
#include "python/bindings/tensor.h"

namespace lathe::py {

bool CallInputs::find(const Guards& guards, PyObject* args, PyObject* kwargs,
                      absl::Span<const ProgramInput> inputs, absl::Span<const int> wanted) {
  if (!guards.hold(args, kwargs, found_)) {
    found_.let_go();
    return false;
  }
  if (settled_ != found_.settled) sort_inputs(guards, inputs);
  for (PyObject* o : held_) Py_INCREF(o);  // the program may let other threads run
  for (int row : wanted) {
    PyObject* o = found_.objects[static_cast<size_t>(row)];
    if (o == nullptr)
      wanted_tensors_.push_back(found_.tensor(row));
    else
      wanted_.push_back(Py_NewRef(o));
  }
  holds_ = true;
  for (size_t i : views_) refresh(all_[i].tensor());
  for (size_t i : fresh_) all_[i] = guards.input(found_, inputs[i].row, inputs[i].kind);
  return true;
}

/// Which inputs are lent, and those.
void CallInputs::sort_inputs(const Guards& guards, absl::Span<const ProgramInput> inputs) {
  give_back();
  all_.resize(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ProgramInput& in = inputs[i];
    if (in.kind != Guards::InputKind::tensor || !guards.settles_tensor(in.row)) {
      fresh_.push_back(i);
      continue;
    }
    PyObject* o = found_.objects[static_cast<size_t>(in.row)];
    lent_.push_back(i);
    held_.push_back(o);
    all_[i] = ir::Datum::lent(impl_of(o));
    if (impl_of(o)->view) views_.push_back(i);
  }
  settled_ = found_.settled;
}

void CallInputs::let_go() {
  for (size_t i : fresh_) all_[i] = ir::Datum();
  if (std::exchange(holds_, false))
    for (PyObject* o : held_) Py_DECREF(o);
  wanted_tensors_.clear();
  for (PyObject* o : std::exchange(wanted_, {})) Py_DECREF(o);
  found_.let_go();
}

void CallInputs::give_back() {
  for (size_t i : lent_) all_[i].give_back();
  for (std::vector<size_t>* places : {&fresh_, &lent_, &views_}) places->clear();
  held_.clear();
  settled_ = 0;
}

}  // namespace lathe::py
