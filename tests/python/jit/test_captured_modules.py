"""A captured module in the place of the module: its attributes are those of the module, outside of
captures and in them."""

import copy

import pytest

import lathe as lt
from lathe import nn

CAPTURES = {"trace": lt.trace, "script": lt.script}
X = lt.ones(1, 2)


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(2, 2)
        self.scale, self.kind = 1.0, "plain"

    def forward(self, x):
        y = self.inner(x) * self.scale
        return y if self.kind == "plain" else y + 1

    def scaled(self, x):
        return x * self.scale

    @property
    def twice(self):
        return self.scale * 2


@pytest.fixture(params=CAPTURES)
def capture(request):
    return CAPTURES[request.param]


@pytest.fixture(params=CAPTURES)
def inner_capture(request):
    return CAPTURES[request.param]


def same(a, b):
    return a.detach().numpy().tobytes() == b.detach().numpy().tobytes()


def test_what_is_written_is_the_modules(capture):
    module = Scaled()
    captured = capture(module)
    captured(X)
    captured.scale = 3.0
    assert module.scale == 3.0 and same(captured(X), module(X))
    captured.kind = "other"
    assert same(captured(X), module.inner(X) * 3 + 1)
    captured.inner = nn.Linear(2, 2, bias=False)
    assert len(list(module.parameters())) == 1 and same(captured(X), module(X))
    captured.forward = lambda x: x * 7
    assert captured(X).tolist() == [[7.0, 7.0]]
    del captured.scale
    assert not hasattr(module, "scale")
    assert "scaled" in dir(captured) and "explain" in dir(captured)


def test_an_attribute_of_a_captured_function_is_its_own(capture):
    def double(x):
        return x * 2

    captured = capture(double)
    captured.note = 1
    assert captured.note == 1 and not hasattr(double, "note")


def test_an_object_that_can_be_called(capture):
    class Scale:
        def __init__(self):
            self.by = 1

        def __call__(self, x):
            return x * self.by

    scale = Scale()
    captured = capture(scale)
    captured(X)
    captured.by = 5
    assert scale.by == 5 and captured(X).tolist() == [[5.0, 5.0]]
    outer = capture(lambda x: x * captured.by)
    for by in (5, 7, 9):
        scale.by = by
        assert outer(X).tolist() == [[float(by)] * 2]


def test_parts(capture):
    captured = capture(nn.Sequential(nn.Linear(2, 2), nn.ReLU()))
    assert len(captured) == 2 and captured and captured[0] is captured._function[0]
    assert [type(part) for part in captured] == [nn.Linear, nn.ReLU]
    captured[1] = nn.Tanh()
    assert same(captured(X), captured[0](X).tanh())
    del captured[1]
    assert same(captured(X), captured[0](X))
    assert "a" in capture(nn.ModuleDict({"a": nn.ReLU()})) and capture(Scaled())
    with pytest.raises(TypeError):
        len(capture(Scaled()))


def reads_attribute(model):
    return lambda x: x * model.scale


def reads_by_name(model):
    return lambda x: x * getattr(model, "scale")  # noqa: B009


def calls_method(model):
    return lambda x: model.scaled(x)


def reads_property(model):
    return lambda x: x * model.twice


def asks(model):
    return lambda x: x + 1 if model.kind == "plain" else x


def calls(model):
    return lambda x: model(x)


def reads_part(model):
    return lambda x: x * model.inner.weight.sum()


def goes_through_parameters(model):
    return lambda x: x * sum(p.sum() for p in model.parameters())


def switches(model):
    def step(x):
        model.train(not model.training)
        return x + 1 if model.training else x

    return step


def writes(model):
    def step(x):
        model.scale = model.scale + 1
        return model.scaled(x)

    return step


def writes_by_name(model):
    def step(x):
        setattr(model, "scale", model.scale * 2)  # noqa: B010
        return model.scaled(x)

    return step


STEPS = [
    reads_attribute, reads_by_name, calls_method, reads_property, asks, calls, reads_part,
    goes_through_parameters, switches, writes, writes_by_name,
]  # fmt: skip


@pytest.mark.parametrize("make", STEPS)
def test_inside_of_another_capture(capture, inner_capture, make):
    module = Scaled()
    other = copy.deepcopy(module)
    eager, captured = make(other), capture(make(inner_capture(module)))
    for call in range(4):
        for m in (module, other):
            if call == 1:
                m.scale, m.kind = 5.0, "other"
            if call == 2:
                lt.manual_seed(0)
                m.inner = nn.Linear(2, 2)
        assert same(captured(X), eager(X))
        assert (module.scale, module.training) == (other.scale, other.training)


def test_parts_inside_of_another_capture(capture, inner_capture):
    layers = inner_capture(nn.ModuleDict({"a": nn.Linear(2, 2), "b": nn.Tanh()}))

    def step(x):
        for name in layers:
            x = layers[name](x) if name in layers else x
        return x

    captured = capture(step)
    for _ in range(2):
        assert same(captured(X), layers["b"](layers["a"](X)))
        layers["a"] = nn.Linear(2, 2)
