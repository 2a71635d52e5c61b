"""T106 Function redefined at the prompt; __code__ replaced.

trace: guard
script: refuse (no source text)

Seen in pytorch/pytorch#197860, jax-ml/jax#28225.
"""

from trap_runner import capture

import lathe as lt

out = []
for k in (2, 9):
    exec(compile(f"@capture\ndef f(x): return x * {k}\n", "<stdin>", "exec"))  # !s
    out.append(f(lt.ones(1)))


def g(x):
    return x - 1


h = capture(g)
out.append(h(lt.ones(1)))
g.__code__ = (lambda x: x + 5).__code__
out.append(h(lt.ones(1)))
