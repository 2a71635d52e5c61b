"""PyTorch at the rows of networks: the text of examples/models with its imports changed.

Pictures and their models are in channels-last form. Inference is eager in inference mode, and as a
graph that is traced, frozen and optimised. torch.compile is left out, as in all rows.
"""

import re
from functools import partial
from types import ModuleType

from rows import networks as rows

import torch


def load(file):
    """The example as a module over PyTorch."""
    path = rows.EXAMPLES / f"{file}.py"
    module = ModuleType(file)
    text = re.sub(r"^(import|from) lathe\b", r"\1 torch", path.read_text(), flags=re.M)
    exec(compile(text, str(path), "exec"), vars(module))
    return module


def built(kind, arrays):
    """(model in evaluation mode, inputs)"""
    network = rows.NETWORKS[kind]
    example = load(network.file)
    model = example.build(network.size)
    state = rows.weights(model.state_dict())
    model.load_state_dict({name: torch.as_tensor(array) for name, array in state.items()})
    model = example.Decoder(model) if network.decodes else model
    return model.eval(), tuple(torch.from_numpy(a) for a in arrays)


def channels_last(model, inputs):
    def turned(x):
        picture = x.dim() == 4 and x.shape[1] == 3
        return x.to(memory_format=torch.channels_last) if picture else x

    return model.to(memory_format=torch.channels_last), tuple(turned(x) for x in inputs)


def step_of(model, x, wanted):
    model.train()
    optimizer = torch.optim.SGD(
        model.parameters(), lr=rows.RATE, momentum=rows.MOMENTUM, fused=True
    )

    def step():
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), wanted)
        loss.backward()
        optimizer.step()
        return loss

    return step


def evaluated(kind, *arrays):
    model, inputs = channels_last(*built(kind, arrays))
    graph = torch.jit.freeze(torch.jit.trace(model, inputs))
    graph = torch.jit.optimize_for_inference(graph)
    return {"eager": partial(model, *inputs), "graph": partial(graph, *inputs)}


def trained(kind, *arrays):
    model, inputs = channels_last(*built(kind, arrays))
    step = step_of(model, *inputs)
    step()  # the loss that is compared is one of changed weights
    return step


def __getattr__(kind):
    return partial(trained if rows.network(kind).trains else evaluated, kind)
