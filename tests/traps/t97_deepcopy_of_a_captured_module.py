"""T97 deepcopy of a captured module.

trace: equal
script: equal

Seen in pytorch/pytorch#128121, #111503.
"""

import copy

from trap_runner import capture

import lathe as lt
from lathe import nn

m = nn.Linear(1, 1, bias=False)
nn.init.constant_(m.weight, 1.0)
f = capture(m)
x = lt.ones(1)
f(x)
g = copy.deepcopy(f)
nn.init.constant_(m.weight, 5.0)
out = [f(x), g(x)]
