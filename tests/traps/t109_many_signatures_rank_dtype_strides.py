"""T109 Many signatures: rank, dtype, strides, requires_grad, forty numbers.

trace: guard, never a silent fall-back to eager; in Lathe add tensors of device `sim`
script: guard

Seen in NVIDIA/TensorRT-LLM#6142, pytorch/pytorch#131505.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x, k):
    return x + k if k % 3 == 0 else x.sum(0) * k


xs = [
    lt.ones(2, 3),
    lt.ones(3, 2).t(),
    lt.ones(2, dtype=lt.float64),
    lt.ones(2, 2, 2, dtype=lt.int32),
    lt.ones(2, requires_grad=True),
]
rs = [f(x, k) for k in range(40) for x in xs]
out = [len(rs), rs[1], rs[12], rs[13], sum(r.double().sum().item() for r in rs)]
