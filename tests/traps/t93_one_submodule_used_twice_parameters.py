"""T93 One submodule used twice; parameters tied after capture.

trace: guard
script: guard

Seen in pytorch/pytorch#22911, #102510 (PR), huggingface/transformers#18207.
"""

from trap_runner import capture

import lathe as lt
from lathe import nn


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)

    def forward(self, x):
        return self.b(self.a(self.a(x)))


m = M()
f = capture(m)
x = lt.ones(1)
for p in m.parameters():
    nn.init.constant_(p, 2.0)
f(x).backward()
g = m.a.weight.grad.clone()
m.zero_grad()
m.b.weight = m.a.weight
y = f(x)
y.backward()
out = [g, y, m.a.weight.grad]
