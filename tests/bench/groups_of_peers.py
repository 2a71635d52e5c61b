"""How many steps Inductor and ONNX Runtime make of the programs of groups.py.

    .deps/peers/bin/python tests/bench/groups_of_peers.py

Runs in the environment of the peers. Of Inductor (weights frozen where no gradient is asked for)
the calls that its generated wrappers make: its own kernels, and those of others. Of ONNX Runtime
the nodes of the graph it has optimised, those of loops once; it takes no gradients, and has no part
in two of the programs. Prints a line each; the last one has them all.
"""

import re
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from peers.torch import networks
from torch._inductor import config
from torch._inductor.utils import run_and_get_code

OWN = re.compile(r"^\s*(?:\w+ = )?cpp_fused\w*\(", re.M)
OTHERS = re.compile(r"^\s*(?:\w+ = )?(?:extern_kernels|torch\.ops)\.", re.M)


def steps(sources):
    """(its own, others') calls in the wrappers."""
    own = others = 0
    for source in sources:
        calls = source[source.index("def call(") :]
        own += len(OWN.findall(calls))
        others += len(OTHERS.findall(calls))
    return own, others


def nodes(graph):
    inner = [a.g for n in graph.node for a in n.attribute if a.HasField("g")]
    return len(graph.node) + sum(map(nodes, inner))


def of_onnx_runtime(model, inputs):
    with tempfile.TemporaryDirectory() as folder:
        plain, optimised = (str(Path(folder, name)) for name in ("plain.onnx", "optimised.onnx"))
        with torch.inference_mode(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # as in network_files.py
            torch.onnx.export(model, inputs, plain, dynamo=False, opset_version=20)
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.intra_op_num_threads = 1
        options.optimized_model_filepath = optimised
        options.log_severity_level = 3  # it warns of layouts of this processor in the file
        onnxruntime.InferenceSession(plain, options, providers=["CPUExecutionProvider"])
        return nodes(onnx.load(optimised, load_external_data=False).graph)


def made(file, name):
    example = networks.load(file)
    torch.manual_seed(0)
    *inputs, _ = example.batch(np.random.default_rng(0), name)
    return example.build(name).eval(), tuple(inputs)


def forward(file, name):
    model, inputs = made(file, name)
    with torch.no_grad(), config.patch(freezing=True):
        _, sources = run_and_get_code(torch.compile(model), *inputs)
    return steps(sources), of_onnx_runtime(model, inputs)


def gradients():
    model, _ = made("bert", "bert_base")
    layer = next(m for m in model.modules() if type(m).__name__ == "Layer")
    x, mask = torch.randn(1, 128, 768), torch.zeros(1, 1, 1, 128)
    parameters = list(layer.parameters())
    compiled = torch.compile(lambda x: (layer(x, mask) ** 2).sum())
    _, sources = run_and_get_code(lambda: torch.autograd.grad(compiled(x), parameters))
    return steps(sources), None


def adam():
    parameters = [torch.randn(64, 64, requires_grad=True) for _ in range(20)]
    optimizer = torch.optim.Adam(parameters)
    loss = torch.compile(lambda: sum((p * p).sum() for p in parameters))
    update = torch.compile(optimizer.step)

    def step():
        loss().backward()
        update()

    _, sources = run_and_get_code(step)
    return steps(sources), None


CASES = {
    "ResNet-50": lambda: forward("resnet", "resnet50"),
    "MobileNetV2": lambda: forward("mobilenet", "mobilenet_v2"),
    "BERT layer, gradients": gradients,
    "LSTM": lambda: forward("lstm", "lstm"),
    "Adam step of 20": adam,
}


def main():
    torch.set_num_threads(1)
    told = []
    for name, count in CASES.items():
        if len(sys.argv) > 1 and sys.argv[1] not in name:
            continue
        torch.compiler.reset()
        (own, others), onnx_runtime = count()
        told.append(f"{name} Inductor {own} + {others} of others, ONNX Runtime {onnx_runtime}")
        print(told[-1], flush=True)
    print("groups of peers:", "; ".join(told))


if __name__ == "__main__":
    main()
