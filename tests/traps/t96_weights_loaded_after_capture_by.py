"""T96 Weights loaded after capture, by copy and by assignment.

trace: equal
script: equal

Seen in pytorch/pytorch#129362.
"""

from trap_runner import capture

import lathe as lt
from lathe import nn

m = nn.Linear(1, 1, bias=False)
f = capture(m)
x = lt.ones(1)
f(x)
m.load_state_dict({"weight": lt.full((1, 1), 3.0)})
a = f(x)
m.load_state_dict({"weight": lt.full((1, 1), 4.0)}, assign=True)
out = [a, f(x)]
