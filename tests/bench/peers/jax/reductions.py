"""Row 11."""

from functools import partial

from peers.jax import compiled
from rows.reductions import COLUMNS, FIRST

import jax
import jax.numpy as jnp

sum_inner = partial(compiled, lambda x: x.sum(1))
sum_outer = partial(compiled, lambda x: x.sum(0))
sum_all = partial(compiled, lambda x: x.sum())
max_inner = partial(compiled, lambda x: x.max(1))
argmax_inner = partial(compiled, lambda x: x.argmax(1))
argmax_outer = partial(compiled, lambda x: x.argmax(0))
var_inner = partial(compiled, lambda x: x.var(1, ddof=1))
logsumexp = partial(compiled, lambda x: jax.nn.logsumexp(x, 1))
cumsum = partial(compiled, lambda x: jnp.cumsum(x, 1))
transpose = partial(compiled, jnp.transpose)
sum_slice = partial(compiled, lambda x: x[:, FIRST : FIRST + COLUMNS].sum(1))
