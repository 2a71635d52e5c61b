"""Rows 23 and 25."""

from peers.lathe import gradient_ways, tensors, ways
from rows.loops import BATCH, CARRIES, ROUNDS, WIDTH

import lathe as lt
from lathe import nn


def scanned(x, wi, wh, b):
    """The LSTM as a scan."""
    wi, wh = wi.t(), wh.t()

    def step(carry, row):
        h, c = carry
        i, f, g, o = (row @ wi + h @ wh + b).chunk(4, 1)
        c = lt.sigmoid(f) * c + lt.sigmoid(i) * lt.tanh(g)
        h = lt.sigmoid(o) * lt.tanh(c)
        return (h, c), h

    start = lt.zeros([BATCH, WIDTH])
    return lt.scan(step, (start, start), x)[1]


def looped(x, wi, wh, b):
    """The LSTM as a loop of Python, with the products of x before it."""
    h = c = lt.zeros([BATCH, WIDTH])
    wh, found = wh.t(), []
    for row in nn.functional.linear(x, wi, b):
        i, f, g, o = (row + h @ wh).chunk(4, 1)
        c = lt.sigmoid(f) * c + lt.sigmoid(i) * lt.tanh(g)
        h = lt.sigmoid(o) * lt.tanh(c)
        found.append(h)
    return lt.stack(found)


class Layer(nn.Module):
    """The outputs of an nn.LSTM."""

    def __init__(self, wi, wh, b):
        super().__init__()
        self.inner = nn.LSTM(WIDTH, WIDTH)
        wi, wh, b = tensors((wi, wh, b))
        state = {"weight_ih_l0": wi, "weight_hh_l0": wh, "bias_ih_l0": b}
        self.inner.load_state_dict(state | {"bias_hh_l0": lt.zeros_like(b)})

    def forward(self, x):
        return self.inner(x)[0]


def lstm(x, wi, wh, b, _):
    layer = Layer(wi, wh, b).requires_grad_(False)
    (row,) = tensors((x,))
    frozen = lt.freeze(layer, row)
    return {
        **{f"layer {name}": way for name, way in ways(layer, x).items()},
        **{f"loop {name}": way for name, way in ways(looped, x, wi, wh, b).items()},
        "scan traced": ways(scanned, x, wi, wh, b)["traced"],
        "layer frozen": lambda: frozen(row),
    }


def lstm_gradient(x, wi, wh, b, cotangent):
    layer = Layer(wi, wh, b)
    x_, cotangent_ = tensors((x, cotangent))
    x_.requires_grad_()
    inner, traced = layer.inner, lt.trace(layer)
    leaves = [x_, inner.weight_ih_l0, inner.weight_hh_l0, inner.bias_ih_l0]

    def pulled(model):
        y = model(x_)
        return (y, *lt.autograd.grad(y, leaves, cotangent_))

    by_loop = gradient_ways(looped, x, wi, wh, b, cotangent)
    by_scan = gradient_ways(scanned, x, wi, wh, b, cotangent)
    return {
        "layer eager": lambda: pulled(layer),
        "layer traced": lambda: pulled(traced),
        "step traced": lt.trace(lambda: pulled(layer)),
        "loop eager": by_loop["eager"],
        "loop traced": by_loop["traced"],
        "scan traced": by_scan["function traced"],  # of a captured loop the gradient is outside
    }


# ── row 25 ──────────────────────────────────────────────────────────────────────────────────────


def in_scalars(c, a, b):
    a, b = [a[k] for k in range(CARRIES)], [b[k] for k in range(CARRIES)]

    def step(c, _):
        after = (*c[1:], c[0])
        return tuple(x * v + y * w for x, v, y, w in zip(a, c, b, after)), None

    start = tuple(c[k] for k in range(CARRIES))
    return lt.stack(lt.scan(step, start, length=ROUNDS)[0])


def in_a_vector(c, a, b):
    return lt.scan(lambda c, _: (a * c + b * lt.roll(c, -1), None), c, length=ROUNDS)[0]


def scalar_scan(c, a, b):
    return {"traced": ways(in_scalars, c, a, b)["traced"]}


def by_squares(states, *arrays):
    """The gradients of the squares of the last state, of a traced function."""
    leaves = [t.requires_grad_() for t in tensors(arrays)]
    return lambda: lt.autograd.grad(states(*leaves), leaves)


def scalar_scan_gradient(c, a, b):
    return {"traced": by_squares(lt.trace(lambda *s: (in_scalars(*s) ** 2).sum()), c, a, b)}


def vector_scan_gradient(c, a, b):
    def squares(*s):
        return (in_a_vector(*s) ** 2).sum()

    return {
        "eager": by_squares(squares, c, a, b),
        "traced": by_squares(lt.trace(squares), c, a, b),
    }
