"""The cases as ONNX models, which ONNX Runtime and OpenVINO both read.

Each function gives (model, inputs): the serialised model, and the arrays that it takes.
"""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Model:
    """Collects the nodes of one graph; `serialised()` ends it."""

    def __init__(self):
        self.nodes, self.constants, self.inputs = [], [], []

    def input(self, array):
        name = f"x{len(self.inputs)}"
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape))
        return name

    def constant(self, value, dtype=np.float32):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def integers(self, *values):
        return self.constant(values, np.int64)

    def node(self, kind, *inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

    def serialised(self, shape, element=TensorProto.FLOAT):
        """The last node gives the result, of this shape."""
        result = helper.make_tensor_value_info(self.nodes[-1].output[0], element, shape)
        graph = helper.make_graph(self.nodes, "case", self.inputs, [result], self.constants)
        opset = [helper.make_opsetid("", 20)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=9)
        onnx.checker.check_model(model)
        return model.SerializeToString()
