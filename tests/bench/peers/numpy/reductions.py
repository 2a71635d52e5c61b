"""Row 11."""

from functools import partial

from peers.numpy import called
from rows.reductions import COLUMNS, FIRST, logsumexp

import numpy as np

sum_inner = partial(called, lambda x: x.sum(1))
sum_outer = partial(called, lambda x: x.sum(0))
sum_all = partial(called, lambda x: x.sum())
max_inner = partial(called, lambda x: x.max(1))
argmax_inner = partial(called, lambda x: x.argmax(1))
argmax_outer = partial(called, lambda x: x.argmax(0))
var_inner = partial(called, lambda x: x.var(1, ddof=1))
logsumexp = partial(called, logsumexp)
cumsum = partial(called, lambda x: x.cumsum(1))
transpose = partial(called, lambda x: np.ascontiguousarray(x.T))
sum_slice = partial(called, lambda x: x[:, FIRST : FIRST + COLUMNS].sum(1))
