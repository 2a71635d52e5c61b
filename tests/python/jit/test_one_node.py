"""A traced call whose result needs a gradient is one node of the tape, with the bits of eager."""

import copy
import threading

import numpy as np
import pytest

import lathe as lt
from lathe import _lathe, nn
from lathe.nn import functional as F


def bits(t):
    return None if t is None else (str(t.dtype), tuple(t.shape), t.detach().numpy().tobytes())


def gradients(model, run, *inputs):
    """Bits of the results, of the inputs' and of the parameters' gradients."""
    inputs = [x.detach().clone().requires_grad_(x.is_floating_point()) for x in inputs]
    y = run(*inputs)
    y.sin().sum().backward()
    return [bits(y)] + [bits(t.grad) for t in [*inputs, *model.parameters()]]


def check(model, *inputs, rounds=2):
    """Eager and traced, each from a copy of the model; buffers too."""
    eager, other = copy.deepcopy(model), copy.deepcopy(model)
    traced = lt.trace(other)
    for i in range(rounds):
        for run in (eager, traced):
            lt.manual_seed(i)
            got = gradients(eager if run is eager else other, run, *inputs)
            if run is eager:
                want = got
        assert got == want
    assert [bits(b) for b in eager.buffers()] == [bits(b) for b in other.buffers()]
    assert traced.counts["node_by_node"] == 0
    assert traced.counts["traces"] <= 2  # one more once there are gradients to add to
    return traced


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(4, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)

    def forward(self, x):
        return F.relu(self.norm(self.conv(x)) + x)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(5, 7, batch_first=True)
        self.out = nn.Linear(7, 3)

    def forward(self, x):
        return self.out(self.lstm(x)[0][:, -1])


MODELS = {
    "mlp": lambda: (nn.Sequential(nn.Linear(6, 9), nn.ReLU(), nn.Linear(9, 4)), lt.randn(5, 6)),
    "gelu": lambda: (nn.Sequential(nn.Linear(6, 9), nn.GELU(), nn.Linear(9, 4)), lt.randn(5, 6)),
    "norm": lambda: (nn.Sequential(nn.Linear(6, 9), nn.LayerNorm(9), nn.Tanh()), lt.randn(5, 6)),
    "dropout": lambda: (nn.Sequential(nn.Linear(6, 9), nn.Dropout(0.4), nn.SiLU()), lt.randn(5, 6)),
    "cnn": lambda: (nn.Sequential(nn.Conv2d(2, 4, 3), Residual(), nn.MaxPool2d(2), nn.Flatten()),
                    lt.randn(2, 2, 8, 8)),
    "lstm": lambda: (Recurrent(), lt.randn(3, 6, 5)),
    "transformer": lambda: (nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True),
                            lt.randn(2, 5, 8)),
    "embedding": lambda: (nn.Sequential(nn.Embedding(10, 6), nn.Linear(6, 3)),
                          lt.tensor([[1, 2, 2], [9, 0, 1]])),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_gradients_are_eagers(name):
    lt.manual_seed(3)
    check(*MODELS[name]())


def test_other_sizes_take_the_same_program():
    model = nn.Sequential(nn.Linear(6, 9), nn.GELU(), nn.Linear(9, 4))
    traced = lt.trace(model)
    for rows in (5, 1, 8):
        x = lt.randn(rows, 6)
        got = gradients(model, traced, x)
        for p in model.parameters():
            p.grad = None
        assert got == gradients(model, model, x)
        for p in model.parameters():
            p.grad = None
    assert traced.counts["traces"] == 1 and traced.counts["node_by_node"] == 0


def test_sums_go_on_in_the_order_of_eager():
    """The weight is used before, in and after the call: three parts in f32 tell their order."""
    lt.manual_seed(0)
    w0, x = lt.randn(4, 4) * 3, lt.randn(4, 4)

    def inner(w, x):
        return (w @ x).tanh() + (w * 1.7).exp() * w

    def loss(call):
        w = w0.clone().requires_grad_()
        before, y = (w * 0.3).sin(), call(w, x)
        after = (w * w).cos() + call(w, y)
        (before + y + after).sum().backward()
        return bits(w.grad)

    assert loss(lt.trace(inner)) == loss(inner)


def test_one_name_in_the_history():
    def layer(x):
        return (x * x).tanh() + x.sum()

    y = lt.trace(layer)(lt.ones(3, requires_grad=True))
    assert "layer" in repr(y.grad_fn) and not y.is_leaf


def test_partial_gradients_and_results_that_are_not_used():
    def f(a, b):
        return a * b, (a + 1).exp(), b.detach() * 2

    a, b = (lt.randn(3, requires_grad=True) for _ in range(2))
    for call in (f, lt.trace(f)):
        p, q, r = call(a, b)
        assert not r.requires_grad
        only_q = lt.autograd.grad(q.sum(), [a, b], allow_unused=True)
        p, q, r = call(a, b)
        both = lt.autograd.grad((p * q).sum(), [a, b])
        found = [bits(g) for g in (*only_q, *both)]
        if call is f:
            want = found
    assert found == want and found[1] is None


def test_retained_and_released():
    traced = lt.trace(lambda x: (x.sin() @ x).sum())
    x = lt.randn(4, 4, requires_grad=True)
    y = traced(x)
    first = lt.autograd.grad(y, x, retain_graph=True)[0]
    assert bits(lt.autograd.grad(y, x)[0]) == bits(first)
    with pytest.raises(lt.AutogradError, match="retain_graph=True"):
        y.backward()


def test_second_order():
    def f(w, x):
        h = F.softplus(x @ w)
        return (h.tanh() * h).sum(1)

    w0, x0 = lt.randn(4, 5), lt.randn(3, 4)

    def run(call):
        w, x = (t.clone().requires_grad_() for t in (w0, x0))
        y = call(w, x)
        gx, gw = lt.autograd.grad(y.sum(), [x, w], create_graph=True)
        (gx.pow(2).sum() + gw.sin().sum() + y.sum()).backward()
        return [bits(t) for t in (y, gx, gw, w.grad, x.grad)]

    traced = lt.trace(f)
    assert run(traced) == run(f) == run(traced)
    assert traced.counts["node_by_node"] == 0


def test_third_order():
    def f(x):
        return (x.sin() * x.exp()).sum()

    def run(call):
        x = lt.tensor([0.3, -0.2, 1.1], requires_grad=True)
        y, found = call(x), []
        for _ in range(3):
            (y,) = lt.autograd.grad(y.sum(), x, create_graph=True)
            found.append(bits(y))
        return found

    assert run(lt.trace(f)) == run(f)


def test_hooks_see_what_eager_shows_them():
    def run(call):
        seen = []
        x = lt.tensor([0.5, 2.0], requires_grad=True)
        h = x * 3
        h.register_hook(lambda g: seen.append(bits(g)) or g * 2)
        y = call(h)
        y.register_hook(lambda g: seen.append(bits(g)))
        (y.sum() + (h * h).sum()).backward()
        return seen, bits(x.grad)

    def f(h):
        return h.exp() * h

    assert run(lt.trace(f)) == run(f)


def test_a_write_in_between_is_told():
    traced = lt.trace(lambda x, w: x * w)
    x, w = lt.ones(3, requires_grad=True), lt.ones(3)
    y = traced(x, w)
    w.add_(1)
    with pytest.raises(lt.AutogradError, match="written to since"):
        y.sum().backward()
    y = lt.trace(lambda x: x.exp())(x)
    y.mul_(2)
    with pytest.raises(lt.AutogradError, match="written to since"):
        y.sum().backward()


def test_writes_take_their_history_along():
    def f(h, x):
        h.mul_(x)
        h[0] = x[1] * 2
        return h.sum() + x.sum()

    def run(call):
        x = lt.tensor([0.5, 2.0, 3.0], requires_grad=True)
        h = x * 3
        y = call(h, x)
        (y + (h * h).sum()).backward()
        return bits(y), bits(h), bits(x.grad)

    traced = lt.trace(f)
    assert run(traced) == run(f)
    assert traced.counts["node_by_node"] == 0


def test_a_written_buffer_keeps_its_history():
    def f(state, x):
        state.copy_(state * 0.5 + x.tanh())
        return x.exp() + state.sum()

    def run(call):
        x, state = lt.tensor([0.5, 2.0], requires_grad=True), lt.zeros(2)
        y = call(state, x)
        (y.sum() + (state * state).sum()).backward()
        return bits(y), bits(state), bits(x.grad), state.requires_grad

    assert run(lt.trace(f)) == run(f)


def test_views_of_results_and_of_inputs():
    def f(x):
        h = x.relu() * x
        return h, h.reshape(-1), x.t(), h[0]

    def run(call):
        x = lt.tensor([[0.5, 2.0], [-1.0, 3.0]], requires_grad=True)
        h, flat, back, row = call(x)
        (h.sin().sum() + (flat * 0.3).sum() + (back * back).sum() + row.exp().sum()).backward()
        return bits(x.grad)

    assert run(lt.trace(f)) == run(f)


def test_a_loop_that_data_decides():
    x0, limit = lt.tensor([0.5, 1.0]), lt.tensor(60.0)

    def eager(x, limit):
        h = x * 2
        while h.sum() < limit:
            h = h * x.exp()
        if h.max() > 30:
            h = h.tanh()
        return h

    def run(call):
        x = x0.clone().requires_grad_()
        y = call(x, limit)
        y.sum().backward()
        return bits(y), bits(x.grad)

    scripted = lt.script(eager)
    assert run(scripted) == run(eager)
    assert scripted.counts["node_by_node"] == 0


def test_a_start_that_the_body_reads_too():
    """In the first round the carried value is the start, and what arrives by either way is one
    sum: three parts in f32 tell its order."""

    def f(x, limit):
        h, k = x, x
        while h.abs().sum() < limit:
            h = (h * 1.7 + x.sin()) * k.cos()
            k = k * 1.1 + x
        return h.exp() * x + k

    lt.manual_seed(2)
    scripted = lt.script(f)
    for limit in (3.0, 12.0, 40.0):
        x0 = lt.randn(6) * 0.3
        found = []
        for call in (f, scripted):
            x = x0.clone().requires_grad_()
            y = call(x, lt.tensor(limit))
            (y * 0.37).sum().backward()
            found.append((bits(y), bits(x.grad)))
        assert found[0] == found[1]
    assert scripted.counts["node_by_node"] == 0


def test_a_branch_keeps_the_history_of_what_it_writes():
    def f(x, flag):
        h = x * 2
        if flag > 0:
            h[0] = x[1].exp()
            y = h.sin()
        else:
            y = h.detach() + x
        return h * y

    scripted = lt.script(f)
    for flag in (1.0, -1.0):
        found = []
        for call in (f, scripted):
            x = lt.tensor([0.5, 1.5], requires_grad=True)
            y = call(x, lt.tensor(flag))
            y.sum().backward()
            found.append((bits(y), bits(x.grad)))
        assert found[0] == found[1]


def test_a_gradient_inside_through_a_branch():
    def step(w, x):
        y = w * x
        if x.sum() > 0:
            y = y.exp()
        return lt.autograd.grad(y.sum(), w)[0]

    scripted = lt.script(step)
    for x in (lt.ones(2), -lt.ones(2)):
        w = lt.tensor([0.5, 0.25], requires_grad=True)
        assert bits(scripted(w, x)) == bits(step(w, x))
    assert scripted.counts["traces"] == 1


def test_an_outer_trace_takes_the_gradient_of_an_inner_one():
    inner = lt.trace(lambda w, x: (x @ w).tanh())

    def step(w, x):
        loss = (inner(w, x) * inner(w, x + 1)).sum()
        return lt.autograd.grad(loss, w)[0]

    w, x = lt.randn(3, 3, requires_grad=True), lt.randn(3, 3)
    assert bits(lt.trace(step)(w, x)) == bits(step(w, x))


def test_saved_tensor_hooks_see_what_the_node_keeps():
    packed = []

    def pack(t):
        packed.append(tuple(t.shape))
        return t

    x = lt.randn(3, requires_grad=True)
    with lt.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        y = lt.trace(lambda x: x.exp() * 2)(x)
    y.sum().backward()
    assert packed and bits(x.grad) == bits(x.exp() * 2)


def test_many_threads():
    model = nn.Sequential(nn.Linear(6, 9), nn.GELU(), nn.Linear(9, 4))
    traced, x = lt.trace(model), lt.randn(5, 6)

    def one():
        return [bits(g) for g in lt.autograd.grad(traced(x).sum(), list(model.parameters()))]

    want = [bits(g) for g in lt.autograd.grad(model(x).sum(), list(model.parameters()))]
    found = []
    threads = [threading.Thread(target=lambda: found.append(one())) for _ in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == [want] * 6


def test_training_by_the_common_idiom():
    def train(wrap):
        lt.manual_seed(1)
        model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.BatchNorm1d(16), nn.Linear(16, 3))
        run, optimizer = wrap(model), lt.optim.Adam(model.parameters(), lr=0.01)
        rng, losses = np.random.default_rng(0), []
        for _ in range(20):
            x = lt.tensor(rng.standard_normal((8, 4)).astype("float32"))
            y = lt.tensor(rng.integers(0, 3, 8))
            optimizer.zero_grad()
            loss = F.cross_entropy(run(x), y)
            loss.backward()
            optimizer.step()
            losses.append(bits(loss))
        return losses, [bits(t) for t in model.state_dict().values()]

    assert train(lt.trace) == train(lambda model: model)


def test_a_step_calls_no_op_besides_its_programs():
    """Gradients of weights are transposed where they are computed; the program lays them out."""
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    traced, x, dy = lt.trace(model), lt.randn(5, 3), lt.randn(5, 2)

    def step():
        for p in model.parameters():
            p.grad = None
        traced(x).backward(dy)

    step()
    _, called = _lathe._watched(step)
    assert [op for op, *_ in called] == []
    for p in model.parameters():
        assert p.grad.is_contiguous()


def test_explain_says_what_is_kept():
    traced = lt.trace(lambda x, w: F.gelu(x @ w).sum())
    traced(lt.randn(3, 4), lt.randn(4, 5, requires_grad=True)).backward()
    said = str(traced.explain(verbose=True))
    assert "one node of the tape; the derivative reads 1 of its results" in said
    assert "_backward" in said


def test_a_loaded_program_is_differentiated_by_its_inputs(tmp_path):
    """Training without the source: the parameters are inputs of the program."""

    def loss(w, b, x, wanted):
        return F.mse_loss(F.gelu(x @ w) + b, wanted)

    w0, b0 = lt.randn(4, 3), lt.randn(3)
    x, wanted = lt.randn(6, 4), lt.randn(6, 3)
    lt.save(loss, tmp_path / "loss.lathe", inputs=(w0, b0, x, wanted))
    loaded = lt.load(tmp_path / "loss.lathe")

    def train(call):
        w, b = (t.clone().requires_grad_() for t in (w0, b0))
        optimizer, found = lt.optim.Adam([w, b], lr=0.05), []
        for _ in range(5):
            optimizer.zero_grad()
            y = call(w, b, x, wanted)
            y.backward()
            optimizer.step()
            found += [bits(y), bits(w.grad)]
        return found, bits(w), bits(b)

    assert train(loaded) == train(loss)
    with lt.no_grad():
        assert not loaded(w0.requires_grad_(), b0, x, wanted).requires_grad
    g = lt.autograd.grad(loaded(w0, b0, x, wanted), w0, create_graph=True)[0]
    h = lt.autograd.grad(loss(w0, b0, x, wanted), w0, create_graph=True)[0]
    assert bits(lt.autograd.grad(g.sum(), w0)[0]) == bits(lt.autograd.grad(h.sum(), w0)[0])


def test_a_gradient_of_another_dtype_is_converted():
    for call in (lambda x: x * 3, lt.trace(lambda x: x * 3)):
        x = lt.ones(2, requires_grad=True)
        call(x).backward(lt.tensor([0.1, 0.2], dtype=lt.float64))
        assert (
            x.grad.dtype is lt.float32 and x.grad.tolist() == (lt.tensor([0.1, 0.2]) * 3).tolist()
        )
        with pytest.raises(lt.AutogradError, match=r"(?s)is complex.*next:"):
            call(x).backward(lt.ones(2, dtype=lt.complex64))


def _with_gradients_off():
    def detached(x):
        y = x * 2
        with lt.no_grad():
            z = y.detach()
        return y * z

    def copied(x):
        y, z = x * 2, lt.zeros(3)
        with lt.no_grad():
            z.copy_(y)
        return y * z

    def scaled(x):
        y = x * x
        with lt.no_grad():
            y[1:] *= 0.5
        return y * x

    def read_through_a_view(x):
        y = x * x
        tail = y[1:]
        with lt.no_grad():
            y.mul_(3.0)
        return lt.cat([x[:1], tail * x[1:]])

    def overwritten(x):
        y = x.exp() + x
        with lt.no_grad():
            y.copy_(x)
        return y * x

    def a_view_of_an_argument(x):
        with lt.no_grad():
            return x.unsqueeze(0)

    return [detached, copied, scaled, read_through_a_view, overwritten, a_view_of_an_argument]


@pytest.mark.parametrize("wrap", [lt.trace, lt.script])
@pytest.mark.parametrize("f", _with_gradients_off(), ids=lambda f: f.__name__)
def test_what_is_done_with_gradients_off(f, wrap):
    """What is read is a number to the tape; what is written keeps the history that it had."""

    def gradient(f):
        x = lt.tensor([1.0, 2.0, 3.0], requires_grad=True)
        y = f(x)
        ((y + x) * lt.tensor([0.3, 0.7, 1.1])).sum().backward()
        return x.grad.tolist()

    captured = wrap(f)
    assert gradient(captured) == gradient(f)
    assert captured.counts["node_by_node"] == 0


@pytest.mark.parametrize(
    "wrap", [lambda f: f, lt.trace, lt.script], ids=["eager", "trace", "script"]
)
@pytest.mark.parametrize("write", [lambda z: z.mul_(3.0), lambda z: z.copy_(lt.zeros(2))])
def test_a_view_taken_with_gradients_off_is_not_written_with_gradients_on(wrap, write):
    def f(x):
        y = x * 2
        with lt.no_grad():
            z = y[:2]
        write(z)
        return y * x

    with pytest.raises(lt.AutogradError, match="a view that was taken with gradients off"):
        wrap(f)(lt.ones(3, requires_grad=True))
    assert wrap(f)(lt.ones(3)).shape == (3,)


@pytest.mark.parametrize("wrap", [lt.trace, lt.script])
@pytest.mark.parametrize("write", [lambda z, w: z.add_(w), lambda z, w: z.copy_(w)])
def test_a_view_whose_base_was_written_is_returned_alone(wrap, write):
    def f(x, w):
        z = x.clone()
        v = z[0:1]
        write(z, w)
        return v

    def gradient(f):
        w = lt.ones(2, requires_grad=True)
        (f(lt.tensor([1.0, 2.0]), w).sum() + w.sum()).backward()
        return w.grad.tolist()

    assert gradient(wrap(f)) == gradient(f) == [2, 1]


@pytest.mark.parametrize("wrap", [lt.trace, lt.script])
def test_a_view_whose_base_is_written_over_is_returned(wrap):
    def f(x, w):
        y = x * w
        v = y[0:1]
        y.copy_(x)
        return y, v

    w = lt.ones(2, requires_grad=True)
    y, v = wrap(f)(lt.tensor([1.0, 2.0]), w)
    assert (y.tolist(), v.tolist(), y.requires_grad, v.requires_grad) == ([1, 2], [1], True, True)
    (y.sum() + v.sum()).backward()
    assert w.grad.tolist() == [0, 0]


def test_what_gives_the_module_gives_what_captures_it():
    model = lt.trace(lt.nn.Linear(4, 2))
    assert model.eval() is model and model.train().to("cpu") is model
    assert len(list(model.parameters())) == 2 and not model.eval().training


def test_a_derivative_that_asks_about_sizes():
    """That of the LU decomposition is another for matrices that are not square."""
    sizes = ((3, 3), (4, 3), (3, 5), (4, 3), (2, 2))
    x = [lt.randn(*size).requires_grad_() for size in sizes]
    f = lt.trace(lambda x: lt.linalg.lu(x))
    for t in x:
        traced, eager = f(t), lt.linalg.lu(t)
        assert [y.shape for y in traced] == [y.shape for y in eager]
        (a,), (b,) = (lt.autograd.grad(y[1].sum() + y[2].sum(), t) for y in (traced, eager))
        assert a.numpy().tobytes() == b.numpy().tobytes()
