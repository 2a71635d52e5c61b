"""T92 Parameter replaced, then removed.

trace: guard
script: guard

Seen in pytorch/pytorch#120958, #129362.
"""

from trap_runner import capture

import lathe as lt
from lathe import nn

m = nn.Linear(1, 1)
f = capture(m)
x = lt.ones(1)


def put(w, b):
    m.weight = nn.Parameter(lt.full((1, 1), w))
    m.bias = b


put(2.0, nn.Parameter(lt.ones(1)))
a = f(x)
put(5.0, nn.Parameter(lt.ones(1)))
b = f(x)
m.bias = None
out = [a, b, f(x)]
