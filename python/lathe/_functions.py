"""Functions that are Python by nature: questions about a tensor, and what gives a Python number.

Everything that computes is an op definition.
"""

from . import _lathe, ops
from ._errors import typed
from ._lathe import _Tensor as Tensor


def as_tensor(data, *, dtype=None, device=None) -> Tensor:
    """data itself if it is a tensor of that kind, a tensor over its memory where that can be, else
    a copy."""
    if isinstance(data, Tensor):
        return data.to(device=device, dtype=dtype)
    if hasattr(data, "__array_interface__"):
        try:
            return _lathe.from_numpy(data).to(device=device, dtype=dtype)
        except (ValueError, TypeError):
            pass
    return _lathe.tensor(data, dtype=dtype, device=device)


def is_tensor(obj, /) -> bool:
    return isinstance(obj, Tensor)


def is_floating_point(input) -> bool:
    return input.dtype.is_floating_point


def is_complex(input) -> bool:
    return input.dtype.is_complex


def is_nonzero(input) -> bool:
    """Whether the only element is not zero."""
    return input.is_nonzero()


def is_storage(obj, /) -> bool:
    """Whether it is what Tensor.storage() or untyped_storage() gives."""
    from ._storages import UntypedStorage

    return isinstance(obj, UntypedStorage)


def is_signed(input) -> bool:
    """Whether the dtype has numbers below 0."""
    return input.dtype.is_signed


def is_distributed(input) -> bool:
    """False: no tensor lies in several processes."""
    return input.is_distributed()


def detach(input) -> Tensor:
    """The same elements without history."""
    return input.detach()


def detach_(input) -> Tensor:
    """Takes the tensor itself out of history."""
    return input.detach_()


def as_strided_(input, size, stride, storage_offset=None) -> Tensor:
    """As as_strided, but input itself becomes the view."""
    return input.as_strided_(size, stride, storage_offset)


def zero_(input) -> Tensor:
    """Writes 0 everywhere."""
    return input.zero_()


def to_dlpack(data, *, dl_device=None, copy=None):
    """The tensor's memory as a DLPack capsule."""
    return data.__dlpack__(dl_device=dl_device, copy=copy)


def from_file(
    filename, shared=None, size=0, *, dtype=None, layout=None, device=None, pin_memory=False,
    requires_grad=False,
) -> Tensor:  # fmt: skip
    """`size` elements from the start of a file, in the dtype. shared: what is written to the tensor
    is written to the file, which grows to that size; else the file stays as it is. FileError where
    it cannot be read, ValueError where it is too short."""
    from ._storages import mapped

    made = mapped(filename, bool(shared), size, dtype or _lathe.get_default_dtype())
    return made.to(device=device).requires_grad_(requires_grad)


def is_conj(input) -> bool:
    """False: conj() conjugates at once."""
    return input.is_conj()


def is_neg(input) -> bool:
    """False: neg() negates at once."""
    return input.is_neg()


def is_inference(input) -> bool:
    """False: no tensor is barred from history for ever."""
    return input.is_inference()


def get_device(input) -> int:
    """The index of the device, -1 for the host."""
    return input.get_device()


def numel(input) -> int:
    return input.numel()


def equal(input, other) -> bool:
    """Whether both have one shape and equal elements; a Python bool."""
    return input.shape == other.shape and bool(ops.all(ops.eq(input, other)))


def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False) -> bool:
    """Whether all elements are close (see isclose); a Python bool."""
    return bool(ops.all(ops.isclose(input, other, rtol, atol, equal_nan)))


def fill_(input, value) -> Tensor:
    """value everywhere in input, in place."""
    return input.fill_(value)


def resize_as_(input, the_template, *, memory_format=None) -> Tensor:
    """input with the sizes of another tensor, in place; see Tensor.resize_."""
    return input.resize_as_(the_template, memory_format=memory_format)


def exported():
    """What becomes part of `lathe`."""
    names = globals()
    mine = {n: f for n, f in names.items() if getattr(f, "__module__", "") == __name__}
    return {n: typed(f) for n, f in mine.items() if n != "exported"}
