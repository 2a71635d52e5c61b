"""Makes what the rows of networks need of PyTorch: the ONNX file, and the truth in float64.

python network_files.py KIND FILE.onnx FILE.npz
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import torch
from peers.torch import networks
from rows.networks import NETWORKS


def main(kind, onnx, truth):
    network = NETWORKS[kind]
    arrays = network.inputs(np.random.default_rng(20))
    Path(onnx).parent.mkdir(parents=True, exist_ok=True)
    model, inputs = networks.built(kind, arrays)
    if not network.trains:
        with torch.inference_mode(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # this exporter is the old one, which needs no package
            torch.onnx.export(model, inputs, onnx, dynamo=False, opset_version=20)
    model = model.double()
    inputs = tuple(x.double() if x.is_floating_point() else x for x in inputs)
    if network.trains:
        step = networks.step_of(model, *inputs)
        step()
        result = step()
    else:
        with torch.inference_mode():
            result = model(*inputs)
    results = result if isinstance(result, tuple) else (result,)
    np.savez(truth, *(r.detach().numpy() for r in results))


if __name__ == "__main__":
    main(*sys.argv[1:])
