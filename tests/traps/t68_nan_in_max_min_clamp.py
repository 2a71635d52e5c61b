"""T68 NaN in max, min, clamp, relu, argmin; monotone function under argmin.

trace: equal
script: equal

Seen in tensorflow/tensorflow#116436, #118675, #57744, r-xla/anvl#545.
"""

from trap_runner import capture

import lathe as lt

nan = float("nan")


@capture
def f(x, y):
    return (
        lt.maximum(x, y),
        lt.minimum(y, x),
        x.clamp(0, 1),
        lt.relu(x),
        x.max(),
        lt.fmax(x, y),
        lt.argmin(lt.relu(y[::2])),
        lt.argmin(y),
    )


out = [f(lt.tensor([nan, 1.0, -1.0]), lt.tensor([-5.0, nan, -7.0]))]
