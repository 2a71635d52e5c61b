"""lathe.debug: the first node of a program that does not give what eager code gives."""

import pytest

import lathe as lt


@pytest.fixture(autouse=True)
def no_rules_left():
    yield
    for rule in lt.rewrites():
        rule.remove()


def layer(x, w):
    h = (x @ w).relu()
    y = h.exp() * 2
    return (y - 1).sum(dim=1)


def line_of(text):
    return next(n for n, line in enumerate(open(__file__), 1) if line.strip() == text)


def arguments():
    return lt.randn(4, 3), lt.randn(3, 5)


def test_all_agree():
    found = lt.debug(lt.trace(layer), *arguments())
    assert found.agrees and found.values == found.compared == 6
    assert str(found).startswith("all 6 values agree")


def test_a_wrong_rule_is_found():
    rule = lt.rewrite("mul(exp(x), c)", "exp(mul(x, c))")
    found = lt.debug(lt.trace(layer), *arguments())
    assert not found.agrees
    assert (found.op, found.at) == ("mul", f"{__file__}:{line_of('y = h.exp() * 2')}")
    assert "mul(exp(x), c) -> exp(mul(x, c))" in found.cause and rule.at in found.cause
    assert found.ulps > 1000 and found.got != found.expected
    text = str(found)
    for part in ("first node that differs", "got:", "expected:", "units in the last place", "at:"):
        assert part in text


def test_a_rule_that_is_wrong_by_a_unit_in_the_last_place():
    lt.rewrite("div(x, 3.0)", "mul(x, 0.3333333333333333)")
    found = lt.debug(lt.trace(lambda x: x / 3.0), lt.arange(1, 50).float())
    assert found.op == "div" and found.ulps == 1 and "div(x, 3.0)" in found.cause
    assert found.index == (4,) or 0 < found.differing < 49


def test_a_rule_over_two_nodes_is_found_at_the_second():
    lt.rewrite("sub(mul(x, 2), 1)", "mul(x, 3)")
    found = lt.debug(lt.trace(layer), *arguments())
    assert found.op == "sub" and "sub(mul(x, 2), 1)" in found.cause


def test_what_was_captured_before_is_compared_by_its_own_rules():
    f = lt.trace(layer)
    x, w = arguments()
    f(x, w)
    lt.rewrite("relu(x)", "neg(x)")
    assert lt.debug(f, x, w).agrees
    assert lt.debug(lt.trace(layer), x, w).op == "relu"


def test_writes_and_random_numbers_are_those_of_one_eager_call():
    def step(x, w):
        x += lt.rand(3)
        w.mul_(2)
        return x * w

    x, w = lt.ones(3), lt.ones(3)
    lt.manual_seed(5)
    want = step(x.clone(), w.clone())
    lt.manual_seed(5)
    found = lt.debug(lt.trace(step), x, w)
    assert found.agrees
    assert (x * w).tolist() == want.tolist() and w.tolist() == [2.0] * 3
    after = lt.rand(2).tolist()
    lt.manual_seed(5)
    lt.rand(3)
    assert lt.rand(2).tolist() == after


def test_a_write_that_a_rule_makes_wrong():
    lt.rewrite("mul(x, 2)", "mul(x, 3)")

    def step(w):
        w.mul_(2)

    found = lt.debug(lt.trace(step), lt.ones(3))
    assert (found.op, found.got, found.expected) == ("mul", 3.0, 2.0)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "complex64", "int64", "bool"])
def test_other_dtypes(dtype):
    dtype = getattr(lt, dtype)
    x = lt.tensor([1, 0, 1]).to(dtype)
    lt.rewrite("where(c, x, y)", "y")
    found = lt.debug(lt.trace(lambda x: lt.where(x == x, x, lt.zeros_like(x))), x)
    assert found.op == "where" and found.index == (0,) and found.differing == 2
    assert (found.ulps is None) == (dtype in (lt.int64, lt.bool))


def test_gradients_asked_for_outside():
    x = lt.randn(4, 3, requires_grad=True)
    w = lt.randn(3, 5, requires_grad=True)
    assert lt.debug(lt.trace(layer), x, w).agrees
    lt.rewrite("relu(x)", "abs(x)")
    assert lt.debug(lt.trace(layer), x, w).op == "relu"


def test_a_script_with_a_loop_that_data_decides():
    @lt.script
    def walk(x):
        while x.sum() < 20:
            x = x * 2
        return x + 1

    assert lt.debug(walk, lt.ones(3)).agrees
    lt.rewrite("mul(x, 2)", "mul(x, 4)")
    found = lt.debug(lt.script(walk.__wrapped__), lt.ones(3))
    assert found.op == "while" and "mul(x, 2)" in found.cause


def test_a_model():
    model = lt.nn.Sequential(lt.nn.Linear(3, 4), lt.nn.ReLU(), lt.nn.Linear(4, 2))
    assert lt.debug(lt.trace(model), lt.randn(5, 3)).agrees


def test_what_is_not_captured_is_refused():
    with pytest.raises(lt.TypeError, match="only a captured function"):
        lt.debug(layer, *arguments())


def test_an_error_of_the_function_is_raised():
    def wrong(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        lt.debug(lt.trace(wrong), lt.ones(3))
