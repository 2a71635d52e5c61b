"""Row 15."""

from functools import partial

from peers.lathe import ways

from lathe.nn.functional import scaled_dot_product_attention

full = partial(ways, lambda q, k, v: scaled_dot_product_attention(q, k, v))
causal = partial(ways, lambda q, k, v: scaled_dot_product_attention(q, k, v, is_causal=True))
