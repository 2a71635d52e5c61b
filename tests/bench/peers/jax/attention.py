"""Row 15, composed."""

import math
from functools import partial

from peers.jax import compiled
from rows.attention import WIDTH

import jax
import jax.numpy as jnp


def composed(q, k, v, causal):
    scores = q @ jnp.swapaxes(k, -1, -2) / math.sqrt(WIDTH)
    if causal:
        scores = jnp.where(jnp.tri(*scores.shape[-2:], dtype=bool), scores, -jnp.inf)
    return jax.nn.softmax(scores, -1) @ v


full = partial(compiled, partial(composed, causal=False))
causal = partial(compiled, partial(composed, causal=True))
