"""T56 backward() inside: accumulation into .grad.

trace: equal
script: refuse

Seen in pytorch/pytorch#91468, #112446.
"""

from trap_runner import capture

import lathe as lt

w = lt.ones(1, requires_grad=True)


@capture
def step(x):
    loss = (w * x).sum()
    loss.backward()  # !s
    return loss.detach()


out = [step(lt.ones(1)), step(lt.full((1,), 3.0)), w.grad]
