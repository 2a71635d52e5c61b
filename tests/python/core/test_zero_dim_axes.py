"""An axis of a 0-d tensor is 0 or -1 for every op that works along an axis; those that go on to ask
for its size refuse it."""

import pytest

import lathe as lt

REDUCTIONS = ["sum", "mean", "prod", "amax", "amin", "logsumexp"]
SAME = [*REDUCTIONS, "cumsum", "cumprod"]


def scalar(**options):
    return lt.tensor(2.5, **options)


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("axis", [0, -1])
def test_values_and_gradients(name, axis):
    x = scalar(requires_grad=True)
    y = getattr(lt, name)(x, axis)
    assert y.shape == () and y.item() == 2.5
    (gradient,) = lt.autograd.grad([y], [x])
    assert gradient.shape == () and gradient.item() == 1.0


@pytest.mark.parametrize("axis", [0, -1])
def test_other_results(axis):
    x = scalar()
    assert lt.argmax(x, axis).item() == 0
    assert lt.softmax(x, axis).item() == 1.0
    assert lt.log_softmax(x, axis).item() == 0.0
    for values, indices in (
        lt.sort(x, axis),
        lt.max(x, axis),
        lt.min(x, axis),
        lt.topk(x, 1, axis),
    ):
        assert (values.item(), indices.item(), values.shape, indices.shape) == (2.5, 0, (), ())
    assert lt.squeeze(x, axis).shape == () == lt.transpose(x, axis, 0).shape
    assert lt.gather(x, axis, lt.tensor(0)).item() == 2.5
    assert lt.index_add(x, axis, lt.tensor([0]), lt.tensor([1.0])).item() == 3.5


@pytest.mark.parametrize("name", [*SAME, "argmax", "softmax", "sort", "max", "squeeze"])
@pytest.mark.parametrize("axis", [1, -2])
def test_other_axes_are_errors(name, axis):
    with pytest.raises(lt.IndexError, match="the axis is out of range"):
        getattr(lt, name)(scalar(), axis)


@pytest.mark.parametrize(
    "use",
    [
        lambda x: x.size(0),
        lambda x: x.stride(-1),
        lambda x: x[0],
        lambda x: lt.select(x, 0, 0),
        lambda x: lt.narrow(x, 0, 0, 1),
        lambda x: lt.cat([x, x], 0),
        lambda x: lt.unbind(x, 0),
        lambda x: lt.split(x, 1, 0),
        lambda x: lt.permute(x, (0,)),
        lambda x: lt.topk(x, 2, 0),
        lambda x: lt.topk(x, 0, 0),
    ],
)
def test_who_needs_its_size_refuses(use):
    with pytest.raises(lt.Error):
        use(scalar())


def test_a_trace_says_the_same():
    def f(x):
        return lt.sum(x, 0), lt.cumsum(x, -1), lt.sort(x, 0)[0], lt.softmax(x, 0), lt.max(x, -1)[0]

    assert [t.item() for t in lt.trace(f)(scalar())] == [t.item() for t in f(scalar())]
