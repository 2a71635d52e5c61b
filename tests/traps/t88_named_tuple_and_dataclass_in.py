"""T88 Named tuple and dataclass, in and out.

trace: equal
script: equal

Seen in pytorch/pytorch#161610, #191821.
"""

import collections, dataclasses

from trap_runner import capture

import lathe as lt

P = collections.namedtuple("P", "a b")


@dataclasses.dataclass
class D:
    h: lt.Tensor


@capture
def f(p, d):
    return P(p.b + d.h, p.a), D(d.h * 2)


q, e = f(P(lt.ones(1), lt.zeros(1)), D(lt.ones(1)))
out = [type(q).__name__, q.a, q.b, type(e).__name__, e.h]
