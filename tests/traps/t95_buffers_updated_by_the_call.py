"""T95 Buffers updated by the call, rebound outside, then eval.

trace: guard
script: guard

Seen in pytorch/pytorch#115774, #140539.
"""

from trap_runner import capture

import lathe as lt
from lathe import nn

m = nn.BatchNorm1d(1, momentum=0.5)
f = capture(m)
x = lt.tensor([[0.0], [2.0]])
f(x)
f(x + 4)
a = m.running_mean.clone()
n = m.num_batches_tracked.clone()
m.running_mean = lt.zeros(1)
f(x)
b = m.running_mean.clone()
m.eval()
out = [a, n, b, f(x)]
