"""The cases as ONNX models, which ONNX Runtime and OpenVINO both read."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Model:
    """Collects the nodes of one graph; `model()` is its serialised form."""

    def __init__(self):
        self.nodes, self.constants, self.inputs = [], [], []

    def input(self, array):
        name = f"x{len(self.inputs)}"
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape))
        return name

    def constant(self, value):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, np.float32), name))
        return name

    def node(self, kind, *inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

    def serialised(self, shape):
        """The last node gives the result, of this shape."""
        result = helper.make_tensor_value_info(self.nodes[-1].output[0], TensorProto.FLOAT, shape)
        graph = helper.make_graph(self.nodes, "case", self.inputs, [result], self.constants)
        opset = [helper.make_opsetid("", 20)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=9)
        onnx.checker.check_model(model)
        return model.SerializeToString()


def compiled_add(x):
    m = Model()
    m.node("Add", m.input(x), m.constant(1))
    return m.serialised(x.shape), [x]


def tanh_gelu(x):
    m = Model()
    v = m.input(x)
    cube = m.node("Mul", m.node("Mul", m.node("Mul", m.constant(0.044715), v), v), v)
    inner = m.node("Mul", m.constant(0.7978845608028654), m.node("Add", v, cube))
    outer = m.node("Add", m.constant(1), m.node("Tanh", inner))
    m.node("Mul", m.node("Mul", m.constant(0.5), v), outer)
    return m.serialised(x.shape), [x]


def softmax(x):
    m = Model()
    m.node("Softmax", m.input(x), axis=1)
    return m.serialised(x.shape), [x]


def linear_gelu_residual(x, w, b, r):
    m = Model()
    v, residual = m.input(x), m.input(r)
    h = m.node("Add", m.node("MatMul", v, m.constant(w)), m.constant(b))
    m.node("Add", m.node("Gelu", h), residual)
    return m.serialised(r.shape), [x, r]
