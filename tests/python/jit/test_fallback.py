"""The flag fallback_is_error: what runs another way than asked for is an error, or is counted."""

import pytest

import lathe as lt


@pytest.fixture
def no_fallback():
    lt.set_flag("fallback_is_error", True)
    yield
    lt.set_flag("fallback_is_error", False)


def f(x):
    return (x * x).tanh() + x.sum()


def walk(x):
    while x.sum() < 9:
        x = x * (lt.rand(3) + 1)
    return x


def test_a_fallback_is_counted():
    """The derivative of a loop runs it again, and one that draws numbers draws others then."""
    scripted, x = lt.script(walk), lt.ones(3, requires_grad=True)
    found = []
    for call in (walk, scripted):
        lt.manual_seed(0)
        y = call(x)
        found.append((y.tolist(), lt.autograd.grad(y.sum(), x)[0].tolist()))
    assert found[0] == found[1]
    assert scripted.counts["node_by_node"] == 1
    assert "runs node by node under the tape: the derivative runs this part" in scripted.explain(
        verbose=True
    )


def test_a_fallback_is_an_error_under_the_flag(no_fallback):
    why = r"(?s)node by node: .*draws random numbers.*test_fallback.py.*next:"
    with pytest.raises(lt.UnsupportedError, match=why):
        lt.script(walk)(lt.ones(3, requires_grad=True))


REFUSED = r"(?s)(matmul|mm): only.*float32, float32 -> float32.*own.gemm: disabled.*next: "


def test_the_reference_is_an_error_under_the_flag(no_fallback, flag):
    x, y = lt.ones(3, 4), lt.ones(4, 2)
    product = lt.trace(lambda x, y: x @ y)
    flag("disabled", "own,onednn,openblas,eigen")
    for run in (lambda: x @ y, lambda: product(x, y)):
        with pytest.raises(lt.UnsupportedError, match=REFUSED):
            run()
    lt.set_flag("fallback_is_error", False)
    assert (x @ y).tolist() == product(x, y).tolist() == [[4.0, 4.0]] * 3


def test_what_is_no_fallback_runs_under_the_flag(no_fallback):
    traced = lt.trace(f)
    for n in (3, 0, 1):
        x = lt.randn(n)
        assert traced(x).numpy().tobytes() == f(x).numpy().tobytes()
    assert traced.counts["node_by_node"] == 0
