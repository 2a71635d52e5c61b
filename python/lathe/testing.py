"""Comparisons for tests, as torch.testing has them."""

from collections.abc import Mapping, Sequence
from numbers import Number

from . import _lathe, ops
from ._functions import as_tensor
from ._lathe import Tensor

__all__ = ["assert_close"]

# (rtol, atol) by dtype, as PyTorch's; 0 for integers and bools.
_TOLERANCES = {
    _lathe.float16: (1e-3, 1e-5), _lathe.bfloat16: (1.6e-2, 1e-5), _lathe.float32: (1.3e-6, 1e-5),
    _lathe.float64: (1e-7, 1e-7), _lathe.complex64: (1.3e-6, 1e-5), _lathe.complex128: (1e-7, 1e-7),
}  # fmt: skip


class _Close:
    """One comparison: what was asked for."""

    def __init__(self, rtol, atol, equal_nan, exact_types, checks, check_stride, msg):
        if (rtol is None) != (atol is None):
            raise _lathe.ValueError(
                "one tolerance without the other", op="assert_close", got=f"{rtol=}, {atol=}",
                expected="both or none", next="give both",
            )  # fmt: skip
        self.tolerances = None if rtol is None else (rtol, atol)
        self.equal_nan, self.exact_types, self.msg = equal_nan, exact_types, msg
        self.checks, self.check_stride = checks, check_stride

    def fail(self, text, where):
        text += f"\nat item {where}" if where else ""
        if self.msg is not None:
            text = self.msg(text) if callable(self.msg) else self.msg
        raise AssertionError(text)

    def compare(self, actual, expected, where=""):
        if isinstance(actual, Mapping) and isinstance(expected, Mapping):
            if set(actual) != set(expected):
                self.fail(f"the keys differ: {list(actual)} and {list(expected)}", where)
            for key in expected:
                self.compare(actual[key], expected[key], f"{where}[{key!r}]")
        elif _is_sequence(actual) and _is_sequence(expected):
            if len(actual) != len(expected):
                self.fail(f"the lengths differ: {len(actual)} and {len(expected)}", where)
            for i, pair in enumerate(zip(actual, expected)):
                self.compare(*pair, f"{where}[{i}]")
        elif actual is None or expected is None:
            if actual is not expected:
                self.fail(f"one of the two is None: {actual!r} and {expected!r}", where)
        else:
            if self.exact_types and type(actual) is not type(expected):
                names = f"{type(actual).__name__} and {type(expected).__name__}"
                self.fail(f"the types differ: {names}", where)
            numbers = isinstance(actual, Number) and isinstance(expected, Number)
            self.compare_tensors(_tensor(actual), _tensor(expected), where, numbers)

    def compare_tensors(self, actual, expected, where, numbers):
        if tuple(actual.shape) != tuple(expected.shape):
            shapes = f"{list(actual.shape)} and {list(expected.shape)}"
            self.fail(f"the shapes differ: {shapes}", where)
        for name in () if numbers else self.checks:
            a, b = getattr(actual, name), getattr(expected, name)
            if a != b:
                self.fail(f"the {name}s differ: {a} and {b}", where)
        if self.check_stride and actual.stride() != expected.stride():
            self.fail(f"the strides differ: {actual.stride()} and {expected.stride()}", where)
        rtol, atol = self.tolerances or _tolerances(actual.dtype, expected.dtype)
        common = _lathe.promote_types(actual.dtype, expected.dtype)
        a, b = (_exact(t.detach(), common) for t in (actual, expected))
        same = ops.isclose(a, b, rtol=rtol, atol=atol, equal_nan=self.equal_nan)
        if not bool(same.all()):
            self.fail(_described(a, b, same, rtol, atol), where)


def _is_sequence(value):
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _tensor(value):
    if isinstance(value, Tensor):
        return value
    try:
        return as_tensor(value)
    except (TypeError, ValueError) as e:
        raise _lathe.TypeError(
            "what is compared is no tensor", op="assert_close", got=type(value).__name__,
            expected="tensors, arrays, numbers, None, and sequences and mappings of them",
            next="convert it first",
        ) from e  # fmt: skip


def _exact(t, common):
    """In a dtype in which differences are those of the elements."""
    if common.is_complex:
        return t.to(_lathe.complex128)
    return t.to(_lathe.float64 if common.is_floating_point else _lathe.int64)


def _tolerances(a, b):
    pairs = [_TOLERANCES.get(d, (0.0, 0.0)) for d in (a, b)]
    return max(p[0] for p in pairs), max(p[1] for p in pairs)


def _described(a, b, same, rtol, atol):
    wrong = ~same
    apart = ops.abs(a - b).to(_lathe.float64)
    lines = [f"not close: {int(wrong.sum())} of {wrong.numel()} elements"]
    for name, by, allowed in (
        ("absolute", apart, atol), ("relative", apart / ops.abs(b), rtol),
    ):  # fmt: skip
        by = ops.where(wrong, by, -1.0).reshape(-1)
        worst = int(by.argmax())
        at = [int(i) for i in ops.unravel_index(as_tensor(worst), tuple(a.shape))]
        got, want = a.reshape(-1)[worst].item(), b.reshape(-1)[worst].item()
        lines.append(
            f"greatest {name} difference: {by[worst].item():.6g} at {at}, {got} in place of {want} "
            f"(up to {allowed:g} is allowed)"
        )
    return "\n".join(lines)


def assert_close(
    actual, expected, *, allow_subclasses=True, rtol=None, atol=None, equal_nan=False,
    check_device=True, check_dtype=True, check_layout=True, check_stride=False, msg=None,
):  # fmt: skip
    """Raises AssertionError unless |actual - expected| <= atol + rtol |expected| at all elements.

    Takes tensors, arrays and numbers, and sequences and mappings of them, which are compared item
    by item; shapes agree, and devices, dtypes and strides where asked for. rtol and atol are given
    together; without them they go by the dtype, as in PyTorch: 1.3e-6 and 1e-5 for float32, 1e-7
    for float64, 1e-3 and 1e-5 for float16, 1.6e-2 and 1e-5 for bfloat16, 0 for integers; where
    dtypes differ, the larger ones. NaN is close to NaN if equal_nan. msg: what the error says
    instead, or a function of what it would have said. allow_subclasses=False: what is compared is
    of one class.
    """
    asked = {"device": check_device, "dtype": check_dtype, "layout": check_layout}
    checks = [name for name, wanted in asked.items() if wanted]
    close = _Close(rtol, atol, equal_nan, not allow_subclasses, checks, check_stride, msg)
    close.compare(actual, expected)
