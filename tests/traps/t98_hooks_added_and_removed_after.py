"""T98 Hooks added and removed after capture.

trace: refuse (forward hook: guard)
script: refuse

Seen in pytorch/pytorch#117758, #117265, #115750.
"""

from trap_runner import capture

import lathe as lt
from lathe import nn

m = nn.Linear(1, 1, bias=False)
nn.init.constant_(m.weight, 2.0)
f = capture(m)
x = lt.ones(1, requires_grad=True)
a = f(x)
h = m.register_forward_hook(lambda m, i, o: o * 10)
b = f(x)
h.remove()
m.register_full_backward_hook(lambda m, gi, go: (gi[0] * 100,))  # !ts
f(x).sum().backward()
out = [a, b, x.grad]
