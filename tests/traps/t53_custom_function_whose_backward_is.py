"""T53 Custom Function whose backward is not the derivative.

trace: equal
script: refuse

Seen in pytorch/pytorch#159299, #107824, #76185, #154820.
"""

from trap_runner import capture

import lathe as lt


class STE(lt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return g * 7


@capture
def f(x):
    return STE.apply(x) * 2  # !s


x = lt.tensor([0.4, 0.6], requires_grad=True)
f(x).sum().backward()
out = [x.grad]
