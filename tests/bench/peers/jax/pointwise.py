"""Rows 5 to 7."""

from functools import partial

from peers.jax import compiled

import jax
import jax.numpy as jnp


def kept_add(a, b):
    """Into a buffer that is given away and comes back as the result."""
    add = jax.jit(lambda out, a, b: a + b, donate_argnums=0, keep_unused=True)
    a, b, out = jnp.asarray(a), jnp.asarray(b), jnp.zeros_like(a)

    def run():
        nonlocal out
        out = add(out, a, b)
        return out.block_until_ready()

    return run


def tanh_gelu(x):
    return compiled(
        lambda x: 0.5 * x * (1 + jnp.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))), x
    )


exp = partial(compiled, jnp.exp)
log = partial(compiled, jnp.log)
tanh = partial(compiled, jnp.tanh)
sin = partial(compiled, jnp.sin)
sigmoid = partial(compiled, jax.nn.sigmoid)
erf = partial(compiled, jax.lax.erf)
pow = partial(compiled, jnp.power)
