"""A product that is read turned is computed the other way round: the same bits, row by row."""

import random
import subprocess
import sys

from compare import same

import lathe as lt


def weight_gradient(x, g):
    return (x.t() @ g).t().contiguous()


def exchanged(f, x, g):
    """Whether the program multiplies the turned cotangent by the input."""
    f(x, g)
    return "permute_of_product 1" in f.explain(verbose=True)


def test_random_sizes_and_dtypes():
    choose = random.Random(0)
    for dtype in (lt.float32, lt.float64, lt.float16, lt.int64):
        f = lt.trace(weight_gradient)
        for _ in range(12):
            rows, inner, outer = (choose.choice([1, 2, 5, 16, 33, 130]) for _ in "abc")
            x, g = ((lt.randn(rows, n) * 3).to(dtype) for n in (inner, outer))
            assert same(f(x, g), weight_gradient(x, g)), (dtype, rows, inner, outer)


def test_not_of_complex_numbers():
    x, g = (lt.complex(lt.randn(40, n), lt.randn(40, n)) for n in (7, 5))
    f = lt.trace(weight_gradient)
    assert not exchanged(f, x, g)
    assert same(lt.view_as_real(f(x, g)), lt.view_as_real(weight_gradient(x, g)))


def test_long_sums():
    x, g = lt.randn(1500, 20), lt.randn(1500, 30)
    f = lt.trace(weight_gradient)
    assert same(f(x, g), weight_gradient(x, g))
    assert exchanged(f, x, g)


def test_what_eager_code_runs_as_a_program():
    layer, x = lt.nn.Linear(7, 5), lt.randn(9, 7)
    gradients = []
    for _ in range(40):  # op by op at first
        layer.zero_grad()
        layer(x).square().sum().backward()
        gradients.append(layer.weight.grad.clone())
        assert layer.weight.grad.is_contiguous()
    assert all(same(g, gradients[0]) for g in gradients)


def test_a_product_that_is_read_as_it_is_stays():
    def both(x, g):
        y = x.t() @ g
        return y * 2, y.t() * 3

    f, x, g = lt.trace(both), lt.randn(9, 7), lt.randn(9, 5)
    assert not exchanged(f, x, g)
    assert all(map(same, f(x, g), both(x, g)))


def test_only_where_the_order_of_terms_is_defined(flag):
    x, g = lt.randn(40, 7), lt.randn(40, 5)
    assert exchanged(lt.trace(weight_gradient), x, g)
    flag("disabled", "own.gemm")
    f = lt.trace(weight_gradient)
    assert not exchanged(f, x, g)
    assert same(f(x, g), weight_gradient(x, g))


BY_A_TABLE = """
import lathe as lt

lt.use_table("mm f32 1..4096 eigen.gemm")  # before any op
f = lt.trace(lambda x, g: (x.t() @ g).t().contiguous())
for rows in (40, 41, 300):
    x, g = lt.randn(rows, 7), lt.randn(rows, 5)
    assert f(x, g).tolist() == (x.t() @ g).t().tolist(), rows
assert "permute_of_product 1" not in f.explain(verbose=True)
"""


def test_not_where_a_table_may_give_it_to_a_vendor():
    done = subprocess.run([sys.executable, "-c", BY_A_TABLE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
