"""OpenVINO: the same ONNX models, one stream, latency mode, float32 throughout."""

from functools import partial

import openvino
from peers.find import find as found
from peers.threads import COUNT

CORE = openvino.Core()
SETTINGS = {
    "PERFORMANCE_HINT": "LATENCY",
    "INFERENCE_NUM_THREADS": COUNT,
    "NUM_STREAMS": 1,
    "INFERENCE_PRECISION_HINT": "f32",  # the default on this kind of CPU is bf16
}


def bound(model, inputs):
    compiled = CORE.compile_model(CORE.read_model(model), "CPU", SETTINGS)
    request = compiled.create_infer_request()
    for place, array in enumerate(inputs):
        request.set_input_tensor(place, openvino.Tensor(array, shared_memory=True))

    results = [partial(request.get_output_tensor, i) for i in range(len(compiled.outputs))]

    def run(_keep=inputs):  # a shared tensor does not keep the array it reads
        request.infer()
        return results

    return run


def find(kind):
    make = found("peers.models", kind)
    return lambda *arrays: bound(*make(*arrays))


def to_numpy(result):
    return result().data
