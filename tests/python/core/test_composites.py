"""Composites that eager code runs as one program give what their expansions give, byte for byte."""

import threading

import numpy as np
import pytest
from samples import SAMPLES, tensors

import lathe as lt
from lathe import _lathe

F = lt.nn.functional


@pytest.fixture(autouse=True)
def flags():
    before = {name: lt.get_flag(name) for name in ("fuse_after", "engine")}
    lt.set_flag("fuse_after", 0)
    yield
    for name, value in before.items():
        lt.set_flag(name, value)


def text(op):
    """What is said of the op's programs."""
    return [line for line in _lathe._composites().splitlines() if line.startswith(op + "(")]


def leaves(value):
    if isinstance(value, lt.Tensor):
        return [value]
    return [t for v in value for t in leaves(v)] if isinstance(value, (list, tuple)) else []


def floating(t):
    return t.dtype in (lt.float32, lt.float64)


def content(t):
    """Bytes; all NaNs are one."""
    array = np.array(t.detach().numpy())
    if array.dtype.kind == "f":
        array[np.isnan(array)] = np.nan
    return array.tobytes()


def outcome(f, args, kwargs, gradients):
    """Results and gradients as bytes with their layout, or the error's text, and the operands."""
    inputs = [t.detach().clone() for a in (*args, *kwargs.values()) for t in leaves(a)]
    given = iter(inputs)

    def put(value):
        if isinstance(value, lt.Tensor):
            return next(given)
        return [put(v) for v in value] if isinstance(value, list) and leaves(value) else value

    args, kwargs = [put(a) for a in args], {k: put(v) for k, v in kwargs.items()}
    wanted = [t for t in inputs if gradients and floating(t)]
    for t in wanted:
        t.requires_grad_()
    try:
        results = leaves(f(*args, **kwargs))
        seen = [(t.dtype, t.shape, t.stride(), content(t)) for t in results]
        live = [t for t in results if t.requires_grad]
        if live and wanted:
            by = [lt.full_like(t.detach(), 0.3 + k) for k, t in enumerate(live)]
            for t in lt.autograd.grad(live, wanted, by, allow_unused=True):
                seen.append(None if t is None else content(t))
    except (lt.Error, NotImplementedError) as e:
        seen = [str(e)]
    return seen + [(content(t), t._version) for t in inputs]  # some of which are written to


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_samples(sample):
    lt.set_flag("engine", "simd")  # the planner is what differs; that engines agree others show
    f = getattr(lt.ops, sample.op)
    args, kwargs = tensors(sample)
    for gradients in (False, True) if sample.smooth else (False,):
        state = lt.get_rng_state()
        lt.set_flag("fuse_after", -1)
        expected = outcome(f, args, kwargs, gradients)
        lt.set_flag("fuse_after", 0)
        for _ in range(2):
            lt.set_rng_state(state)
            assert outcome(f, args, kwargs, gradients) == expected


NORMS = {
    "softmax": lambda x, w: F.softmax(x, -1),
    "log_softmax": lambda x, w: F.log_softmax(x, -1),
    "layer_norm": lambda x, w: F.layer_norm(x, (w.numel(),), w, w),
    "rms_norm": lambda x, w: F.rms_norm(x, (w.numel(),), w),
    "smooth_l1_loss": lambda x, w: F.smooth_l1_loss(x, w.expand(x.shape).contiguous()),
    "var": lambda x, w: x.var(-1),
}


@pytest.mark.parametrize("name", NORMS)
@pytest.mark.parametrize("shape", [(3, 5), (1, 1), (40, 700), (0, 4), (2, 3, 17)])
def test_generated_code_gives_the_same(name, shape):
    rng = np.random.default_rng(5)
    x = lt.tensor(rng.standard_normal(shape).astype("float32"))
    w = lt.tensor(rng.standard_normal(shape[-1:]).astype("float32"))
    got = {}
    for after in (-1, 0):
        lt.set_flag("fuse_after", after)
        got[after] = outcome(NORMS[name], [x, w], {}, True)
    assert got[0] == got[-1]
    assert text(name)


def test_what_is_one_kernel():
    x = lt.randn(8, 9)
    for f in (F.softmax, F.log_softmax):
        f(x, -1)
        assert text(f.__name__)[0].split("): ")[1].startswith("1 for ")


def test_a_kind_of_call_is_counted_first():
    lt.set_flag("fuse_after", 3)
    x = lt.randn(2, 2, 3, 1, 2)
    for calls in range(5):
        assert bool([t for t in text("softmax") if "f32[s0, s1, s2, s3, s4]" in t]) == (calls > 3)
        F.softmax(x, 1)


def test_never():
    lt.set_flag("fuse_after", -1)
    before = text("softmin")
    F.softmin(lt.randn(3, 3), 1)
    assert text("softmin") == before


def test_other_layouts_keep_theirs():
    x = lt.randn(6, 5).t()
    strides = F.gelu(x).stride(), F.softmax(x, -1).stride()
    lt.set_flag("fuse_after", -1)
    assert strides == (F.gelu(x).stride(), F.softmax(x, -1).stride())


def test_an_error_is_the_expansions():
    x = lt.randn(4, 6)
    F.layer_norm(x, (6,))
    said = {}
    for after in (-1, 0):
        lt.set_flag("fuse_after", after)
        with pytest.raises(lt.Error) as caught:
            F.layer_norm(x, (5,))
        said[after] = str(caught.value)
    assert said[0] == said[-1]


def test_a_rule_of_the_user_is_for_what_they_capture():
    rule = lt.rewrite("exp(x)", "sub(x, x)", exact=False)
    x = lt.randn(7, 3, 2, 1, 4)
    program = F.softmax(x, -1)
    rule.remove()
    lt.set_flag("fuse_after", -1)
    assert program.numpy().tobytes() == F.softmax(x, -1).numpy().tobytes()


def test_second_order():
    def second(x):
        (g,) = lt.autograd.grad(F.softmax(x, -1).square().sum(), x, create_graph=True)
        return lt.autograd.grad(g.square().sum(), x)[0].numpy().tobytes()

    x = lt.randn(4, 6).requires_grad_()
    one = second(x)
    lt.set_flag("fuse_after", -1)
    assert second(x) == one


def test_many_threads():
    x = [lt.randn(5, 4 + k) for k in range(8)]
    lt.set_flag("fuse_after", -1)
    expected = [F.log_softmax(t, -1).numpy().tobytes() for t in x]
    lt.set_flag("fuse_after", 0)
    wrong = []

    def run(k):
        for _ in range(50):
            if F.log_softmax(x[k], -1).numpy().tobytes() != expected[k]:
                wrong.append(k)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def normalised(training, steps=4, shared=False, shape=(4, 6, 5, 7), dtype=lt.float32):
    """What some steps of batch_norm give and leave behind."""
    x = (lt.arange(np.prod(shape), dtype=lt.float32).sin().reshape(*shape) * 3 + 1).to(dtype)
    x.requires_grad_()
    mean = lt.zeros(shape[1])
    var = mean if shared else lt.ones(shape[1])
    weight = lt.linspace(0.5, 2, shape[1]).requires_grad_()
    bias = lt.linspace(-1, 1, shape[1]).requires_grad_()
    seen = []
    for step in range(steps):
        y = F.batch_norm(x * (step + 1), mean, var, weight, bias, training=training)
        y.backward(lt.full_like(y, 0.25 * step))
        seen += [content(t) for t in (y, mean, var, x.grad, weight.grad, bias.grad)]
        seen += [mean._version, var._version]
    return seen


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("shape", [(4, 6, 5, 7), (30, 6), (4, 6, 9)])
def test_running_statistics_move_as_in_the_expansion(training, shared, shape):
    programs = normalised(training, shared=shared, shape=shape)
    assert text("batch_norm")
    lt.set_flag("fuse_after", -1)
    assert programs == normalised(training, shared=shared, shape=shape)


def test_a_failing_batch_norm_leaves_its_statistics_alone():
    normalised(True)
    mean, var = lt.zeros(6), lt.ones(6)
    for x in (lt.ones(1, 6), lt.ones(4, 7, 2), lt.ones(6)):
        with pytest.raises((ValueError, lt.ShapeError)):
            F.batch_norm(x, mean, var, training=True)
    assert mean.tolist() == [0.0] * 6 and var.tolist() == [1.0] * 6


def test_a_derivative_by_the_cotangent_alone_knows_the_sizes():
    """It asks for sizes that the first backward did not read."""

    def products():
        x = (lt.arange(120, dtype=lt.float32).reshape(2, 3, 4, 5) / 50).requires_grad_()
        grid = (lt.arange(48, dtype=lt.float32).reshape(2, 3, 4, 2) / 25 - 0.9).requires_grad_()
        y = F.grid_sample(x, grid, align_corners=False)
        seed = lt.zeros_like(y).requires_grad_()
        first = lt.autograd.grad(y, (x, grid), seed, create_graph=True)
        by = [lt.full_like(g, 0.5) for g in first]
        (forward,) = lt.autograd.grad(first, (seed,), by)
        return content(forward)

    programs = products()
    lt.set_flag("fuse_after", -1)
    assert programs == products()
