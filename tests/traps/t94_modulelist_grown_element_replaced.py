"""T94 ModuleList grown, element replaced.

trace: guard
script: guard

Seen in pytorch/pytorch#120958.
"""

from trap_runner import capture

import lathe as lt
from lathe import nn


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.ls = nn.ModuleList([nn.ReLU()])

    def forward(self, x):
        for l in self.ls:
            x = l(x) + 1
        return x


m = M()
f = capture(m)
x = lt.zeros(1)
a = f(x)
m.ls.append(nn.ReLU())
b = f(x)
m.ls[0] = nn.Hardtanh(5.0, 6.0)
out = [a, b, f(x)]
