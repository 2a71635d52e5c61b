"""An axis of a 0-d tensor is 0 or -1, for every parameter of every definition that is an axis.

With either, an op gives what it gives for a tensor of one axis with one element, gradient included.
What refuses, and why, is listed; so is every integer parameter that is no axis. Where PyTorch
refuses (tests/signatures/no_axis.txt) an op may refuse too, by an error of ours.
"""

from pathlib import Path

import pytest
from samples import SAMPLES, tensors

import lathe as lt

FIRST = {sample.op: sample for sample in reversed(SAMPLES)}  # one of each op
ROWS = {row["name"]: row for row in lt._lathe._definitions()}
INTEGER = 1  # what lt._lathe._definitions() calls the type of a parameter

AXES = {
    "axes", "axis", "axis0", "axis1", "destination", "dim", "dim0", "dim1", "dim2", "dimension",
    "dims", "dims_other", "dims_self", "end_dim", "source", "start_dim",
}  # fmt: skip
NO_AXES = {
    "_stacklevel", "a", "b", "bins", "blank", "chunks", "col", "correction", "decimals", "diagonal",
    "dilation", "divisor_override", "downscale_factor", "edge_order", "end", "fill",
    "fill_value", "from", "groups", "high", "hop_length", "ignore_index", "ind", "index",
    "indices", "input_lengths", "interpolation_mode", "k", "kernel", "kernel_size", "last",
    "length", "low", "M", "m", "minlength", "N", "n", "n_fft", "niter", "norm",
    "normalized_shape",
    "num_classes", "num_groups", "num_samples", "offset", "output_padding", "output_size", "p", "q",
    "pad", "padding", "padding_idx", "padding_mode", "physical_layout", "r", "reduction",
    "repeats", "row", "rows", "s", "sections", "shape", "shift", "shifts", "size", "sizes",
    "split_size",
    "split_size_or_sections", "split_sizes", "start", "step", "steps", "storage_offset",
    "stride", "target_lengths", "to", "upscale_factor", "win_length", "window_length",
}  # fmt: skip
OTHERWISE = {
    "tile": "dims say how often, not where",
    "transpose.axes": "an order of all axes",
    "tensordot.dims": "pairs of axes",
}
ONE = {"k", "size", "step", "length"}  # parameters that a single element satisfies with 1, and
NONE = {"start", "index"}  # with 0

NEEDS_SIZE = "asks for the size of the axis, as in PyTorch"
NO_ORDER = "puts as many axes in order as there are, and there is none, as in PyTorch"
NO_LINE = "there is no axis to transform along, as in PyTorch"
MATRIX = "a matrix has two axes, as in PyTorch"


def takes_dim(row):
    return any(p["name"] == "dim" for p in row["params"])


REFUSED = {
    **{op: NO_LINE for op, row in ROWS.items() if op.startswith("fft_") and takes_dim(row)},
    **dict.fromkeys(
        ("linalg_matrix_norm", "linalg_matrix_norm.ord", "linalg_norm.name", "nuclear_norm.dim"),
        MATRIX,
    ),
    "linalg_tensorsolve": "its dims are those of the first operand, which has as many as both",
    **dict.fromkeys(("slice", "slice_put"), NEEDS_SIZE),
    **dict.fromkeys(("permute_put", "permute_copy"), NO_ORDER),
    **dict.fromkeys(("diagonal_put", "diagonal_copy"), "needs two axes, as in PyTorch"),
    "linalg_diagonal": "needs two axes, as in PyTorch",
}


def is_axis(param):
    return param["name"] in AXES and param["type"] == INTEGER


THEIRS = Path(__file__).parents[2] / "signatures/no_axis.txt"
OPS = [
    op for op, row in ROWS.items() if op not in OTHERWISE and any(is_axis(p) for p in row["params"])
]
MAY_REFUSE = [line for line in THEIRS.read_text().splitlines() if line and line[0] != "#"]
TAKEN = [op for op in OPS if op not in REFUSED and op not in MAY_REFUSE]


def single(value, rank):
    """A tensor of one element in place of each of a sample's."""
    if isinstance(value, list) and value and isinstance(value[0], lt.Tensor):
        return [single(v, rank) for v in value]
    if not isinstance(value, lt.Tensor):
        return value
    if value.dtype in (lt.int32, lt.int64):  # they index
        return lt.zeros((1,) * rank, dtype=value.dtype)
    return lt.full((1,) * rank, 2.5).to(value.dtype)


def arguments(op, rank, axis):
    """Of a call on tensors of one element: {parameter: value}."""
    args, kwargs = tensors(FIRST[op])
    params = ROWS[op]["params"]
    given = dict(zip((p["name"] for p in params), args)) | kwargs
    given = {name: single(value, rank) for name, value in given.items()}
    for p in params:
        if is_axis(p):
            given[p["name"]] = [axis] if p["list"] else axis
        elif p["name"] in ONE | NONE and p["name"] in given and p["type"] == INTEGER:
            given[p["name"]] = int(p["name"] in ONE)
    if op.endswith("_put") and op in TAKEN:  # the value has the shape of the view
        view = getattr(lt.ops, op.removesuffix("_put"))
        rest = {n: v for n, v in given.items() if n != "value"}
        given["value"] = view(**rest)
    return given


def run(op, rank, axis):
    """(results, the gradient of their sum by the first tensor) of a call on single elements."""
    given = arguments(op, rank, axis)
    first = given[ROWS[op]["params"][0]["name"]]
    x = first[0] if isinstance(first, list) else first
    tracked = x.is_floating_point() and not ROWS[op]["no_grad"]
    if tracked:
        x.requires_grad_()
    results = getattr(lt.ops, op)(**given)
    results = list(results) if isinstance(results, (list, tuple)) else [results]
    followed = [y for y in results if y.requires_grad]
    if not followed:
        return results, None
    (gradient,) = lt.autograd.grad([y.sum() for y in followed], [x])
    assert gradient.shape == x.shape
    return results, gradient


def elements(tensors_):
    return [t.detach().numpy().tobytes() for t in tensors_]


@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("op", TAKEN)
def test_a_single_element_is_taken(op, axis):
    results, gradient = run(op, 0, axis)
    expected, slope = run(op, 1, axis)
    assert elements(results) == elements(expected)
    assert (gradient is None) == (slope is None)
    if gradient is not None:
        assert elements([gradient]) == elements([slope])


@pytest.mark.parametrize("axis", [1, -2])
@pytest.mark.parametrize("op", TAKEN)
def test_other_axes_are_errors(op, axis):
    with pytest.raises(lt.IndexError, match="the axis is out of range"):
        run(op, 0, axis)


@pytest.mark.parametrize("axis", [0, -1, 1, -2])
@pytest.mark.parametrize("op", REFUSED)
def test_who_refuses(op, axis):
    with pytest.raises((lt.IndexError, lt.ShapeError)) as caught:
        run(op, 0, axis)
    assert caught.value.op == op.split(".")[0]


@pytest.mark.parametrize("axis", [0, -1, 1, -2])
@pytest.mark.parametrize("op", MAY_REFUSE)
def test_who_may_refuse(op, axis):
    try:
        results, _ = run(op, 0, axis)
    except lt.Error:
        return
    assert axis in (0, -1)
    expected, _ = run(op, 1, axis)
    assert elements(results) == elements(expected)


def test_every_integer_parameter_is_known():
    """A new one says here whether it is an axis."""
    integers = {
        p["name"]
        for row in ROWS.values()
        for p in row["params"]
        if p["type"] == INTEGER and row["name"] in FIRST
    }
    assert integers == AXES | NO_AXES
    assert set(OPS) <= FIRST.keys()


def test_shapes():
    x = lt.tensor(2.5)
    for y in (lt.sum(x, 0), lt.cumsum(x, -1), lt.softmax(x, 0), lt.argmax(x, 0), lt.squeeze(x, 0)):
        assert y.shape == ()
    for pair in (lt.sort(x, 0), lt.max(x, -1), lt.topk(x, 1, 0)):
        assert [y.shape for y in pair] == [(), ()]
    assert lt.gather(x, 0, lt.tensor(0)).shape == ()
    assert lt.unsqueeze(x, 0).shape == (1,) == lt.flatten(x, 0).shape
    for k in (0, 2):
        with pytest.raises(lt.Error):
            lt.topk(x, k, 0)
    with pytest.raises(lt.Error):
        x.size(0)


@pytest.mark.parametrize("index", [0, [0]])
def test_index_select_names_the_one_element(index):
    """As in PyTorch, the result has no axis either."""
    x = lt.tensor(2.5, requires_grad=True)
    y = lt.index_select(x, 0, lt.tensor(index))
    assert y.shape == () and y.item() == 2.5
    (y * 3).backward()
    assert x.grad.shape == () and x.grad.item() == 3
    source = lt.full(lt.tensor(index).shape, 4.0).requires_grad_()
    z = lt.index_add(x.detach(), 0, lt.tensor(index), source)
    z.backward()
    assert z.item() == 6.5 and source.grad.shape == source.shape and source.grad.sum().item() == 1
    for other in ([0, 0], [[0]], []):
        with pytest.raises(lt.ShapeError, match="index does not name one"):
            lt.index_select(x, 0, lt.tensor(other, dtype=lt.int64))
    with pytest.raises(lt.IndexError):
        lt.index_select(x, 0, lt.tensor([1]))


def test_a_trace_says_the_same():
    def f(x):
        few = lt.index_select(x, 0, lt.tensor([0]))
        return lt.sum(x, 0), lt.cumsum(x, -1), lt.sort(x, 0)[0], lt.softmax(x, 0), few

    x = lt.tensor(2.5)
    assert [t.item() for t in lt.trace(f)(x)] == [t.item() for t in f(x)]
