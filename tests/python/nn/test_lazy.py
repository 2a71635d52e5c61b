"""Lazy modules: what they are before their first call, and that they become the ordinary ones."""

import copy
import inspect
import pickle

import pytest

import lathe as lt
from lathe import nn

# name, arguments, shape of an input, its width
CASES = [
    ("Linear", (3,), (2, 5), 5),
    ("Conv1d", (4, 3), (2, 6, 9), 6),
    ("Conv1d", (4, 3), (6, 9), 6),
    ("Conv2d", (4, (3, 2), 2, 1, 1, 2), (2, 6, 9, 9), 6),
    ("Conv3d", (4, 2), (2, 3, 4, 4, 4), 3),
    ("ConvTranspose1d", (4, 3), (2, 6, 9), 6),
    ("ConvTranspose2d", (4, 3, 2, 1, 1, 2), (2, 6, 5, 5), 6),
    ("ConvTranspose3d", (4, 2), (3, 4, 4, 4), 3),
    ("BatchNorm1d", (), (3, 5), 5),
    ("BatchNorm2d", (1e-3, 0.2), (3, 5, 2, 2), 5),
    ("BatchNorm3d", (), (3, 5, 2, 2, 2), 5),
    ("InstanceNorm1d", (1e-3, 0.2, True, True), (3, 5, 4), 5),
    ("InstanceNorm2d", (1e-3, 0.2, True, True), (5, 4, 4), 5),
    ("InstanceNorm3d", (1e-3, 0.2, True, True), (3, 5, 2, 2, 2), 5),
]
each = pytest.mark.parametrize(("name", "settings", "shape", "width"), CASES)


def pair(name, settings, width):
    """The lazy module and the ordinary one."""
    return getattr(nn, f"Lazy{name}")(*settings), getattr(nn, name)(width, *settings)


def same_state(a, b):
    a, b = a.state_dict(), b.state_dict()
    return list(a) == list(b) and all(lt.equal(a[n], b[n]) for n in a)


@each
def test_the_first_call_makes_it_the_ordinary_module(name, settings, shape, width):
    lazy, _ = pair(name, settings, width)
    assert lazy.has_uninitialized_params() and repr(lazy).startswith(f"Lazy{name}(")
    x = lt.randn(shape)
    lt.manual_seed(3)
    y = lazy(x)
    lt.manual_seed(3)
    ordinary = getattr(nn, name)(width, *settings)
    assert lt.equal(y, ordinary(x)) and same_state(lazy, ordinary)
    assert type(lazy) is type(ordinary) and repr(lazy) == repr(ordinary)
    assert all(type(p) is nn.Parameter for p in lazy.parameters())
    lazy(x).sum().backward()
    assert lazy.weight.grad is not None


@each
def test_a_state_dict_fills_it(name, settings, shape, width):
    lazy, ordinary = pair(name, settings, width)
    lazy.load_state_dict(ordinary.state_dict())
    assert not lazy.has_uninitialized_params()
    x = lt.randn(shape)
    assert lt.equal(lazy.eval()(x), ordinary.eval()(x)) and repr(lazy) == repr(ordinary)


@each
def test_copies_are_lazy_too(name, settings, shape, width):
    lazy, _ = pair(name, settings, width)
    other, _ = pair(name, settings, width)
    other.load_state_dict(lazy.state_dict())
    for made in (copy.deepcopy(lazy), pickle.loads(pickle.dumps(lazy)), other):
        assert made.has_uninitialized_params()
        assert made(lt.randn(shape)).isfinite().all() and type(made) is getattr(nn, name)
    assert lazy.has_uninitialized_params()


@each
def test_its_signature_is_the_ordinary_one_without_the_width(name, settings, shape, width):
    lazy, ordinary = getattr(nn, f"Lazy{name}"), getattr(nn, name)
    names = list(inspect.signature(ordinary).parameters)
    assert list(inspect.signature(lazy).parameters) == names[1:]
    with pytest.raises(lt.TypeError, match=f"^Lazy{name}: ") as caught:
        lazy(no_such_argument=1)
    assert names[0] not in caught.value.expected and lazy.__doc__.startswith(name)


def test_dtypes_are_kept():
    lazy = nn.LazyConv2d(2, 1, dtype=lt.float64)
    assert lazy(lt.ones(1, 3, 2, 2, dtype=lt.float64)).dtype == lt.float64
    moved = nn.LazyBatchNorm1d().double()
    assert moved(lt.ones(4, 3, dtype=lt.float64)).dtype == lt.float64
    assert moved.running_mean.dtype == lt.float64


def test_a_network_of_them():
    net = nn.Sequential(nn.LazyConv2d(3, 2), nn.LazyBatchNorm2d(), nn.Flatten(), nn.LazyLinear(2))
    assert net(lt.ones(4, 5, 3, 3)).shape == (4, 2)
    assert not any(isinstance(m, nn.LazyModuleMixin) for m in net.modules())


def test_no_shape_before_the_first_call():
    lazy = nn.LazyLinear(2)
    assert repr(lazy.weight) == "<UninitializedParameter>" and nn.parameter.is_lazy(lazy.weight)
    with pytest.raises(lt.ShapeError, match="not known yet"):
        _ = lazy.weight.shape
    with pytest.raises(nn.StateDictError, match="without a shape"):
        nn.Linear(2, 2).load_state_dict(lazy.state_dict())
    with pytest.raises(lt.ShapeError, match="^LazyConv2d: "):
        nn.LazyConv2d(2, 1)(lt.ones(3, 3))
    with pytest.raises(lt.ValueError, match="^LazyConv2d: groups"):
        nn.LazyConv2d(4, 1, groups=2)(lt.ones(3, 3, 3))


def test_a_lazy_module_of_ones_own():
    class Scale(nn.LazyModuleMixin, nn.Module):
        def __init__(self):
            super().__init__()
            self.by = nn.UninitializedParameter()
            self.seen = nn.UninitializedBuffer(persistent=False)

        def initialize_parameters(self, x):
            if self.has_uninitialized_params():
                self.by.materialize((x.shape[-1],))
                self.seen.materialize((1,))

        def forward(self, x):
            return x * (self.by + 1)

    scale = Scale()
    assert scale(lt.ones(2, 3)).tolist() == [[1, 1, 1]] * 2
    assert type(scale.by) is nn.Parameter and type(scale.seen) is nn.Buffer
    assert list(scale.state_dict()) == ["by"]

    class Forgetful(Scale):
        def initialize_parameters(self, x):
            pass

    with pytest.raises(lt.ValueError, match="no shape yet"):
        Forgetful()(lt.ones(1))


def test_buffers_are_set_as_attributes():
    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.count = nn.Buffer(lt.zeros(2))
            self.passing = nn.Buffer(lt.ones(1), persistent=False)
            self.plain = lt.ones(1)

    m = Counter()
    assert [n for n, _ in m.named_buffers()] == ["count", "passing"]
    assert list(m.state_dict()) == ["count"] and not list(m.parameters())
    m.count = m.count + 1  # a plain tensor, which is the buffer from now on
    m.load_state_dict({"count": lt.tensor([5.0, 6.0])})
    assert m.count.tolist() == [5, 6] and m.get_buffer("count") is m.count
    again = copy.deepcopy(m)
    assert [n for n, _ in again.named_buffers()] == ["count", "passing"]


@pytest.mark.parametrize("capture", [lt.trace, lt.script])
def test_a_captured_model_is_completed_by_its_first_call(capture):
    model = nn.Sequential(nn.LazyLinear(4), nn.ReLU(), nn.LazyLinear(2))
    captured, x = capture(model), lt.randn(3, 5)
    first = captured(x)
    assert [type(m) for m in model] == [nn.Linear, nn.ReLU, nn.Linear]
    for result in (first, captured(x), model(x)):
        assert result.detach().numpy().tobytes() == first.detach().numpy().tobytes()
    assert captured.counts["traces"] == 1
    assert "a parameter or buffer is made that stays" in captured.explain(verbose=True)


def test_a_model_is_completed_before_it_is_frozen():
    model = nn.Sequential(nn.LazyLinear(4))
    with pytest.raises(lt.TraceError, match="gets its shape from the first call") as problem:
        lt.freeze(model, lt.randn(3, 5))
    assert "call it once, then capture it" in str(problem.value)
    assert isinstance(model[0], nn.LazyLinear)
