"""T40 Dropout: new mask every call, same stream as eager.

trace: equal
script: equal

Seen in tinygrad/tinygrad#1957, pytorch/pytorch#172206, jax-ml/jax#4312 (PR).
"""

from trap_runner import capture

import lathe as lt
import lathe.nn.functional as F


@capture
def f(x):
    return F.dropout(x, 0.5)


lt.manual_seed(0)
a, b = f(lt.ones(64)), f(lt.ones(64))
lt.manual_seed(0)
c, d = F.dropout(lt.ones(64), 0.5), F.dropout(lt.ones(64), 0.5)
out = [a.equal(b), a.equal(c), b.equal(d)]
