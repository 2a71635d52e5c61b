"""Operands of several dtypes in ops that are made of others: what they are computed in and give."""

import pytest

import lathe as lt

t = lt.tensor


@pytest.mark.parametrize(
    ("run", "want"),
    [
        (lambda: t([0.0]).sub_(t([100], dtype=lt.int8), alpha=2), [-200.0]),
        (lambda: lt.add(t([1.0]), t([255], dtype=lt.uint8), alpha=2), [511.0]),
        (lambda: lt.add(t([1]), t([100], dtype=lt.int8), alpha=2), [201]),
        (lambda: lt.sub(t([1.0]), t([3], dtype=lt.uint8), alpha=-1), [4.0]),
        (lambda: lt.rsub(t([3], dtype=lt.uint8), 1.5, alpha=2), [-4.5]),
    ],
)
@pytest.mark.parametrize("captured", [False, True])
def test_what_alpha_scales_does_not_wrap_in_a_narrower_dtype(run, want, captured):
    assert (lt.trace(run) if captured else run)().tolist() == want


@pytest.mark.parametrize("half", [lt.float16, lt.bfloat16])
@pytest.mark.parametrize(
    ("run", "want"),
    [
        (lambda h, z: lt.div(h, z, rounding_mode="floor"), [0, 1]),
        (lambda h, z: lt.add(h, z, alpha=2), [5, 6]),
        (lambda h, z: lt.rsub(h, z), [1, 0]),
        (lambda h, z: lt.rsub(z, h), [-1, 0]),
        (lambda h, z: lt.dist(h, z), 1),
    ],
)
def test_a_number_in_a_tensor_does_not_widen_the_result(run, want, half):
    y = run(t([1.0, 2.0], dtype=half), t(2.0))
    assert y.dtype == half and y.tolist() == want
    wide = run(t([1.0, 2.0], dtype=half), t([2.0, 2.0]))
    assert wide.dtype == lt.float32


@pytest.mark.parametrize("engine", ["simd", "llvm", "nodes"])
def test_a_complex_number_is_true_by_either_part(engine, flag):
    flag("engine", engine)
    z = t([0, 1, 1j, 2 + 1j])
    want = [False, True, True, True]
    for f in (lambda z: z.bool(), lambda z: z.to(lt.bool)):
        assert f(z).tolist() == lt.trace(f)(z).tolist() == want
    assert t([1j]).sum(dtype=lt.bool).item() and t([1j, 2j]).prod(dtype=lt.bool).item()
    assert lt.full((1,), 1j, dtype=lt.bool).tolist() == [True]


def test_what_has_no_elements_has_a_say_in_the_dtype():
    for shape in ((0,), (0, 2)):
        y = lt.cat([lt.empty(*shape), t([[1, 2]])])
        assert y.dtype == lt.float32 and y.tolist() == [[1, 2]]
    assert lt.cat([lt.empty(0, dtype=lt.int64), t([[1, 2]])]).dtype == lt.int64
