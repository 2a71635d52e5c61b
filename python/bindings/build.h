// Tensors from what Python holds: numbers, nested lists, buffers (NumPy arrays among them), DLPack.
#pragma once

#include <optional>

#include "core/op/args.h"
#include "python/bindings/tensor.h"

namespace lathe::py {

struct BuildOptions {
  std::optional<DType> dtype = {};    // else what the data is; floats: the default dtype
  std::optional<Device> device = {};  // else the data's own, or cpu
};
/// A copy of `data`: a tensor, a buffer, a number, or sequences of these nested to any depth.
/// ValueError for ragged sequences, TypeError for what is no number.
Tensor build(PyObject* data, const BuildOptions& options);

/// Python's complex, or NumPy's.
bool is_complex_number(PyObject* o);
/// A tensor of complex128 without axes, and the same number as complex64.
Tensor complex_tensor(PyObject* number);
Tensor narrow_complex(const Tensor& wide);
/// A 0-d tensor that a trace can record, made by an op, to be written. OverflowError: not in range.
Tensor number_tensor(const Arg& number, DType dtype, Device device);

/// A tensor over the buffer's own memory, which lives as long as the tensor. ValueError for what
/// cannot be written, unless it is only to be read, and for strides that no tensor has.
Tensor share_buffer(PyObject* exporter, bool written = true);
/// Of an object that stands for an array in a capture (lathe.jit.arrays), the tensor over the
/// array's memory; undefined for any other.
Tensor stand_in_tensor(PyObject* o);
Tensor copy_buffer(PyObject* exporter);
bool has_buffer(PyObject* o);

/// Bytes copied to another device; the same tensor if it is there already.
Tensor to_device(const Tensor& t, Device device);
/// A tensor whose bytes host code may read: itself, or a copy.
Tensor on_host(const Tensor& t);

void add_build(nb::module_& m);
void add_buffer(nb::module_& m);
void add_dlpack(nb::module_& m);

}  // namespace lathe::py
