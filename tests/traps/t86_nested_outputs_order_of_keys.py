"""T86 Nested outputs: order of keys, None, numbers, text.

trace: equal
script: equal

Seen in pytorch/pytorch#89374, jax-ml/jax#24398.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    return {"b": (x, [x + 1, None]), "a": {"n": 3, "s": "k", "shape": tuple(x.shape)}}


r, q = f(lt.ones(2)), f(lt.ones(3))
out = [list(r), r, q]
