"""Recurrent cells and layers: RNN (Elman 1990), LSTM (Hochreiter and Schmidhuber 1997), GRU (Cho et
al. 2014): their weights, and the forms of what they are given. recurrent_functions.py computes.
"""

import math

from .. import _lathe, ops
from .._errors import typed
from .._lathe import Tensor
from . import init
from .module import Module
from .parameter import Parameter
from .recurrent_functions import MODES, next_state, run_layers
from .utils.rnn import PackedSequence

_TANH = "tanh"  # not an op: a setting


def _rnn_mode(name, nonlinearity):
    mode = f"RNN_{nonlinearity.upper()}"
    if mode not in MODES:
        raise _lathe.ValueError(
            "an unknown nonlinearity", op=name, got=repr(nonlinearity),
            expected="'tanh' or 'relu'", next="choose one of the two",
        )  # fmt: skip
    return mode


def _start(module, hidden_size):
    bound = 1 / math.sqrt(hidden_size) if hidden_size > 0 else 0
    for weight in module.parameters():
        init.uniform_(weight, -bound, bound)


class RNNCellBase(Module):
    """One step of a recurrent layer, of x[batch, input_size] or x[input_size]."""

    @typed
    def __init__(self, input_size, hidden_size, bias, num_chunks, device=None, dtype=None):
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        kind = {"device": device, "dtype": dtype}
        rows = num_chunks * hidden_size
        self.weight_ih = Parameter(ops.zeros((rows, input_size), **kind))
        self.weight_hh = Parameter(ops.zeros((rows, hidden_size), **kind))
        self.bias_ih = Parameter(ops.zeros(rows, **kind)) if bias else None
        self.bias_hh = Parameter(ops.zeros(rows, **kind)) if bias else None
        self.reset_parameters()

    def reset_parameters(self):
        _start(self, self.hidden_size)

    def _next(self, mode, input, state):
        if input.ndim not in (1, 2):
            raise _shape_error(self, "the input has another rank", input, "one axis or two")
        count = MODES[mode][1]
        rows = input if input.ndim == 2 else ops.unsqueeze(input, 0)
        if state is None:
            zeros = ops.zeros(
                (rows.shape[0], self.hidden_size), dtype=input.dtype, device=input.device
            )
            state = (zeros,) * count
        elif input.ndim == 1:
            state = tuple(ops.unsqueeze(s, 0) for s in state)
        weights = (self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        new = next_state(mode, rows, state, *weights)
        return new if input.ndim == 2 else tuple(ops.squeeze(s, [0]) for s in new)

    def extra_repr(self):
        text = f"{self.input_size}, {self.hidden_size}"
        text += "" if self.bias else ", bias=False"
        shown = getattr(self, "nonlinearity", "tanh")  # not an op: a name
        return text if shown == "tanh" else f"{text}, nonlinearity={shown}"  # not an op: a setting


class RNNCell(RNNCellBase):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu of it."""

    @typed
    def __init__(
        self, input_size, hidden_size, bias=True, nonlinearity=_TANH, device=None, dtype=None
    ):
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity
        _rnn_mode("RNNCell", nonlinearity)

    def forward(self, input, hx=None):
        mode = _rnn_mode("RNNCell", self.nonlinearity)
        return self._next(mode, input, None if hx is None else (hx,))[0]


class LSTMCell(RNNCellBase):
    """A step with the gates i, f, g, o: c' = f c + i g, h' = o tanh(c'). Gives (h', c')."""

    @typed
    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input, hx=None):
        return self._next("LSTM", input, hx)


class GRUCell(RNNCellBase):
    """A step with the gates r, z, n: h' = (1 - z) n + z h, where r gates the part of n that is
    h's."""

    @typed
    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input, hx=None):
        return self._next("GRU", input, None if hx is None else (hx,))[0]


# ── layers ────────────────────────────────────────────────────────────────────────────────────────


def _shape_error(module, problem, tensor, expected):
    return _lathe.ShapeError(
        problem, op=type(module).__name__, got=list(tensor.shape), expected=expected,
        next="check batch_first, and how the layer was made",
    )  # fmt: skip


class RNNBase(Module):
    """What RNN, LSTM and GRU have in common: layers, directions, and the loop over time.

    Of x[time, batch, input_size] ([batch, time, ...] with batch_first), of x[time, input_size], or
    of a PackedSequence. dropout: between layers, in training. proj_size: of an LSTM, whose h is
    projected to that size.
    """

    @typed
    def __init__(
        self, mode, input_size, hidden_size, num_layers=1, bias=True, batch_first=False,
        dropout=0.0, bidirectional=False, proj_size=0, device=None, dtype=None,
    ):  # fmt: skip
        super().__init__()
        _check_sizes(type(self).__name__, mode, hidden_size, num_layers, dropout, proj_size)
        if dropout > 0 and num_layers == 1:
            from warnings import warn

            warn(f"{type(self).__name__}: dropout={dropout} drops nothing: it is between layers, "
                 "and there is one", stacklevel=5)  # fmt: skip
        self.mode, self.input_size, self.hidden_size = mode, input_size, hidden_size
        self.num_layers, self.bias, self.batch_first = num_layers, bias, batch_first
        self.dropout, self.bidirectional = float(dropout), bidirectional
        self.proj_size = proj_size
        rows, directions = MODES[mode][0] * hidden_size, 2 if bidirectional else 1
        out = proj_size or hidden_size
        for layer in range(num_layers):
            width = input_size if layer == 0 else out * directions
            for suffix in self._suffixes(layer):
                self._add_weights(suffix, rows, width, out, {"device": device, "dtype": dtype})
        self.reset_parameters()

    def _suffixes(self, layer):
        return [f"_l{layer}", f"_l{layer}_reverse"][: 2 if self.bidirectional else 1]

    def _add_weights(self, suffix, rows, width, out, kind):
        shapes = {"weight_ih": (rows, width), "weight_hh": (rows, out)}
        if self.bias:
            shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
        if self.proj_size:
            shapes["weight_hr"] = (self.proj_size, self.hidden_size)
        for name, shape in shapes.items():
            setattr(self, name + suffix, Parameter(ops.zeros(shape, **kind)))

    def reset_parameters(self):
        _start(self, self.hidden_size)

    def flatten_parameters(self):
        """Nothing: how weights lie in memory is decided where they are used."""

    @property
    def all_weights(self):
        """The weights of each layer and direction."""
        names = ["weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr"]
        suffixes = [s for layer in range(self.num_layers) for s in self._suffixes(layer)]
        return [[vars(self)[n + s] for n in names if n + s in vars(self)] for s in suffixes]

    def forward(self, input, hx=None):
        packed = isinstance(input, PackedSequence)
        if packed:
            data, sizes = input.data, input.batch_sizes.tolist()
        else:
            data, sizes = self._time_first(input), None
        batch = sizes[0] if packed else data.shape[1]
        state = self._state(hx, data, batch, not packed and input.ndim == 2)
        if packed and input.sorted_indices is not None and hx is not None:
            state = [ops.index_select(s, 1, input.sorted_indices) for s in state]
        parts = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
        weights = [
            [[vars(self).get(n + suffix) for n in parts] for suffix in self._suffixes(layer)]
            for layer in range(self.num_layers)
        ]
        dropout = self.dropout if self.training else 0.0
        data, ends = run_layers(self.mode, data, sizes, state, weights, dropout)
        return self._results(input, data, ends)

    def _time_first(self, input):
        if not isinstance(input, Tensor) or input.ndim not in (2, 3):
            shown = input if isinstance(input, Tensor) else ops.zeros(0)
            raise _shape_error(self, "the input has another rank", shown, "two axes or three")
        if input.ndim == 2:
            input = ops.unsqueeze(input, 1)
        elif self.batch_first:
            input = ops.transpose(input, 0, 1)
        if input.shape[-1] != self.input_size:
            raise _shape_error(
                self, "the last axis of the input has another size", input,
                f"input_size={self.input_size}",
            )  # fmt: skip
        if input.shape[0] == 0:
            raise _shape_error(self, "the sequence has no step", input, "one step or more")
        return input

    def _state(self, hx, data, batch, alone):
        """The initial state, as tensors [layers * directions, batch, size]."""
        count = MODES[self.mode][1]
        rows = self.num_layers * len(self._suffixes(0))
        widths = [self.proj_size or self.hidden_size, self.hidden_size][:count]
        if hx is None:
            kind = {"dtype": data.dtype, "device": data.device}
            return [ops.zeros((rows, batch, width), **kind) for width in widths]
        given = list(hx) if count == 2 else [hx]
        if alone:
            given = [ops.unsqueeze(s, 1) for s in given]
        for s, width in zip(given, widths):
            if s.ndim != 3 or (s.shape[0], s.shape[1], s.shape[2]) != (rows, batch, width):
                expected = f"[{rows}, {'' if alone else f'{batch}, '}{width}]"
                raise _shape_error(self, "the initial state has another shape", s, expected)
        return given

    def _results(self, input, data, ends):
        if isinstance(input, PackedSequence):
            back = input.unsorted_indices
            if back is not None:
                ends = [ops.index_select(e, 1, back) for e in ends]
            data = input._replace(data=data)
        elif input.ndim == 2:
            data, ends = ops.squeeze(data, [1]), [ops.squeeze(e, [1]) for e in ends]
        elif self.batch_first:
            data = ops.transpose(data, 0, 1)
        return data, (tuple(ends) if len(ends) == 2 else ends[0])

    def extra_repr(self):
        text = f"{self.input_size}, {self.hidden_size}"
        for name, plain in (
            ("proj_size", 0), ("num_layers", 1), ("bias", True), ("batch_first", False),
            ("dropout", 0), ("bidirectional", False),  # not an op: a name
        ):  # fmt: skip
            value = getattr(self, name)
            text += "" if value == plain else f", {name}={value}"
        return text


def _check_sizes(name, mode, hidden_size, num_layers, dropout, proj_size):
    problems = [
        (hidden_size < 1, "hidden_size", hidden_size, "1 or more"),
        (num_layers < 1, "num_layers", num_layers, "1 or more"),
        (not 0 <= dropout <= 1, "dropout", dropout, "a probability from 0 to 1"),  # not an op
        (proj_size < 0 or proj_size >= hidden_size > 0, "proj_size", proj_size,
         f"0 to hidden_size - 1 = {hidden_size - 1}"),
        (proj_size > 0 and mode != "LSTM", "proj_size", proj_size, "0: only an LSTM projects"),
    ]  # fmt: skip
    for wrong, what, got, expected in problems:
        if wrong:
            raise _lathe.ValueError(
                f"{what} is outside of what it may be", op=name, got=got, expected=expected,
                next=f"choose another {what}",
            )  # fmt: skip


class RNN(RNNBase):
    """Elman layers: h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu of it.

    Gives (outputs of the last layer, last h of every layer and direction).
    """

    @typed
    def __init__(
        self, input_size, hidden_size, num_layers=1, nonlinearity="tanh", bias=True,  # not an op
        batch_first=False, dropout=0.0, bidirectional=False, device=None, dtype=None,
    ):  # fmt: skip
        super().__init__(
            _rnn_mode("RNN", nonlinearity), input_size, hidden_size, num_layers, bias, batch_first,
            dropout, bidirectional, 0, device, dtype,
        )  # fmt: skip
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """Layers with the gates i, f, g, o: c' = f c + i g, h' = o tanh(c').

    Gives (outputs of the last layer, (last h, last c) of every layer and direction).
    """

    @typed
    def __init__(
        self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0,
        bidirectional=False, proj_size=0, device=None, dtype=None,
    ):  # fmt: skip
        super().__init__(
            "LSTM", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional,
            proj_size, device, dtype,
        )  # fmt: skip


class GRU(RNNBase):
    """Layers with the gates r, z, n: h' = (1 - z) n + z h, where r gates the part of n that is h's.

    Gives (outputs of the last layer, last h of every layer and direction).
    """

    @typed
    def __init__(
        self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0,
        bidirectional=False, device=None, dtype=None,
    ):  # fmt: skip
        super().__init__(
            "GRU", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional,
            0,
            device, dtype,
        )  # fmt: skip
