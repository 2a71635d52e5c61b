"""Is our result PyTorch's? Structure, dtype, shape and values, each difference in words."""

import convert
import torch

import lathe as lt

# (relative, absolute), by the dtype of the result; integers and bool are equal or wrong.
TOLERANCES = {
    torch.float16: (2e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
    torch.float32: (2e-6, 1e-5),
    torch.float64: (1e-7, 1e-9),  # PyTorch has constants of f32 in some kernels of f64
    torch.complex64: (2e-6, 1e-5),
    torch.complex128: (1e-7, 1e-9),
}
# Where PyTorch's own result is off by more: ours may be so many times as far from that in f64.
SLACK = 8


def told_tolerances():
    """The table in one line."""
    return ", ".join(f"{convert.dtype_name(d)} {r:g}/{a:g}" for d, (r, a) in TOLERANCES.items())


def difference(expected, got, exact=None, values=True, at="result"):
    """What is wrong with got, or None. values: compare these. exact(kind) gives what both are
    measured by where they differ; see modes.exact."""
    if isinstance(expected, torch.Tensor):
        return of_tensors(expected, got, exact, values, at)
    if isinstance(expected, (list, tuple)):
        if not isinstance(got, (list, tuple)):
            return f"{at}: {type(got).__name__}, not {len(expected)} results"
        if len(got) != len(expected):
            return f"{at}: {len(got)} results, not {len(expected)}"
        for i, (e, g) in enumerate(zip(expected, got)):
            inner = (lambda kind, i=i: exact(kind)[i]) if exact else None
            found = difference(e, g, inner, values, f"{at}[{i}]")
            if found:
                return found
        return None
    if isinstance(expected, torch.dtype):
        same = str(got).removeprefix("lathe.") == convert.dtype_name(expected)
        return None if same else f"{at}: {got}, not {expected}"
    if expected is None:
        return None if got is None else f"{at}: {type(got).__name__}, not None"
    if isinstance(got, lt.Tensor):
        return f"{at}: a tensor, not {expected!r}"
    return None if not values else of_numbers(expected, got, at)


def of_numbers(expected, got, at):
    if type(expected) is not type(got):
        return f"{at}: {type(got).__name__}, not {type(expected).__name__}"
    if isinstance(expected, (float, complex)):
        kind = torch.float64 if isinstance(expected, float) else torch.complex128
        pair = [torch.tensor(v, dtype=kind) for v in (expected, got)]
        return of_values(*pair, 1e-5, 1e-6, None, at)
    return None if expected == got else f"{at}: {got!r}, not {expected!r}"


def of_tensors(expected, got, exact, values, at):
    if not isinstance(got, lt.Tensor):
        return f"{at}: {type(got).__name__}, not a tensor"
    if str(got.dtype).removeprefix("lathe.") != convert.dtype_name(expected.dtype):
        return f"{at}: {got.dtype}, not {expected.dtype}"
    if tuple(got.shape) != tuple(expected.shape):
        return f"{at}: shape {tuple(got.shape)}, not {tuple(expected.shape)}"
    if not values:
        return None
    expected = expected.detach().resolve_conj().resolve_neg()
    return of_values(
        expected, convert.theirs(got), *TOLERANCES.get(expected.dtype, (0, 0)), exact, at
    )


def of_values(expected, got, relative, absolute, exact, at):
    if torch.allclose(got, expected, relative, absolute, equal_nan=True):
        return None
    if exact and any(is_as_near(expected, got, relative, absolute, exact, k) for k in range(3)):
        return None
    wrong = ~torch.isclose(got, expected, relative, absolute, equal_nan=True)
    where = tuple(wrong.nonzero()[0].tolist())
    some = f"{got[where].item()!r}, not {expected[where].item()!r}"
    return f"{at}: {int(wrong.sum())} of {wrong.numel()} values differ, at {list(where)} {some}"


def is_as_near(expected, got, relative, absolute, exact, kind):
    """Is ours about as near to the result in f64 as PyTorch's? To that of integers in f64, and to
    that of another library, it has to be near by itself: PyTorch's may be far from them."""
    try:
        truth = exact(kind)
    except Exception:  # of PyTorch's: it has no f64 for this call
        return False
    if not isinstance(truth, torch.Tensor) or truth.shape != expected.shape:
        return False
    if not (expected.is_floating_point() or expected.is_complex()):
        return False
    wide = truth.dtype
    theirs, mine = (distance(t.to(wide), truth) for t in (expected, got))
    near = absolute + relative * truth.abs()
    finite = expected.isfinite() & truth.isfinite()
    alike = torch.nan_to_num(mine) == torch.nan_to_num(theirs)
    if not (alike | (mine <= near))[~finite].all():
        return False
    slack = SLACK * theirs[finite].max() if finite.any() and kind == 0 else 0
    return bool((mine <= near + slack)[finite].all())


def distance(first, second):
    return torch.where(first == second, 0, (first - second).abs())


def same_bytes(first, second, at="result"):
    """What differs between two of our results, or None."""
    if isinstance(first, (list, tuple)):
        if not isinstance(second, (list, tuple)) or len(first) != len(second):
            return f"{at}: other results"
        found = (same_bytes(a, b, f"{at}[{i}]") for i, (a, b) in enumerate(zip(first, second)))
        return next(filter(None, found), None)
    if not isinstance(first, lt.Tensor) or not isinstance(second, lt.Tensor):
        same = type(first) is type(second) and (first == second or first != first)
        return None if same else f"{at}: {second!r}, not {first!r}"
    if first.dtype != second.dtype or tuple(first.shape) != tuple(second.shape):
        return f"{at}: {second.dtype} {tuple(second.shape)}, not {first.dtype} {tuple(first.shape)}"
    a, b = (convert.theirs(t) for t in (first, second))
    if a.numel() == 0 or torch.equal(as_bytes(a), as_bytes(b)):
        return None
    differ = as_bytes(a).view(a.numel(), -1) != as_bytes(b).view(a.numel(), -1)
    n = int(differ.any(1).sum())
    at_first = int(differ.any(1).nonzero()[0])
    pair = f"{b.flatten()[at_first].item()!r}, not {a.flatten()[at_first].item()!r}"
    return f"{at}: {n} of {a.numel()} values differ in bits, the first {pair}"


def as_bytes(tensor):
    """Its bytes, with one NaN for all: which NaN comes out is not promised."""
    tensor = tensor.clone(memory_format=torch.contiguous_format)
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor)
    if tensor.is_floating_point():
        tensor = torch.where(tensor.isnan(), torch.nan, tensor)
    return tensor.flatten().view(torch.uint8)
