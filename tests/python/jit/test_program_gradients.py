"""Gradients through programs that stand by themselves, frozen, captured and loaded: those of the
function that was captured, whatever required grad when it was."""

import pytest

import lathe as lt
from lathe import nn


def detached(x):
    return x.detach() * x


def detached_view(x):
    return x[1:].detach() * x[1:] + x[0].detach()


def without_gradients(x):
    with lt.no_grad():
        w = x * x
    return w * x


def all_without(x):
    with lt.no_grad():
        return x * 2 + 1


def written_without(x):
    v = x.clone()
    with lt.no_grad():
        v.mul_(3)
    return v * x


def part_written_without(x):
    v = x * 2
    with lt.no_grad():
        v[1:] = x[:-1]
    return v * x


def written_twice(x):
    v = x.sin()
    with lt.no_grad():
        v.add_(1)
    v = v * x
    with lt.no_grad():
        v.copy_(x)
    return v * x


def constant_written(x):
    v = lt.zeros(3)
    with lt.no_grad():
        v.copy_(x)
    return v * x


def written_in_rounds(x):
    def body(i, v):
        v = v * x
        with lt.no_grad():
            v.mul_(2)
        return v

    return lt.fori_loop(0, 70, body, x.sin() * 0.1)


FUNCTIONS = [
    detached,
    detached_view,
    without_gradients,
    all_without,
    written_without,
    part_written_without,
    written_twice,
    constant_written,
    written_in_rounds,
]


class Of(nn.Module):
    def __init__(self, f):
        super().__init__()
        self.f = f

    def forward(self, x):
        return self.f(x)


def captured(f, x, path):
    return lt.jit.capture(f, (x,))


def loaded(f, x, path):
    lt.save(f, path / "f.lathe", inputs=(x,))
    return lt.load(path / "f.lathe")


def loaded_without(f, x, path):
    with lt.no_grad():
        return loaded(f, x, path)


def frozen(f, x, path):
    return lt.freeze(Of(f), x)


def frozen_and_loaded(f, x, path):
    frozen(f, x, path).save(path / "f.lathe")
    return lt.load(path / "f.lathe")


WAYS = [captured, loaded, loaded_without, frozen, frozen_and_loaded]
EXAMPLES = {
    "plain": lambda: lt.ones(3),
    "requires_grad": lambda: lt.ones(3, requires_grad=True),
    "spec": lambda: lt.InputSpec((3,)),
}


def gradient(f):
    x = lt.tensor([0.5, 1.0, 0.25], requires_grad=True)
    y = f(x)
    if not y.requires_grad:
        return y.tolist(), None
    return y.tolist(), lt.autograd.grad(y.sum(), x)[0].tolist()


@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("example", EXAMPLES)
def test_a_program_has_the_gradients_of_its_function(f, way, example, tmp_path):
    assert gradient(way(f, EXAMPLES[example](), tmp_path)) == gradient(f)


def test_a_leaf_may_be_written_to_where_gradients_are_off():
    def step(w, g):
        w.sub_(g * 0.5)
        return w.sum()

    w = lt.ones(3, requires_grad=True)
    with lt.no_grad():
        program = lt.jit.capture(step, (w, lt.ones(3)))
        assert program(w, lt.ones(3)).item() == 1.5 and w.tolist() == [0.5] * 3


def test_a_leaf_is_not_written_to_with_gradients(tmp_path):
    def f(x):
        x.mul_(2)
        return x.sum()

    lt.save(f, tmp_path / "f.lathe", inputs=(lt.ones(3),))
    program, x = lt.load(tmp_path / "f.lathe"), lt.ones(3, requires_grad=True)
    for call in (f, program):
        with pytest.raises(lt.AutogradError, match="a leaf that requires grad cannot be written"):
            call(x)
        assert x.tolist() == [1] * 3 and x.is_leaf
    y = x * 1
    program(y).backward()
    assert y.tolist() == [2] * 3 and x.grad.tolist() == [2] * 3
    with lt.no_grad():
        assert program(x).item() == 6 and x.is_leaf


def test_a_write_without_gradients_costs_nothing_where_none_are_asked():
    program = lt.freeze(Of(written_without), lt.ones(3))
    assert "overwritten" in program.graph and "overwritten" not in program.optimised


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("made", [tuple, list])
def test_a_tuple_of_one_stays_one(way, made, tmp_path):
    x = lt.ones(3)
    y = way(lambda x: made([x * 2]), x, tmp_path)(x)
    assert type(y) is tuple and len(y) == 1 and y[0].tolist() == [2, 2, 2]
    assert way(lambda x: x * 2, x, tmp_path)(x).tolist() == [2, 2, 2]
    assert len(way(lambda x: (x * 2, x), x, tmp_path)(x)) == 2
