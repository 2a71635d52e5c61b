"""Lathe at the rows of networks: eager, traced and frozen; eager and traced in training."""

import sys
from functools import partial

from rows import networks as rows

import lathe as lt

sys.path.insert(0, str(rows.EXAMPLES.parent))
from models.gpt2 import Decoder  # noqa: E402
from models.run import FILES  # noqa: E402


def built(kind, arrays):
    """(model in evaluation mode, inputs)"""
    network = rows.NETWORKS[kind]
    model = FILES[network.size].build(network.size)
    state = rows.weights(model.state_dict())
    model.load_state_dict({name: lt.tensor(array) for name, array in state.items()})
    model = Decoder(model) if network.decodes else model
    return model.eval(), tuple(lt.tensor(a) for a in arrays)


def untracked(call, *inputs):
    with lt.inference_mode():
        return call(*inputs)


def evaluated(kind, *arrays):
    model, inputs = built(kind, arrays)
    ways = {"eager": model, "traced": lt.trace(model), "frozen": lt.freeze(model, *inputs)}
    return {name: partial(untracked, call, *inputs) for name, call in ways.items()}


def step_of(model):
    optimizer = lt.optim.SGD(model.train().parameters(), lr=rows.RATE, momentum=rows.MOMENTUM)

    def step(x, wanted):
        optimizer.zero_grad()
        loss = lt.nn.functional.cross_entropy(model(x), wanted)
        loss.backward()
        optimizer.step()
        return loss

    return step


def trained(kind, *arrays):
    ways = {}
    for name, wrap in (("eager", lambda step: step), ("traced", lt.trace)):
        model, inputs = built(kind, arrays)
        ways[name] = partial(wrap(step_of(model)), *inputs)
        ways[name]()  # the loss that is compared is one of changed weights
    return ways


def __getattr__(kind):
    return partial(trained if rows.network(kind).trains else evaluated, kind)
