"""Row 24: recursion in Python over jitted cells (a jitted tree would be compiled for each tree)."""

from rows.trees import FOREST, WIDTH

import jax
import jax.numpy as jnp


@jax.jit
def leaf(x, w, b):
    i, o, t, _ = jnp.split(x @ w + b, 4, 1)
    c = jax.nn.sigmoid(i) * jnp.tanh(t)
    return jax.nn.sigmoid(o) * jnp.tanh(c), c


@jax.jit
def inner(x, h1, c1, h2, c2, w, b, u, v):
    z = x @ w + b
    i, o, t = jnp.split(z[:, : 3 * WIDTH] + (h1 + h2) @ u, 3, 1)
    zf = z[:, 3 * WIDTH :]
    f1, f2 = jax.nn.sigmoid(zf + h1 @ v), jax.nn.sigmoid(zf + h2 @ v)
    c = jax.nn.sigmoid(i) * jnp.tanh(t) + f1 * c1 + f2 * c2
    return jax.nn.sigmoid(o) * jnp.tanh(c), c


def states(tree, rows, w, b, u, v):
    """h and c of a tree's root."""
    number, children = tree
    if not children:
        return leaf(rows[number], w, b)
    (h1, c1), (h2, c2) = (states(child, rows, w, b, u, v) for child in children)
    return inner(rows[number], h1, c1, h2, c2, w, b, u, v)


def heads(weights, rows):
    return jnp.concatenate([states(tree, rows, *weights)[0] for tree in FOREST])


def roots(x, w, b, u, v, _):
    rows = [jnp.asarray(x[k : k + 1]) for k in range(len(x))]
    weights = [jnp.asarray(a) for a in (w, b, u, v)]
    return lambda: heads(weights, rows).block_until_ready()


def gradient(x, w, b, u, v, cotangents):
    rows = [jnp.asarray(x[k : k + 1]) for k in range(len(x))]
    weights = [jnp.asarray(a) for a in (w, b, u, v)]
    cotangents = jnp.asarray(cotangents)
    pull = jax.grad(lambda weights: (heads(weights, rows) * cotangents).sum())
    return lambda: jax.block_until_ready(pull(weights))
