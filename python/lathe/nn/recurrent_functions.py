"""Recurrent cells and layers as functions of their weights.

A cell is a function from the projected input and the state to the next state. A layer projects all
its steps at once, then scans the cell over them: one loop of a program, whatever the length. Packed
sequences are a loop over steps of shrinking batches, of which a trace has as many as there are. The
modules of recurrent.py and the functions at the end (lathe.lstm, lathe.gru_cell ...) stand on it.
"""

from .. import _lathe, _structures, ops
from .._errors import typed
from . import functional as F

# ── cells ─────────────────────────────────────────────────────────────────────────────────────────


def _rnn_step(nonlinearity):
    def step(projected, recurrent, state):
        return (nonlinearity(projected + recurrent),)

    return step


def _lstm_step(projected, recurrent, state):
    return ops.lstm_step(projected, recurrent, state[1])


def _gru_step(projected, recurrent, state):
    return (ops.gru_step(projected, recurrent, state[0]),)


# mode: (gates, tensors of state, step)
MODES = {
    "RNN_TANH": (1, 1, _rnn_step(ops.tanh)),  # not an op: PyTorch's name of the mode
    "RNN_RELU": (1, 1, _rnn_step(ops.relu)),  # not an op: PyTorch's name of the mode
    "LSTM": (4, 2, _lstm_step),
    "GRU": (3, 1, _gru_step),
}


def next_state(mode, input, state, w_ih, w_hh, b_ih=None, b_hh=None):
    """The state after one step, of input[batch, size]."""
    projected, recurrent = ops.linear(input, w_ih, b_ih), ops.linear(state[0], w_hh, b_hh)
    return MODES[mode][2](projected, recurrent, state)


# ── layers ────────────────────────────────────────────────────────────────────────────────────────


def _resized(state, start, count):
    """A state for `count` sequences: the first of it, or with those of `start` that begin now."""
    if state[0].shape[0] == count:
        return state
    if state[0].shape[0] > count:
        return tuple(s[:count] for s in state)
    return tuple(ops.cat([s, more[s.shape[0] : count]]) for s, more in zip(state, start))


def _next(mode, projected, state, w_hh, b_hh, projection):
    state = MODES[mode][2](projected, ops.linear(state[0], w_hh, b_hh), state)
    return state if projection is None else (ops.linear(state[0], projection), *state[1:])


def _run(mode, data, weights, start, backwards):
    """One direction of one layer: (outputs, the last state)."""
    w_ih, w_hh, b_ih, b_hh, projection = weights

    own = [w_hh, b_hh, projection]
    there = [w is not None for w in own]
    constants = [w for w in own if w is not None]

    def step(state, rows, weights):
        weights = iter(weights)
        state = _next(mode, rows[0], state, *(next(weights) if t else None for t in there))
        return list(state), [state[0]]

    projected, outputs = ops.linear(data, w_ih, b_ih), []
    kinds = {t.dtype for t in (projected, w_hh, *start)}
    if len(kinds) > 1 or _lathe._autocast() is not _lathe.float32:
        # A loop keeps its dtypes: those that the first step gives.
        first, rest = (-1, slice(0, -1)) if backwards else (0, slice(1, None))
        start, outputs = step(start, [projected[first]], constants)
        projected, outputs = projected[rest], [ops.unsqueeze(outputs[0], 0)]
        if projected.shape[0] == 0:
            return outputs[0], tuple(start)
    kind = zip(("bias", "projection", "backwards"), (*there[1:], backwards))
    state, (stacked,) = _structures.scan_of_a_kind(
        " ".join([mode, *(part for part, is_there in kind if is_there)]),
        step, start, [projected], constants, backwards,
    )  # fmt: skip
    if outputs:
        stacked = ops.cat([stacked, *outputs] if backwards else [*outputs, stacked])
    return stacked, tuple(state)


def _run_packed(mode, data, sizes, weights, start, backwards):
    """The same of packed rows."""
    w_ih, w_hh, b_ih, b_hh, projection = weights
    steps = ops.split(ops.linear(data, w_ih, b_ih), sizes)
    state = tuple(s[: sizes[-1]] for s in start) if backwards else tuple(start)
    outputs, ended = [], []
    for piece in reversed(steps) if backwards else steps:
        count = int(piece.shape[0])
        if state[0].shape[0] > count:
            ended.append(tuple(s[count:] for s in state))
        state = _resized(state, start, count)
        state = _next(mode, piece, state, w_hh, b_hh, projection)
        outputs.append(state[0])
    if backwards:
        outputs.reverse()
    for more in reversed(ended):
        state = tuple(ops.cat([s, rest]) for s, rest in zip(state, more))
    return ops.cat(outputs), state


def run_layers(mode, data, sizes, state, weights, dropout):
    """(outputs of the last layer, [last state of every layer and direction] for each tensor of it).

    data[time, batch, size], or packed rows. sizes: how many sequences each step of those has.
    weights: for each layer, for each direction, [w_ih, w_hh, b_ih, b_hh, projection], None for what
    is not there. dropout: between layers; 0 for none.
    """
    ends, at = [[] for _ in state], 0
    for layer in weights:
        outputs = []
        for d, own in enumerate(layer):
            first = [s[at] for s in state]
            if sizes is None:
                output, end = _run(mode, data, own, first, d == 1)
            else:
                output, end = _run_packed(mode, data, sizes, own, first, d == 1)
            outputs.append(output)
            for kept, last in zip(ends, end):
                kept.append(last)
            at += 1
        data = outputs[0] if len(outputs) == 1 else ops.cat(outputs, -1)
        if dropout and layer is not weights[-1]:
            data = F.dropout(data, dropout, True)
    return data, [ops.stack(e) for e in ends]


# ── PyTorch's functions ───────────────────────────────────────────────────────────────────────────

_COMMON = (
    "hx", "params", "has_biases", "num_layers",
    "dropout",  # not an op: a setting
    "train", "bidirectional",
)  # fmt: skip
_PLAIN = ("input", *_COMMON, "batch_first")
_PACKED = ("data", "batch_sizes", *_COMMON)


def _given(name, args, named):
    """The arguments by name, of one of the two forms."""
    packed = "data" in named or "batch_sizes" in named
    if len(args) > 3 and not packed:  # what stands fourth is has_biases, or the weights
        packed = isinstance(args[3], (list, tuple))
    names = _PACKED if packed else _PLAIN
    given = dict(zip(names, args)) | named
    if len(args) + len(named) != len(names) or set(given) != set(names):
        raise _lathe.TypeError(
            "these are the arguments of neither form", op=name,
            got=f"{len(args)} by place, {', '.join(named) or 'none'} by name",
            expected=f"{name}({', '.join(_PLAIN)}) or {name}({', '.join(_PACKED)})",
            next="give all of them",
        )  # fmt: skip
    return given


def _split(name, params, has_biases, num_layers, directions):
    """The flat list of weights as run_layers() takes it."""
    count = num_layers * directions
    each = len(params) // count if count else 0
    plain = 4 if has_biases else 2
    if not count or each * count != len(params) or each not in (plain, plain + 1):
        raise _lathe.ValueError(
            "there are not as many weights as the layers have", op=name, got=len(params),
            expected=f"{plain} for each of {count} layers and directions, or one more to project",
            next="give them in the order of module.all_weights",
        )  # fmt: skip

    def own(at):
        mine = list(params[at * each : (at + 1) * each])
        projection = mine.pop() if each > plain else None
        return [*mine, *[None] * (4 - plain), projection]

    return [[own(at * directions + d) for d in range(directions)] for at in range(num_layers)]


def _layers(name, mode, args, named):
    a = _given(name, args, named)
    weights = _split(name, a["params"], a["has_biases"], a["num_layers"], 1 + a["bidirectional"])
    state = list(a["hx"]) if MODES[mode][1] == 2 else [a["hx"]]
    dropout = a["dropout"] if a["train"] else 0.0  # not an op: a setting
    if "data" in a:
        sizes = a["batch_sizes"].tolist()
        output, ends = run_layers(mode, a["data"], sizes, state, weights, dropout)
        return output, *ends
    x = ops.transpose(a["input"], 0, 1) if a["batch_first"] else a["input"]
    output, ends = run_layers(mode, x, None, state, weights, dropout)
    return (ops.transpose(output, 0, 1) if a["batch_first"] else output), *ends


def _layer_function(name, mode):
    gives = "(output, h, c)" if mode == "LSTM" else "(output, h)"

    def function(*args, **named):
        return _layers(name, mode, args, named)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""{gives} of recurrent layers with the weights `params`, which are flat,
    in the order of all_weights of the module.

    {name}(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first),
    of input[time, batch, size], or {name}(data, batch_sizes, hx, ...) of a packed sequence; hx is
    [layers * directions, batch, size]{", and so is c: hx is (h, c)" if mode == "LSTM" else ""}.
    """
    return typed(function)


def _cell_function(name, mode):
    several = MODES[mode][1] == 2

    def function(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
        new = next_state(mode, input, hx if several else (hx,), w_ih, w_hh, b_ih, b_hh)
        return new if several else new[0]

    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        f"The state after one step of {mode}, of input[batch, size] and "
        f"{'hx = (h, c)' if several else 'hx'}[batch, hidden]."
    )
    return typed(function)


_KINDS = {
    "lstm": "LSTM", "gru": "GRU",
    "rnn_tanh": "RNN_TANH",  # not an op: PyTorch's name of the mode
    "rnn_relu": "RNN_RELU",  # not an op: PyTorch's name of the mode
}  # fmt: skip
for _name, _mode in _KINDS.items():
    globals()[_name] = _layer_function(_name, _mode)
    globals()[f"{_name}_cell"] = _cell_function(f"{_name}_cell", _mode)
