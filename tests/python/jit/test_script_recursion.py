"""Functions of scripts that call themselves where data decides: one program, whatever the depth."""

import pytest
from script_checks import check, f32, same

import lathe as lt
from lathe import nn


def n(k):
    return lt.tensor(k)


def doubled(x, k):
    if k <= 0:
        return x
    return doubled(x * 2, k - 1)


def test_the_depth_is_of_the_data():
    s = check(doubled, *[(f32(1, 2), n(k)) for k in (3, 0, 1, 7, 200)])
    assert s.counts["traces"] == 1 and s.graph.count("call @") == 2
    same(s(f32(1, 2, 3), n(4)), doubled(f32(1, 2, 3), n(4)))  # another size
    assert s.counts["traces"] == 1


def test_results_of_every_kind():
    def counted(x, k, steps=0):
        return (x, steps) if k < 1 else counted(x + 1, k - 1, steps + 1)

    def factorial(k):
        return 1 if k < 2 else k * factorial(k - 1)

    def perhaps(x, k):
        if k < 1:
            return None
        y = perhaps(x, k - 1)
        return x if y is None else y + 1

    def nested(state, k):
        h, kept = state
        if k < 1:
            return {"h": h, "kept": kept}
        return nested((h * 2, kept + h), k - 1)

    for f in (counted, nested, perhaps):
        first = (f32(1), f32(2)) if f is nested else f32(1, 2)
        assert check(f, *[(first, n(k)) for k in (2, 0, 5)]).counts["traces"] == 1
    check(lambda k: factorial(k.item()) * k, *[(n(k),) for k in (5, 0, 12)])


def test_several_calls_of_itself():
    def fibonacci(k):
        return k if k < 2 else fibonacci(k - 1) + fibonacci(k - 2)

    def ackermann(m, k):
        if m == 0:
            return k + 1
        if k == 0:
            return ackermann(m - 1, lt.tensor(1))
        return ackermann(m - 1, ackermann(m, k - 1))

    check(fibonacci, *[(n(k),) for k in range(9)])
    check(ackermann, (n(1), n(3)), (n(2), n(2)), (n(0), n(0)))


def test_by_way_of_another_function():
    def even(k):
        return lt.tensor(True) if k == 0 else odd(k - 1)

    def odd(k):
        return lt.tensor(False) if k == 0 else even(k - 1)

    check(even, *[(n(k),) for k in range(5)])


def test_sizes_that_differ_between_the_calls():
    def shorter(x):
        return x if x.sum() < 2 else shorter(x[1:])

    def longer(x, k):
        return x if k < 1 else lt.cat([x, longer(x + 1, k - 1)])

    check(shorter, (lt.ones(6),), (lt.ones(3),))
    assert check(longer, *[(f32(1, 2), n(k)) for k in (3, 0, 5)]).counts["traces"] == 1


def test_arguments_of_every_kind():
    def swapped(x, k, pair):
        return pair[0] + x if k < 1 else swapped(x, k - 1, [pair[1], pair[0] * 2])

    def starred(x, *rest, k, **more):
        return x + rest[0] if k < 1 else starred(x * 2, *rest, k=k - 1, **more)

    def scaled(x, k, a):
        return x * a if k < 1 else scaled(x, k - 1, a * 0.5)

    def sized(x, k, n):
        return lt.zeros(n) + x.sum() + n if k < 1 else sized(x * 2, k - 1, n)

    def longer(x, k, n):
        return x.sum() + n if k < 1 else longer(x * 2, k - 1, n + 1)

    table, ones = lt.randn(300, 3), lt.ones(3)

    def looked_up(x, k, w=ones):
        return x * w + table[k] if k < 1 else looked_up((table @ x)[:3], k - 1)

    calls = [(f32(1, 2, 3), n(k)) for k in (3, 0, 4)]
    check(lambda x, k: swapped(x, k, [x, x + 1]), *calls)
    check(lambda x, k: starred(x, 3.0, k=k, z=1), *calls)
    check(lambda x, k: scaled(x, k, 2.0), *calls)
    check(lambda x, k: sized(x, k, x.shape[0]), *calls, (f32(1, 2), n(1)))
    check(lambda x, k: longer(x, k, x.shape[0]), *calls, (f32(1, 2), n(1)))
    check(looked_up, *calls)


def test_texts_that_differ(capsys):
    def f(x, k, word):
        if k < 1:
            print("ends with", word)
            return x
        return f(x + 1, k - 1, "even" if word == "odd" else "odd")

    scripted = lt.script(f)
    for k in (3, 4):
        same(scripted(f32(1), n(k), "odd"), f(f32(1), n(k), "odd"))
        mine, theirs = capsys.readouterr().out.splitlines()
        assert mine == theirs


def test_functions_inside_and_lambdas():
    def f(x, k):
        def down(i):
            return x if i < 1 else down(i - 1) * 2 + k

        up = lambda i: x if i > 4 else up(i + 1) - 1  # noqa: E731
        return down(k), up(k)

    assert check(f, *[(f32(1, 2), n(k)) for k in (3, 0, 6)]).counts["traces"] == 1


def test_in_loops_and_branches():
    def f(x, k):
        total = x * 0
        while k > 0:
            total = total + (doubled(x, k) if k != 2 else x)
            k = k - 1
        return total

    assert check(f, *[(f32(1, 2), n(k)) for k in (3, 0, 4)]).counts["traces"] == 1


class Tree(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(2, 2)

    def forward(self, x, k):
        if k < 1:
            return x
        return self.mix(self(x, k - 1)).tanh() + x


def gradients(model, call):
    model.zero_grad()
    call(f32(1, 2), n(4)).sum().backward()
    return [p.grad.clone() for p in model.parameters()]


def test_methods_and_gradients():
    model = Tree()
    scripted = lt.script(model)
    with lt.no_grad():
        for k in (0, 3, 5):
            same(scripted(f32(1, 2), n(k)), model(f32(1, 2), n(k)))
        assert scripted.counts["traces"] == 1
    same(gradients(model, scripted), gradients(model, model))
    assert "function that calls itself" in scripted.explain(
        verbose=True
    )  # node by node, and it says so


def test_a_gradient_inside_is_refused():
    def step(w, k):
        def product(x, i):
            return x if i < 1 else product(x * w, i - 1)

        product(w, k).sum().backward()
        return w.grad

    with pytest.raises(lt.TraceError, match="a function that is recorded as one.*") as caught:
        lt.script(step)(lt.ones(2, requires_grad=True), n(2))
    assert "outside of it" in str(caught.value)


def test_gradients_through_random_numbers():
    layer = nn.Linear(2, 2)

    def f(x, k):
        if k < 1:
            return x
        return nn.functional.dropout(layer(f(x, k - 1)) + f(x * 2, k - 2), 0.5)

    grads = []
    for call in (lt.script(f), f):
        lt.manual_seed(3)
        grads.append(gradients(layer, call))
    same(*grads)


def test_random_numbers_prints_and_exceptions(capsys):
    def noisy(x, k):
        if k < 0:
            raise ValueError("below zero")
        if k == 0:
            return x
        print("at", k)
        return noisy(x * lt.rand(2), k - 2)

    scripted, out = lt.script(noisy), []
    for f in (scripted, noisy):
        lt.manual_seed(5)
        out.append((f(f32(1, 2), n(4)), capsys.readouterr().out))
        with pytest.raises(ValueError, match="below zero"):
            f(f32(1, 2), n(3))
        capsys.readouterr()
    same(*out)
    assert scripted.counts["traces"] == 1


def test_python_decides_as_before():
    factors = [2.0, 3.0, 4.0]

    def f(x, k):
        if k == 0:
            return x
        if x.sum() > 100:
            return x
        return f(x * factors[k], k - 1)

    scripted = check(f, (f32(1, 2), 2), (f32(90, 2), 2))
    assert "call @" not in scripted.graph


def test_saved_and_inside_of_a_trace(tmp_path):
    lt.save(lt.script(doubled), tmp_path / "f.lathe", inputs=(f32(1, 2), n(1)))
    same(lt.load(tmp_path / "f.lathe")(f32(1, 2), n(5)), doubled(f32(1, 2), n(5)))
    traced = lt.trace(lambda x, k: lt.script(doubled)(x, k) + 1)
    same(traced(f32(1, 2), n(3)), doubled(f32(1, 2), n(3)) + 1)


# ── what is refused ─────────────────────────────────────────────────────────────────────────────


def no_end(x):
    return no_end(x + 1) if x.sum() > 0 else no_end(x - 1)


def goes_on(x):
    return goes_on(x.abs() + 1) if x.sum() > 0 else x


def test_without_an_end():
    with pytest.raises(lt.ScriptError, match=r"no_end\(\) calls itself on every path") as caught:
        lt.script(no_end)(f32(1))
    assert "test_script_recursion.py" in str(caught.value)
    scripted = lt.script(goes_on)
    with pytest.raises(lt.ValueError, match="the recursion is too deep") as caught:
        scripted(f32(1))
    assert "while loop" in str(caught.value)
    same(scripted(f32(-1)), f32(-1))
    with pytest.raises(lt.ValueError, match="the recursion is too deep"):
        scripted(f32(1).requires_grad_())  # node by node


def changes_its_callers_list(x, k, seen):
    if k < 1:
        seen[0] = seen[0] + 100
        return x
    own = [seen[0] * 2]
    return changes_its_callers_list(x, k - 1, own) + own[0]


def changes_a_list(x, k, seen):
    if k < 1:
        return x
    seen[0] = seen[0] + 1
    return changes_a_list(x * seen[0], k - 1, seen)


def writes(x, k):
    if k < 1:
        return x
    x.add_(1)
    return writes(x, k - 1)


def writes_its_result(x, k):
    if k < 1:
        return x
    y = writes_its_result(x, k - 1)
    y += 1
    return y


def other_dtype(x, k):
    return x if k < 1 else other_dtype(x.double(), k - 1)


def other_kind(x, k):
    return x if k < 1 else other_kind((x, 1), k - 1)


def other_mode(x, k):
    y = x
    if k > 0:
        with lt.no_grad():
            y = other_mode(x, k - 1)
    return y * x


def two(x, k):
    def inner(y, i):
        return outer(y, i - 1) if i > 3 else y if i < 1 else inner(y + 1, i - 1)

    def outer(y, i):
        return y if i < 1 else inner(outer(y, i - 1), i)

    return outer(x, k)


@pytest.mark.parametrize(
    ("f", "problem", "advice"),
    [
        (lambda x, k: changes_a_list(x, k, [f32(1)]), "a list is changed", "hand it on"),
        (lambda x, k: changes_its_callers_list(x, k, [x]), "a list is changed", "hand it on"),
        (writes, "writes to a tensor from outside", "clone"),
        (writes_its_result, "may share the memory of others", "clone"),
        (other_dtype, "changes its type where a function calls itself", "cast"),
        (other_kind, "'x' becomes another kind of thing in a function", "same kind"),
        (other_mode, "calls itself where gradients or autocast are switched", "switch them"),
        (two, "calls another one again", "write one of the two as a loop"),
    ],
)
def test_refused(f, problem, advice):
    with pytest.raises((lt.ScriptError, lt.TraceError), match=problem) as caught:
        lt.script(f)(f32(1, 2), n(2))
    assert advice in str(caught.value) and "test_script_recursion.py" in str(caught.value)


def test_a_result_that_is_its_own_may_be_written():
    def f(x, k):
        if k < 1:
            return x.clone()
        y = f(x, k - 1)
        y += 1
        return y

    check(f, (f32(1, 2), n(3)), (f32(1, 2), n(0)))


def test_an_end_that_asks_about_sizes():
    def sort(x):
        if x.numel() <= 1:
            return x
        pivot, rest = x[0], x[1:]
        return lt.cat([sort(rest[rest < pivot]), pivot.reshape(1), sort(rest[rest >= pivot])])

    scripted = lt.script(sort)
    for values in (
        (3.0, 1.0, 2.0),
        (5.0, 4.0, 3.0, 2.0, 1.0),
        (1.0, 1.0),
        (2.0,),
        (7.0, -1.0, 9.0),
    ):
        same(scripted(f32(*values)), sort(f32(*values)))
