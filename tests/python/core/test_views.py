"""What shares memory with its input is what does in PyTorch, and is written through both ways.

VIEWS are PyTorch's view ops (its page "Tensor Views"), SOMETIMES those that it lets be either;
every other op that only moves elements copies.
"""

import numpy as np
import pytest
from samples import SAMPLES, tensors

import lathe as lt

ROWS = {row["name"]: row for row in lt._lathe._definitions()}
_VIEWS = """
as_strided diagonal linalg_diagonal expand expand_as broadcast_to broadcast_tensors movedim narrow
real imag
narrow.start permute select squeeze transpose transpose.axes swapaxes t adjoint view view.dtype
view_as view_as_real view_as_complex unflatten unfold unsqueeze slice windows reversed strided
strided_over reinterpreted unbind split split.sizes split.method split.method_sizes
split_with_sizes chunk tensor_split tensor_split.indices hsplit hsplit.indices vsplit
vsplit.indices dsplit dsplit.indices meshgrid atleast_1d atleast_1d.each atleast_2d
atleast_2d.each atleast_3d atleast_3d.each resolve_conj resolve_neg unsafe_split
unsafe_split_with_sizes unsafe_chunk rows narrow_axes
"""
VIEWS = _VIEWS.split()
_SOMETIMES = """
reshape reshape_as flatten contiguous contiguous.memory_format ravel
"""
SOMETIMES = _SOMETIMES.split()
_COPIES = """
flip fliplr flipud roll rot90 tile repeat repeat_interleave narrow_copy cat stack hstack vstack
dstack column_stack block_diag cartesian_prod combinations diag diag_embed diagflat
diagonal_scatter select_scatter slice_scatter as_strided_scatter tril triu pixel_shuffle
pixel_unshuffle channel_shuffle unfold.functional fold clone clone.memory_format constant_pad_nd
"""
COPIES = _COPIES.split()
# Elements of theirs share an address, so nothing is written through them.
OVERLAPPING = {
    "expand", "expand_as", "broadcast_to", "broadcast_tensors", "meshgrid", "unfold", "windows",
    "strided_over",
}  # fmt: skip


def results(sample, arguments):
    args, kwargs = arguments
    value = getattr(lt.ops, sample.op)(*args, **kwargs)
    return value if isinstance(value, tuple) else (value,)


def inputs(arguments):
    first = arguments[0][0]
    return first if isinstance(first, list) else [first]


def bytes_of(values):
    return [v.detach().clone().numpy().tobytes() for v in values]


def complement(value):
    """What differs from each element of it."""
    if value.dtype is lt.bool:
        return lt.logical_not(value)
    return value + (1 + 1j if value.is_complex() else 1)


def written(value):
    value.copy_(complement(value.clone()))


def chosen(names):
    """PyTorch's adjoint of complex numbers is a view that conjugates what it shows: here a copy."""
    conjugated = ("adjoint", "c[2, 2, 3]")
    return [s for s in SAMPLES if s.op in names and (s.op, *s.positional) != conjugated]


@pytest.mark.parametrize("sample", chosen(VIEWS + SOMETIMES), ids=str)
def test_a_view_shows_what_is_written_to_its_input(sample):
    arguments = tensors(sample)
    seen = results(sample, arguments)
    before = bytes_of(seen)
    for x in inputs(arguments):
        written(x)
    assert all(a != b for a, b in zip(before, bytes_of(seen)))


@pytest.mark.parametrize("sample", chosen(VIEWS + SOMETIMES), ids=str)
def test_what_is_written_to_a_view_is_in_its_input(sample):
    arguments = tensors(sample)
    for i in range(len(results(sample, arguments))):
        seen = results(sample, arguments)[i]
        before = bytes_of(inputs(arguments))
        if sample.op in OVERLAPPING or str(sample) == "as_strided_2":
            with pytest.raises(lt.AliasError):
                written(seen)
        else:
            written(seen)
            assert bytes_of(inputs(arguments)) != before


@pytest.mark.parametrize("sample", chosen(COPIES), ids=str)
def test_a_copy_has_memory_of_its_own(sample):
    arguments = tensors(sample)
    seen = results(sample, arguments)
    before = bytes_of(seen)
    for x in inputs(arguments):
        written(x)
    assert bytes_of(seen) == before


def test_every_op_that_moves_elements_is_in_the_table():
    known = {*VIEWS, *SOMETIMES, *COPIES}
    views = {name for name, row in ROWS.items() if row["kind"] == "view"}
    assert views <= known


def test_a_view_with_strides_is_one_of_the_whole_memory():
    x = lt.arange(12.0)
    part = x[4:8]
    seen = part.as_strided((2, 2), (6, 1), 1)
    np.testing.assert_array_equal(seen.numpy(), [[1, 2], [7, 8]])
    assert part.as_strided((2,), (1,)).tolist() == [4, 5]  # from its own first element
    turned = lt.arange(6.0).reshape(2, 3).t()
    assert turned.as_strided((6,), (1,)).tolist() == list(range(6))


def test_gradients_of_elements_seen_twice_add_up():
    x = lt.arange(4.0).requires_grad_()
    x.as_strided((3, 2), (1, 1)).sum().backward()
    assert x.grad.tolist() == [1, 2, 2, 1]


def test_bytes_seen_as_another_dtype():
    x = lt.tensor([1.0, -2.0])
    bits = x.view(lt.int32)
    np.testing.assert_array_equal(bits.numpy(), x.numpy().view("int32"))
    bits.bitwise_and_(0x7FFFFFFF)
    assert x.tolist() == [1.0, 2.0]
    assert x.view(lt.int16).shape == (4,)
    assert x.view(lt.float64).shape == (1,)
    with pytest.raises(lt.ShapeError):
        lt.zeros(3).view(lt.float64)
    with pytest.raises(lt.ShapeError):
        lt.zeros(2, 3).t().view(lt.int16)


def test_dtype_views_in_a_trace():
    def halves(x):
        return (x * 2).view(lt.int16).sum(), (x + 1)[1:].view(lt.int32)[0] + 1

    x = lt.randn(6)
    for a, b in zip(lt.trace(halves)(x), halves(x)):
        assert a.item() == b.item() if a.ndim == 0 else a.tolist() == b.tolist()


def written_below():
    """A view whose base was written since, and what it was computed from."""
    x = lt.ones(2, 3).requires_grad_()
    y = (x * 2).view(2, 3)
    y.diagonal().fill_(5.0)
    return x, y


def test_the_gradient_begins_at_the_history_of_now():
    want = [[0, 2, 2], [2, 0, 2]]
    x, y = written_below()
    assert lt.autograd.grad(y, x, lt.ones(2, 3))[0].tolist() == want
    x, y = written_below()
    y.backward(lt.ones(2, 3))
    assert x.grad.tolist() == want


def test_a_read_without_gradients_leaves_a_view_its_history():
    x, y = written_below()
    with lt.no_grad():
        assert float(y.sum()) == 18
    assert y.requires_grad
    assert lt.autograd.grad(y.sum(), x)[0].tolist() == [[0, 2, 2], [2, 0, 2]]


def test_unfold_of_one_element():
    x = lt.tensor(3.0, requires_grad=True)
    y = x.unfold(0, 1, 1)
    assert y.tolist() == [3.0]
    y.sum().backward()
    assert x.grad.item() == 1
    with pytest.raises(lt.Error):
        x.unfold(0, 2, 1)


def test_the_nuclear_norm_is_that_of_matrices():
    x = lt.arange(6.0).reshape(2, 3)
    expected = np.linalg.norm(x.numpy(), "nuc")
    assert x.norm("nuc").item() == pytest.approx(expected, rel=1e-6)
    both = lt.stack([x, x]).norm("nuc", dim=(1, 2))
    np.testing.assert_allclose(both.numpy(), [expected, expected], rtol=1e-6)
    assert x.norm("nuc", dtype=lt.float64).dtype is lt.float64


def test_bytes_are_not_seen_as_truth():
    """A byte that is neither 0 nor 1 would be a number to one engine and true to another."""
    x = lt.tensor([0, 1, 138], dtype=lt.uint8)
    with pytest.raises(lt.DTypeError, match="neither 0 nor 1"):
        x.view(lt.bool)
    truth = x != 0
    assert truth.view(lt.uint8).tolist() == [0, 1, 1]
    assert truth.view(lt.bool).tolist() == [False, True, True]


def test_a_value_is_put_through_a_view_of_the_result():
    """Which is a tensor of its own: how the operand lies does not matter."""
    x = lt.arange(4.0).expand(2, 3, 4)
    value = lt.arange(24.0).reshape(2, 12)
    assert lt.equal(lt.ops.view_put(x, value, [2, 12]), value.reshape(2, 3, 4))
