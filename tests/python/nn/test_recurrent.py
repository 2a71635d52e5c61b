"""RNN, LSTM and GRU against loops over time in NumPy, in all forms that their input may have.

tests/against_pytorch/recurrent.py compares them with PyTorch's.
"""

import numpy as np
import pytest

import lathe as lt
from lathe import _lathe, nn
from lathe.nn.utils import rnn
from lathe.utils.checkpoint import checkpoint


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def step(kind, gi, gh, state):
    if kind == "LSTM":
        i, f, g, o = np.split(gi + gh, 4, -1)
        cell = sigmoid(f) * state[1] + sigmoid(i) * np.tanh(g)
        return sigmoid(o) * np.tanh(cell), cell
    if kind == "GRU":
        (r, z, n), (hr, hz, hn) = np.split(gi, 3, -1), np.split(gh, 3, -1)
        new, keep = np.tanh(n + sigmoid(r + hr) * hn), sigmoid(z + hz)
        return ((1 - keep) * new + keep * state[0],)
    return (np.tanh(gi + gh),)


def reference(layer, x):
    """x[time, batch, size]: outputs, and the last states [layers * directions, batch, size]."""
    weights = {n: w.detach().numpy() for n, w in layer.named_parameters()}
    count, kind = (2 if layer.mode == "LSTM" else 1), layer.mode
    ends = [[] for _ in range(count)]
    for k in range(layer.num_layers):
        outputs = []
        for back in range(2 if layer.bidirectional else 1):
            w = {n: weights[f"{n}_l{k}{'_reverse' * back}"] for n in ("weight_ih", "weight_hh",
                                                                       "bias_ih",
                                                                       "bias_hh")}  # fmt: skip
            hr = weights.get(f"weight_hr_l{k}{'_reverse' * back}")
            width = layer.proj_size or layer.hidden_size
            state = (np.zeros((x.shape[1], width)), np.zeros((x.shape[1], layer.hidden_size)))
            out = []
            for now in x[::-1] if back else x:
                gi = now @ w["weight_ih"].T + w["bias_ih"]
                gh = state[0] @ w["weight_hh"].T + w["bias_hh"]
                state = step(kind, gi, gh, state)
                if hr is not None:
                    state = (state[0] @ hr.T, *state[1:])
                out.append(state[0])
            outputs.append(np.stack(out[::-1] if back else out))
            for kept, s in zip(ends, state):
                kept.append(s)
        x = np.concatenate(outputs, -1)
    return x, [np.stack(e) for e in ends]


FORMS = [
    ("RNN", {}), ("RNN", {"num_layers": 2, "bidirectional": True}), ("GRU", {}),
    ("GRU", {"num_layers": 2, "bidirectional": True}), ("LSTM", {}), ("LSTM", {"proj_size": 2}),
    ("LSTM", {"num_layers": 2, "bidirectional": True, "proj_size": 3}),
]  # fmt: skip


def near(a, b):
    np.testing.assert_allclose(a.detach().numpy(), b, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("kind, settings", FORMS)
def test_against_a_loop(kind, settings):
    layer = getattr(nn, kind)(4, 5, dtype=lt.float64, **settings)
    layer.mode = kind if kind != "RNN" else layer.mode
    x = lt.randn(6, 3, 4, dtype=lt.float64)
    want, ends = reference(layer, x.numpy())
    out, end = layer(x)
    near(out, want)
    for got, e in zip(end if kind == "LSTM" else (end,), ends):
        near(got, e)
    alone, end = layer(x[:, 0])
    near(alone, want[:, 0])
    first = getattr(nn, kind)(4, 5, batch_first=True, dtype=lt.float64, **settings)
    first.load_state_dict(layer.state_dict())
    near(first(x.transpose(0, 1))[0], want.transpose(1, 0, 2))
    lengths = [3, 6, 2]
    packed, _ = layer(rnn.pack_padded_sequence(x, lengths, enforce_sorted=False))
    padded, back = rnn.pad_packed_sequence(packed)
    assert back.tolist() == lengths
    for i, n in enumerate(lengths):
        near(padded[:n, i], reference(layer, x[:n, i : i + 1].numpy())[0][:, 0])
    traced = lt.trace(layer)
    assert lt.equal(traced(x)[0], out)


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_a_cell_is_a_step_of_the_layer(kind):
    layer, cell = getattr(nn, kind)(4, 5), getattr(nn, kind + "Cell")(4, 5)
    cell.load_state_dict({n.removesuffix("_l0"): t for n, t in layer.state_dict().items()})
    x, state = lt.randn(3, 2, 4), None
    for now in x:
        state = cell(now, state)
    out, end = layer(x)
    last = state[0] if kind == "LSTM" else state
    assert lt.allclose(last, out[-1]) and lt.allclose(cell(x[0])[0], cell(x[0])[0])
    one = cell(x[0, 0])
    assert tuple((one[0] if kind == "LSTM" else one).shape) == (5,)
    names = ["weight_ih", "weight_hh", "bias_ih", "bias_hh"]
    assert [n for n, _ in cell.named_parameters()] == names
    assert [n for n, _ in layer.named_parameters()] == [n + "_l0" for n in names]
    assert len(layer.all_weights[0]) == 4


def test_gradients():
    layer = nn.GRU(2, 3, 2, bidirectional=True, dtype=lt.float64)
    x = lt.randn(3, 2, 2, dtype=lt.float64).requires_grad_()
    packed = rnn.pack_padded_sequence(x.detach(), [3, 1])
    assert lt.autograd.gradcheck(lambda t: layer(t)[0], (x,))
    data = packed.data.detach().requires_grad_()
    assert lt.autograd.gradcheck(lambda d: layer(packed._replace(data=d))[0].data, (data,))


def test_sequences():
    rows = [lt.arange(n, dtype=lt.float32) for n in (2, 4, 1)]
    assert rnn.pad_sequence(rows, batch_first=True).tolist()[0] == [0, 1, 0, 0]
    assert rnn.pad_sequence(rows, True, 9.0, "left").tolist()[2] == [9, 9, 9, 0]
    packed = rnn.pack_sequence(rows, enforce_sorted=False)
    assert packed.batch_sizes.tolist() == [3, 2, 1, 1]
    assert packed.data.tolist() == [0, 0, 0, 1, 1, 2, 3]
    assert [r.tolist() for r in rnn.unpack_sequence(packed)] == [r.tolist() for r in rows]
    padded, lengths = rnn.pad_packed_sequence(packed, True, -1.0, total_length=5)
    assert padded.tolist()[2] == [0, -1, -1, -1, -1] and lengths.tolist() == [2, 4, 1]
    assert [r.tolist() for r in rnn.unpad_sequence(padded, lengths, True)][0] == [0, 1]
    assert padded.is_contiguous()  # so that view() may flatten it
    rnn.unpad_sequence(padded, lengths, True)[0].fill_(7)  # a copy
    assert padded[0].tolist() == [0, 1, -1, -1, -1]


WRONG = {
    "dropout": lambda: nn.LSTM(2, 3, dropout=2), "proj_size of a GRU": lambda: nn.RNNBase("GRU", 2,
    3, proj_size=1),
    "proj_size": lambda: nn.LSTM(2, 3, proj_size=3), "layers": lambda: nn.GRU(2, 3, 0),
    "nonlinearity": lambda: nn.RNN(2, 3, nonlinearity="sin"), "rank": lambda: nn.GRU(2,
    3)(lt.ones(2)),
    "size": lambda: nn.GRU(2, 3)(lt.ones(4, 1, 3)), "state": lambda: nn.GRU(2, 3)(lt.ones(4, 1, 2),
    lt.ones(1, 2, 3)),
    "no step": lambda: nn.GRU(2, 3)(lt.ones(0, 1, 2)),
    "order": lambda: rnn.pack_padded_sequence(lt.ones(3, 2), [1, 3]),
    "lengths": lambda: rnn.pack_padded_sequence(lt.ones(3, 2), [3]),
    "empty": lambda: rnn.pack_padded_sequence(lt.ones(3, 1), [0]),
    "too long": lambda: rnn.pack_padded_sequence(lt.ones(3, 1), [4]), "cell": lambda: nn.GRUCell(2,
    3)(lt.ones(1, 1, 2)),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name):
    with pytest.raises((lt.ValueError, lt.ShapeError)) as caught:
        WRONG[name]()
    assert caught.value.next and caught.value.expected


def test_dropout_between_layers():
    layer = nn.LSTM(4, 5, 2, dropout=1.0)
    x = lt.randn(3, 2, 4)
    out, _ = layer(x)
    state = layer.state_dict()
    lonely, _ = nn.LSTM(5, 5), None
    lonely.load_state_dict({n.replace("l1", "l0"): t for n, t in state.items() if "l1" in n})
    assert lt.allclose(out, lonely(lt.zeros(3, 2, 5))[0])
    assert not lt.allclose(layer.eval()(x)[0], out)
    assert repr(layer) == "LSTM(4, 5, num_layers=2, dropout=1.0)"


FUNCTIONS = {
    "lstm": nn.LSTM, "gru": nn.GRU, "rnn_tanh": nn.RNN,
    "rnn_relu": lambda *a, **n: nn.RNN(*a, nonlinearity="relu", **n),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("bidirectional", [True, False])
def test_functions_of_weights_are_the_modules(name, bias, bidirectional):
    m = FUNCTIONS[name](3, 4, num_layers=2, bias=bias, bidirectional=bidirectional)
    flat = [w for own in m.all_weights for w in own]
    rows, x = 4 if bidirectional else 2, lt.randn(5, 2, 3)
    h = (lt.randn(rows, 2, 4), lt.randn(rows, 2, 4))
    state = h if name == "lstm" else h[0]
    function, settings = getattr(lt, name), (flat, bias, 2, 0.0, False, bidirectional)
    y, ends = m(x, state)
    ends = ends if name == "lstm" else (ends,)
    found = function(x.transpose(0, 1), state, *settings, True)
    assert lt.equal(found[0].transpose(0, 1), y)
    assert len(found) == len(ends) + 1 and all(map(lt.equal, found[1:], ends))
    packed = nn.utils.rnn.pack_padded_sequence(x, [5, 3])
    found = function(packed.data, packed.batch_sizes, state, *settings)
    assert lt.equal(found[0], m(packed, state)[0].data)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_cells_are_the_cells(name):
    kinds = {"lstm": nn.LSTMCell, "gru": nn.GRUCell}
    cell = kinds[name](3, 4) if name in kinds else nn.RNNCell(3, 4, nonlinearity=name[4:])
    x, h = lt.randn(2, 3), (lt.randn(2, 4), lt.randn(2, 4))
    state = h if name == "lstm" else h[0]
    weights = (cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh)
    found, expected = getattr(lt, f"{name}_cell")(x, state, *weights), cell(x, state)
    found, expected = (v if name == "lstm" else (v,) for v in (found, expected))
    assert all(map(lt.equal, found, expected))


def test_functions_refuse_what_does_not_fit():
    x, h = lt.ones(1, 1, 3), lt.zeros(1, 1, 4)
    with pytest.raises(lt.TypeError, match="^gru: ") as caught:
        lt.gru(x, h)
    assert "batch_sizes" in caught.value.expected
    with pytest.raises(lt.ValueError, match="^gru: there are not as many weights"):
        lt.gru(x, h, [x], True, 1, 0.0, False, False, False)


def test_a_step_says_which_gates_are_missing():
    state, gates = lt.zeros(2, 3), lt.zeros(2, 9)
    with pytest.raises(lt.ShapeError, match=r"gates\[\.\.\., 4 \* the state's last size\]"):
        lt.ops.lstm_step(gates, gates, state)
    with pytest.raises(lt.ShapeError, match=r"gates\[\.\.\., 3 \* the state's last size\]"):
        lt.ops.gru_step(lt.zeros(2, 8), lt.zeros(2, 8), state)


@pytest.fixture
def fuse_after():
    """Sets the flag, and says of which layers programs run now."""
    before = lt.get_flag("fuse_after")
    yield lambda count: lt.set_flag("fuse_after", count)
    lt.set_flag("fuse_after", before)


def programs(mode):
    return [line for line in _lathe._composites().splitlines() if line.startswith(mode)]


def outcome(layer, x, hx=None):
    """The bytes of results and gradients, and of results without history."""
    out, ends = layer(x, hx)
    ends = ends if isinstance(ends, tuple) else (ends,)
    loss = sum((t * t).sum() for t in (out, *ends))
    given = [x, *layer.parameters(), *((hx if isinstance(hx, tuple) else (hx,)) if hx else ())]
    found = [out, *ends, *lt.autograd.grad(loss, given)]
    with lt.no_grad():
        found.append(layer(x, hx)[0])
    return b"".join(t.detach().numpy().tobytes() for t in found)


LAYERS = [
    ("RNN", "RNN_TANH", {}),
    ("RNN", "RNN_RELU", {"nonlinearity": "relu", "bias": False}),  # not an op
    ("GRU", "GRU", {}), ("GRU", "GRU", {"bidirectional": True, "batch_first": True}),
    ("LSTM", "LSTM", {"bidirectional": True}), ("LSTM", "LSTM", {"bias": False}),
    ("LSTM", "LSTM", {"proj_size": 2}), ("LSTM", "LSTM", {"dtype": lt.float64}),
]  # fmt: skip


@pytest.mark.parametrize("kind, mode, settings", LAYERS)
def test_a_layer_that_runs_as_a_program_keeps_its_bits(kind, mode, settings, fuse_after):
    lt.manual_seed(0)
    layer = getattr(nn, kind)(5, 7, num_layers=2, **settings)
    dtype = settings.get("dtype", lt.float32)
    for size in ((6, 3, 5), (1, 1, 5), (9, 4, 5), (2, 5)):
        x = lt.randn(*size, dtype=dtype, requires_grad=True)
        fuse_after(-1)
        wanted = outcome(layer, x)
        fuse_after(0)
        assert outcome(layer, x) == wanted and outcome(layer, x) == wanted
    assert programs(mode)


def test_a_layer_becomes_a_program_while_it_is_called(fuse_after):
    fuse_after(3)
    layer = nn.LSTM(5, 11, num_layers=1, dtype=lt.float64)  # of a kind that no other test has
    x = lt.randn(6, 3, 5, dtype=lt.float64, requires_grad=True)
    hx = tuple(lt.randn(1, 3, 11, dtype=lt.float64, requires_grad=True) for _ in range(2))
    assert len({outcome(layer, x, hx) for _ in range(8)}) == 1


def test_a_layer_that_is_computed_again_runs_as_it_did(fuse_after):
    fuse_after(2)
    layer, x = nn.GRU(5, 7, 2, dropout=0.4, dtype=lt.float64), lt.randn(6, 3, 5, dtype=lt.float64)
    x.requires_grad_()
    found = set()
    for _ in range(4):
        for call in (lambda f: checkpoint(f, x, use_reentrant=False), lambda f: f(x)):
            lt.manual_seed(1)
            loss = call(lambda t: layer(t)[0]).square().sum()
            grads = lt.autograd.grad(loss, [x, *layer.parameters()])
            found.add(b"".join(g.numpy().tobytes() for g in grads))
    assert len(found) == 1


def test_transforms_of_a_layer_that_runs_as_a_program(fuse_after):
    layer, x = nn.GRU(3, 4, dtype=lt.float64), lt.randn(6, 5, 2, 3, dtype=lt.float64)
    one, tangent = x[0], lt.randn(5, 2, 3, dtype=lt.float64)

    def found():
        f = lambda t: layer(t)[0]  # noqa: E731
        yield lt.func.vmap(f)(x)
        yield lt.func.jacrev(f)(one)
        yield lt.func.jvp(f, (one,), (tangent,))[1]
        yield lt.func.vmap(lt.func.grad(lambda t: f(t).square().sum()))(x)

    fuse_after(-1)
    wanted = [t.detach().numpy().tobytes() for t in found()]
    fuse_after(0)
    layer(one), layer(one)
    assert [t.detach().numpy().tobytes() for t in found()] == wanted
    small = lt.randn(3, 1, 3, dtype=lt.float64, requires_grad=True)
    assert lt.autograd.gradgradcheck(lambda t: layer(t)[0], (small,))


def test_a_weight_that_was_written_to_is_noticed(fuse_after):
    fuse_after(0)
    layer, x = nn.LSTM(3, 4), lt.randn(5, 2, 3)
    loss = layer(x)[0].sum()
    with lt.no_grad():
        layer.weight_hh_l0.add_(1)
    with pytest.raises(lt.AutogradError, match="was written to since"):
        loss.backward()
