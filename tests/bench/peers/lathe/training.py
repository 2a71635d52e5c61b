"""Rows 16 and 17."""

from peers.lathe import tensors
from rows.training import BETAS, EPS, RATE

import lathe as lt
from lathe import nn


def adam_step(x, w1, b1, w2, b2, classes):
    x, w1, b1, w2, b2, classes = tensors((x, w1, b1, w2, b2, classes))

    def stepper():
        """A step with a model of its own."""
        model = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))
        model.load_state_dict({"0.weight": w1, "0.bias": b1, "2.weight": w2, "2.bias": b2})
        optimizer = lt.optim.Adam(model.parameters(), lr=RATE, betas=BETAS, eps=EPS)

        def step(x, classes):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), classes)
            loss.backward()
            optimizer.step()
            return loss

        return step

    eager, traced = stepper(), lt.trace(stepper())
    return {"eager": lambda: eager(x, classes), "traced": lambda: traced(x, classes)}


def adam(*arrays):
    half = len(arrays) // 2

    def stepper():
        parameters = [nn.Parameter(t) for t in tensors(arrays[:half])]
        for parameter, grad in zip(parameters, tensors(arrays[half:])):
            parameter.grad = grad
        optimizer = lt.optim.Adam(parameters, lr=RATE, betas=BETAS, eps=EPS)
        return parameters, lambda: optimizer.step()

    def run(parameters, step):
        step()
        return parameters[0], parameters[-1]

    eager, (parameters, step) = stepper(), stepper()
    traced = lt.trace(step)
    return {"eager": lambda: run(*eager), "traced": lambda: run(parameters, traced)}
