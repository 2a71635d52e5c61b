"""T100 Eight threads at first capture, each with its own grad mode.

trace: equal
script: equal

Seen in pytorch/pytorch#168042, #111569, ml-explore/mlx#3638 (PR), jax-ml/jax#1055 (PR).
"""

import threading

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    return x * 2 + 1


res = {}


def work(i):
    with lt.set_grad_enabled(i % 2 == 0):
        res[i] = f(lt.full((1,), float(i), requires_grad=True))


ts = [threading.Thread(target=work, args=(i,)) for i in range(8)]
for t in ts:
    t.start()
for t in ts:
    t.join()
out = [(res[i].item(), res[i].requires_grad) for i in range(8)]
