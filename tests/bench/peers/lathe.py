"""Lathe itself: eager, and traced where a compiled function is compared."""

import operator
from functools import partial

import lathe as lt
from lathe import nn


def tensors(arrays):
    return [lt.tensor(a) for a in arrays]


def add(a, b):
    a, b = tensors((a, b))
    return partial(operator.add, a, b)


def tracked_add(a, b):
    a, b = (t.requires_grad_() for t in tensors((a, b)))
    return partial(operator.add, a, b)


def product_gradient(x, w):
    x, w = tensors((x, w))

    def by_w(x, w):
        w = w.detach().requires_grad_()
        return lt.autograd.grad((x * w).sum(), [w])[0]

    traced = lt.trace(by_w)
    return {"eager": lambda: by_w(x, w), "traced": lambda: traced(x, w)}


def compiled_add(x):
    (x,) = tensors((x,))
    traced = lt.trace(lambda x: x + 1)
    return lambda: traced(x)


def sgd_step(x, y, w1, b1, w2, b2):
    x, y, w1, b1, w2, b2 = tensors((x, y, w1, b1, w2, b2))
    model = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1))
    model.load_state_dict(
        {"0.weight": w1.T.clone(), "0.bias": b1, "2.weight": w2.T.clone(), "2.bias": b2}
    )
    optimizer = lt.optim.SGD(model.parameters(), lr=0.01)

    @lt.trace
    def step(x, y):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return lambda: step(x, y)


def tanh_gelu(x):
    (x,) = tensors((x,))

    @lt.trace
    def traced(x):
        return 0.5 * x * (1 + lt.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))

    return lambda: traced(x)


def softmax(x):
    (x,) = tensors((x,))
    traced = lt.trace(lambda x: lt.softmax(x, 1))
    return {"eager": lambda: lt.softmax(x, 1), "traced": lambda: traced(x)}


class Block(nn.Module):
    """gelu(x @ w + b) + r with weights of its own, as a model has them."""

    def __init__(self, w, b):
        super().__init__()
        self.w, self.b = nn.Parameter(w), nn.Parameter(b)

    def forward(self, x, r):
        return lt.gelu(x @ self.w + self.b) + r


def linear_gelu_residual(x, w, b, r):
    x, w, b, r = tensors((x, w, b, r))
    traced = lt.trace(lambda x, w, b, r: lt.gelu(x @ w + b) + r)
    frozen = lt.freeze(Block(w, b), x, r)  # what ONNX Runtime and OpenVINO compile is frozen too
    return {"traced": lambda: traced(x, w, b, r), "frozen": lambda: frozen(x, r)}


def to_numpy(result):
    return result.detach().numpy()
