"""Row 11."""

from functools import partial

from peers.lathe import ways
from rows.reductions import COLUMNS, FIRST

import lathe as lt

sum_inner = partial(ways, lambda x: x.sum(1))
sum_outer = partial(ways, lambda x: x.sum(0))
sum_all = partial(ways, lambda x: x.sum())
max_inner = partial(ways, lambda x: lt.amax(x, 1))
argmax_inner = partial(ways, lambda x: x.argmax(1))
argmax_outer = partial(ways, lambda x: x.argmax(0))
var_inner = partial(ways, lambda x: x.var(1))
logsumexp = partial(ways, lambda x: lt.logsumexp(x, 1))
cumsum = partial(ways, lambda x: x.cumsum(1))
transpose = partial(ways, lambda x: x.t().contiguous())
sum_slice = partial(ways, lambda x: x[:, FIRST : FIRST + COLUMNS].sum(1))
