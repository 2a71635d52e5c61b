"""T64 Long sums and low-precision accumulation: eager = graph, call 1 = call 2.

trace: equal
script: equal

Seen in pytorch/pytorch#154703, #88718, #74534.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x, h):
    return x.sum(), x.mean(), x.cumsum(0)[-1], h.sum(), h @ h


x = lt.arange(100003, dtype=lt.float32) * 0.1
h = (x[:4099] / 512).to(lt.bfloat16)
a, b = f(x, h), f(x, h)
r = x.sum(), x.mean(), x.cumsum(0)[-1], h.sum(), h @ h
out = [p.equal(q) for p, q in zip(a, r)] + [p.equal(q) for p, q in zip(a, b)]
