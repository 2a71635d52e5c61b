"""T67 Inverse pairs: log(exp), sqrt(x*x), exp*exp, 1/(1/x), log(x**y).

trace: equal
script: equal

Seen in jax-ml/jax#38099, #37919, #7701, openxla/xla#42732, tensorflow/tensorflow#123169, #119429.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    return lt.log(lt.exp(x)), lt.sqrt(x * x), lt.exp(x) * lt.exp(-x), 1 / (1 / x), lt.log(x**x)


out = [f(lt.tensor([89.0, -110.0, 3e38, 0.0, 1e-45]))]
