"""lathe.autocast: which calls are cast, in eager code, traces, gradients and vmap."""

import warnings

import numpy as np
import pytest

import lathe as lt
from lathe import nn
from lathe.utils.checkpoint import checkpoint

F = nn.functional
BF16, F16, F32 = lt.bfloat16, lt.float16, lt.float32


def drawn(*shape, dtype=F32):
    return lt.tensor(np.random.default_rng(len(shape)).standard_normal(shape)).to(dtype)


x, w, image, kernel = drawn(4, 6), drawn(6, 3), drawn(2, 3, 8, 8), drawn(4, 3, 3, 3)
batch = drawn(2, 4, 4)
NARROW = {
    "matmul": lambda: x @ w,
    "mm": lambda: lt.mm(x, w),
    "bmm": lambda: lt.bmm(batch, batch),
    "addmm": lambda: lt.addmm(drawn(3), x, w),
    "linear": lambda: F.linear(x, w.T, drawn(3)),
    "conv2d": lambda: F.conv2d(image, kernel, drawn(4)),
    "conv2d same": lambda: F.conv2d(image, kernel, padding="same"),
    "conv_transpose2d": lambda: F.conv_transpose2d(image, kernel.transpose(0, 1)),
    "einsum": lambda: lt.einsum("ij,jk->ik", x, w),
    "tensordot": lambda: lt.tensordot(x, w, 1),
    "attention": lambda: F.scaled_dot_product_attention(batch, batch, batch),
    "multi_dot": lambda: lt.linalg.multi_dot([x, w, drawn(3, 2)]),
}
SAME = {
    "mv": lambda: lt.mv(x, drawn(6)),
    "add": lambda: x + 1,
    "exp": lambda: lt.exp(x),
    "softmax": lambda: lt.softmax(x, 0),
    "layer_norm": lambda: F.layer_norm(x, (6,)),
    "sum": lambda: x.sum(),
    "norm": lambda: lt.linalg.norm(x),
    "in place": lambda: drawn(4, 3).addmm_(x, w),
}
half = x.bfloat16()
square = (batch @ batch.mT + 4 * lt.eye(4)).bfloat16()
WIDE = {
    "mse_loss": lambda: F.mse_loss(half, half * 2),
    "mse_loss, old form": lambda: F.mse_loss(half, half * 2, size_average=True),
    "cross_entropy": lambda: F.cross_entropy(half, lt.tensor([0, 1, 2, 3])),
    "binary_cross_entropy": lambda: F.binary_cross_entropy(half.sigmoid(), half.sigmoid()),
    "smooth_l1_loss": lambda: F.smooth_l1_loss(half, half * 2),
    "prod": lambda: half.prod(),
    "cdist": lambda: lt.cdist(half, half),
    "inv": lambda: lt.linalg.inv(square),
    "solve": lambda: lt.linalg.solve(square, square),
    "eigvalsh": lambda: lt.linalg.eigvalsh(square),
}


@pytest.mark.parametrize("dtype", [BF16, F16])
@pytest.mark.parametrize("name", NARROW)
def test_products_are_in_the_dtype_of_the_scope(name, dtype):
    with lt.autocast("cpu", dtype=dtype):
        y = NARROW[name]()
    assert y.dtype is dtype
    np.testing.assert_allclose(y.double().numpy(), NARROW[name]().double().numpy(), 0.1, 0.2)


@pytest.mark.parametrize("name", SAME)
def test_the_rest_takes_its_operands_as_they_are(name):
    with lt.autocast("cpu"):
        y = SAME[name]()
    assert y.dtype is F32
    assert lt.equal(y, SAME[name]())


@pytest.mark.parametrize("name", WIDE)
def test_what_loses_digits_is_in_f32(name):
    with lt.autocast("cpu"):
        assert WIDE[name]().dtype is F32


def test_spectra_are_in_f32():
    with lt.autocast("cpu"):
        assert lt.fft.fft(half).dtype is lt.complex64


def test_joins_take_the_widest():
    with lt.autocast("cpu"):
        assert lt.cat([half, half]).dtype is BF16
        assert lt.cat([half, x]).dtype is F32
        assert lt.stack([half, x]).dtype is F32


def test_f64_and_integers_are_not_cast():
    ones = lt.ones(2, 2, dtype=lt.float64)
    with lt.autocast("cpu"):
        assert (ones @ ones).dtype is lt.float64
        assert (ones.long() @ ones.long()).dtype is lt.int64


def test_scopes_nest_and_end():
    assert not lt.is_autocast_enabled("cpu")
    with lt.autocast("cpu", dtype=BF16):
        assert lt.is_autocast_enabled("cpu") and lt.get_autocast_dtype("cpu") is BF16
        with lt.autocast("cpu", enabled=False):
            assert (x @ w).dtype is F32
        with lt.autocast("cpu", dtype=F16):
            assert (x @ w).dtype is F16
        assert (x @ w).dtype is BF16
        with pytest.raises(KeyError), lt.autocast("cpu", dtype=F16):
            raise KeyError
        assert (x @ w).dtype is BF16
    assert (x @ w).dtype is F32


def test_a_decorator():
    @lt.autocast("cpu")
    def product(a, b):
        return a @ b

    assert product(x, w).dtype is BF16 and (x @ w).dtype is F32


def test_gradients_are_those_of_the_casts():
    """In f32 at the leaves, of products that were made in bf16."""
    a, b = x.clone().requires_grad_(), w.clone().requires_grad_()
    with lt.autocast("cpu"):
        loss = F.mse_loss(a @ b, lt.zeros(4, 3))
    loss.backward()
    assert loss.dtype is a.grad.dtype is b.grad.dtype is F32
    c, d = x.clone().requires_grad_(), w.clone().requires_grad_()
    F.mse_loss((c.bfloat16() @ d.bfloat16()).float(), lt.zeros(4, 3)).backward()
    assert lt.equal(a.grad, c.grad) and lt.equal(b.grad, d.grad)
    # inside of the scope too: what backward() computes is not cast again
    e = x.clone().requires_grad_()
    with lt.autocast("cpu"):
        F.mse_loss(e @ w, lt.zeros(4, 3)).backward()
    assert lt.equal(a.grad, e.grad)


def test_a_trace_is_eager_in_bytes():
    model = nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 3))

    def step(x):
        with lt.autocast("cpu"):
            y = model(x)
            with lt.autocast("cpu", enabled=False):
                z = x @ w
        return y, z, F.mse_loss(y.float(), z)

    traced = lt.trace(step)
    for _ in range(2):
        with lt.no_grad():
            for a, b in zip(step(x), traced(x)):
                assert a.dtype is b.dtype and lt.equal(a, b)


def test_a_scope_around_a_trace_is_another_trace():
    traced = lt.trace(lambda a: a @ w)
    for _ in range(2):
        assert traced(x).dtype is F32
        with lt.autocast("cpu"):
            assert traced(x).dtype is BF16
        with lt.autocast("cpu", dtype=F16):
            assert traced(x).dtype is F16
    assert traced.counts["traces"] == 3


def test_a_traced_training_step():
    def trained(wrap):
        lt.manual_seed(0)
        model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 1))
        optimizer = lt.optim.SGD(model.parameters(), lr=0.1)

        def step(x, y):
            optimizer.zero_grad()
            with lt.autocast("cpu"):
                loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            return loss

        step = wrap(step)
        return [step(x, x.sum(1, keepdim=True)).item() for _ in range(5)]

    losses = trained(lambda f: f)
    assert losses == trained(lt.trace) and losses[-1] < losses[0]


def test_under_vmap():
    with lt.autocast("cpu"):
        y = lt.func.vmap(lambda a: a @ a)(batch)
        assert y.dtype is BF16 and lt.equal(y, batch @ batch)
        assert lt.func.vmap(lambda a: lt.mv(a, a[0]))(batch).dtype is F32


def test_a_device_that_is_not_there_warns():
    with pytest.warns(UserWarning, match="no device"), lt.autocast("cuda", dtype=F16):
        assert (x @ w).dtype is F32
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with lt.autocast("cuda", enabled=False):
            assert (x @ w).dtype is F32
    assert not lt.is_autocast_available("cuda") and lt.is_autocast_available("cpu")


def test_refused():
    with pytest.raises(ValueError, match="autocast: products are computed in f16 or bf16"):
        lt.autocast("cpu", dtype=lt.float64)
    with pytest.raises(TypeError, match="the kind of device is a text"):
        lt.autocast(lt.bfloat16)


def test_functions_of_the_program():
    class Cast(lt.autograd.Function):
        @staticmethod
        @lt.amp.custom_fwd(cast_inputs=F32)
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            assert not lt.is_autocast_enabled("cpu")
            return a @ b

        @staticmethod
        @lt.amp.custom_bwd
        def backward(ctx, dy):
            a, b = ctx.saved_tensors
            return dy @ b.T, a.T @ dy

    a = half.clone().requires_grad_()
    with lt.autocast("cpu"):
        y = Cast.apply(a, w)
        assert y.dtype is F32
        y.sum().backward()
    assert a.grad.dtype is BF16


def test_gradients_are_scaled_and_bad_steps_left_out():
    p = nn.Parameter(lt.ones(2))
    optimizer = lt.optim.SGD([p], lr=1.0)
    scaler = lt.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
    for k in range(2):
        optimizer.zero_grad()
        scaler.scale(p.sum()).backward()
        assert lt.equal(p.grad, lt.full((2,), 8.0))
        scaler.step(optimizer)
        scaler.update()
        assert p.tolist() == [-k, -k]
    assert scaler.get_scale() == 16.0  # two good steps in a row
    optimizer.zero_grad()
    scaler.scale((p * lt.tensor([1.0, np.inf])).sum()).backward()
    assert scaler.step(optimizer) is None and p.tolist() == [-1, -1]
    scaler.update()
    assert scaler.get_scale() == 8.0
    with pytest.raises(RuntimeError, match="there was no step"):
        scaler.update()
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="unscaled already"):
        scaler.unscale_(optimizer)
    again = lt.amp.GradScaler("cpu")
    again.load_state_dict(scaler.state_dict())
    assert again.state_dict() == scaler.state_dict()
    with pytest.raises(RuntimeError, match="switched off"):
        again.load_state_dict({})
    with pytest.raises(ValueError, match="backs off by less"):
        lt.amp.GradScaler("cpu", growth_factor=0.5)


def walk(kind, settings, capture):
    """All that there is after each of some steps, of which three overflow."""
    lt.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    optimizer = kind(model.parameters(), lr=0.01, **settings)
    scaler = lt.amp.GradScaler("cpu", 1000.0, 1.7, 0.3, growth_interval=2)

    def step(x):
        optimizer.zero_grad()
        loss = model(x).square().sum()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        return loss.detach()

    captured, seen = capture(step), []
    for i in range(10):
        loss = captured(lt.full((5, 3), np.inf if i in (0, 4, 5) else 1.0 + i))
        states = [[t.tolist() for t in s.values()] for s in optimizer.state.values()]
        weights = [p.tolist() for p in model.parameters()]
        seen.append(repr((loss.item(), weights, states, scaler.state_dict())))
    return seen


@pytest.mark.parametrize("kind, settings", [
    (lt.optim.SGD, {"momentum": 0.9}), (lt.optim.AdamW, {"amsgrad": True}), (lt.optim.ASGD, {}),
])  # fmt: skip
@pytest.mark.parametrize("capture", [lt.trace, lt.script])
def test_a_traced_scaler_leaves_out_what_eager_does(kind, settings, capture):
    assert walk(kind, settings, capture) == walk(kind, settings, lambda f: f)


def test_a_scale_of_pytorchs_digits():
    """By factors in f64, rounded to f32; it does not grow past what f32 holds."""
    p = nn.Parameter(lt.ones(1))
    optimizer = lt.optim.SGD([p], lr=0.0)
    scaler = lt.amp.GradScaler("cpu", 1000.1, 1.7, 0.3, growth_interval=1)
    seen = []
    for factor in (1.0, 1.0, np.inf, 1.0):
        optimizer.zero_grad()
        scaler.scale((p * factor).sum()).backward()
        scaler.step(optimizer), scaler.update()
        seen.append(scaler.get_scale())
    assert seen == [1700.169921875, 2890.288818359375, 867.086669921875, 1474.04736328125]
    scaler = lt.amp.GradScaler("cpu", 2.0**127, growth_interval=1)
    scaler.unscale_(optimizer), scaler.update()
    assert scaler.get_scale() == 2.0**127


def test_a_scaler_of_no_device_scales_nothing():
    with pytest.warns(UserWarning, match="nothing is scaled"):
        scaler = lt.amp.GradScaler()
    assert not scaler.is_enabled() and scaler.scale(x) is x and scaler.get_scale() == 1.0


@pytest.mark.parametrize("inside", [False, True])
def test_a_checkpoint_runs_again_in_the_mode_it_ran_in(inside):
    layers = nn.Sequential(nn.LayerNorm(4), nn.Linear(4, 4), nn.GELU(), nn.Linear(4, 4))

    def gradients(through, other_mode):
        layers.zero_grad()
        x = lt.ones(2, 4, requires_grad=True)
        with lt.autocast("cpu", dtype=lt.bfloat16, enabled=inside):
            loss = through(layers, x).float().sum()
        with lt.autocast("cpu", dtype=lt.bfloat16, enabled=inside is not other_mode):
            loss.backward()
            assert lt.is_autocast_enabled() is (inside is not other_mode)
        return [t.grad.numpy().tobytes() for t in (x, *layers.parameters())]

    for other_mode in (False, True):
        plain = gradients(lambda part, x: part(x), other_mode)
        assert gradients(checkpoint, other_mode) == plain
