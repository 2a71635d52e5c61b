"""debug: where a captured program first gives something else than eager code."""

from .. import _lathe
from .trace import Traced

_BITS = {"float16": 16, "bfloat16": 16, "float32": 32, "float64": 64}


class Comparison:
    """What lathe.debug found. str() says it in words; `agrees` in one.

    Where something differs: op and at (the user's file and line) of the first node, index of its
    first element that does, what is there (got) and should be (expected), ulps (units in the last
    place between them; None where that says nothing), differing (how many elements do), and cause.
    """

    def __init__(self, values, compared, first=None):
        self.values, self.compared = values, compared  # of the graph; and those seen in eager code
        self.agrees = first is None
        self.op = self.at = self.cause = self.index = None
        self.got = self.expected = self.ulps = None
        self.differing = 0
        if first is not None:
            self.op, self.at, got, expected, self.cause = first
            self._look(got, expected)

    def _look(self, got, expected):
        """The first element that differs."""
        if got.dtype != expected.dtype or got.shape != expected.shape:
            self.got, self.expected = (f"{t.dtype}{list(t.shape)}" for t in (got, expected))
            return
        xs, ys = _flat(got).tolist(), _flat(expected).tolist()
        bits = [_bits(_flat(t)) for t in (got, expected)]
        parts = len(bits[0]) // max(len(xs), 1)  # two, of a complex number
        unequal = [
            i
            for i, (x, y) in enumerate(zip(*bits))
            if x != y and not (_is_nan(x, got.dtype) and _is_nan(y, got.dtype))
        ]
        places = sorted({i // parts for i in unequal})
        self.differing, first = len(places), places[0]
        self.got, self.expected = xs[first], ys[first]
        self.index = tuple(_index(first, got.shape))
        if _width(got.dtype) and not any(_is_nan(b[unequal[0]], got.dtype) for b in bits):
            self.ulps = abs(
                _ordered(bits[0][unequal[0]], got.dtype) - _ordered(bits[1][unequal[0]], got.dtype)
            )

    def __str__(self):
        seen = f"{self.compared} of them also beside the calls of eager code"
        if self.agrees:
            return f"all {self.values} values agree, {seen}"
        where = "" if self.index is None else f" at {list(self.index)} ({self.differing} differ)"
        ulps = "" if self.ulps is None else f", {self.ulps} units in the last place"
        return (
            f"{self.op} is the first node that differs\n"
            f"  got:      {self.got}{where}\n"
            f"  expected: {self.expected}{ulps}\n"
            f"  at:       {self.at}\n"
            f"  cause:    {self.cause}"
        )

    __repr__ = __str__


def _flat(t):
    return t.detach().contiguous().reshape(-1)


def _width(dtype):
    """Bits of a float of this dtype, or of a part of a complex one; None of others."""
    name = str(dtype).rpartition(".")[2]
    return {"complex64": 32, "complex128": 64}.get(name) or _BITS.get(name)


def _bits(flat):
    """Elements as integers, a complex number as its two parts; others as they are."""
    import lathe

    width = _width(flat.dtype)
    if width is None:
        return flat.tolist()
    if flat.dtype.is_complex:
        flat = lathe.view_as_real(flat).contiguous().reshape(-1)
    return flat.view(getattr(lathe, f"int{width}")).tolist()


def _ordered(bits, dtype):
    """A float's bits, so that neighbours are one apart and zeros are equal."""
    return bits if bits >= 0 else -(bits + (1 << (_width(dtype) - 1)))


def _is_nan(bits, dtype):
    width = _width(dtype)
    if width is None:
        return False
    mantissa = {"float16": 10, "bfloat16": 7}.get(str(dtype).rpartition(".")[2])
    mantissa = mantissa or {32: 23, 64: 52}[width]
    infinity = (1 << (width - 1)) - (1 << mantissa)
    return abs(_ordered(bits, dtype)) > infinity


def _index(at, shape):
    out = []
    for size in reversed(shape):
        out.append(at % size)
        at //= size
    return reversed(out)


def debug(function, *args, **kwargs):
    """Finds the first node of a captured program that does not give what eager code gives.

    function: what lathe.trace or lathe.script gave. It is captured for these arguments if it was
    not, by the rules that there are then (lathe.rewrite). Each value of the captured graph is
    compared twice: out of the program, with the node run by itself; and with what the same line
    gives in eager code, for which the function is called once as it is, with all its effects.
    Bits are compared, NaNs counted as one. Nodes inside of a recorded loop or branch count as one.
    Gradients taken outside of the function are not looked at.

    Gives a Comparison, to print: that all agree, or the op, line, got, expected, units in the last
    place, and the rewrite without which it agrees.
    """
    if not isinstance(function, Traced):
        raise _lathe.TypeError(
            "only a captured function has a program to compare",
            op="debug",
            got=type(function).__name__,
            expected="what lathe.trace or lathe.script gave",
            next="debug(lathe.trace(f), *args)",
        )
    found = function._engine.debug(args, kwargs)
    if found is None:
        found = _capture(function, args, kwargs)
    values, first, got, cause = found
    _, calls = _lathe._watched(lambda: function._function(*args, **kwargs))
    compared, other = _beside(values, calls, len(values) if first < 0 else first)
    if other is not None:
        return Comparison(len(values), compared, other)
    if first < 0:
        return Comparison(len(values), compared)
    op, at, expected = values[first]
    return Comparison(len(values), compared, (op, at, got, expected, cause))


def _capture(function, args, kwargs):
    from .observe.observer import Observer

    with Observer.lock:
        number, problem = function._make(args, kwargs)
    if problem is not None:
        raise problem
    found = function._engine.debug(args, kwargs)
    if found is None:
        function._refuse_unsteady(number, args, kwargs)
    return found


def _beside(values, calls, until):
    """How many values of the graph eager code called for as well, and the first before `until` that
    it gave otherwise. Ops at the same line with the same type of result belong together."""
    at = compared = 0
    for i, (op, line, tensor) in enumerate(values):
        here = at
        while here < len(calls) and not _alike(calls[here], op, line, tensor):
            here += 1
        if here == len(calls):
            continue
        at, compared = here + 1, compared + 1
        if i < until and not _lathe._same_elements(tensor, calls[here][2]):
            cause = "the capture: the graph itself gives something else than eager code"
            return compared, (op, line, tensor, calls[here][2], cause)
    return compared, None


def _alike(call, op, line, tensor):
    return call[0] == op and call[1] == line and call[2].dtype == tensor.dtype and \
        call[2].shape == tensor.shape  # fmt: skip
