"""Rows 23 and 25: scans."""

from functools import partial

from peers.jax import compiled, pulled
from rows.loops import BATCH, CARRIES, ROUNDS, WIDTH

import jax
import jax.numpy as jnp


def scanned(x, wi, wh, b):
    def step(carry, row):
        h, c = carry
        i, f, g, o = jnp.split(row + h @ wh.T, 4, 1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zeros = jnp.zeros((BATCH, WIDTH), jnp.float32)
    return jax.lax.scan(step, (zeros, zeros), x @ wi.T + b)[1]


def lstm(x, wi, wh, b, _):
    return compiled(scanned, x, wi, wh, b)


lstm_gradient = partial(pulled, scanned)


def in_scalars(c, a, b):
    a, b = [a[k] for k in range(CARRIES)], [b[k] for k in range(CARRIES)]

    def step(c, _):
        after = (*c[1:], c[0])
        return tuple(x * v + y * w for x, v, y, w in zip(a, c, b, after)), None

    return jnp.stack(
        jax.lax.scan(step, tuple(c[k] for k in range(CARRIES)), None, length=ROUNDS)[0]
    )


def in_a_vector(c, a, b):
    return jax.lax.scan(lambda c, _: (a * c + b * jnp.roll(c, -1), None), c, None, ROUNDS)[0]


scalar_scan = partial(compiled, in_scalars)


def gradient(states, c, a, b):
    return compiled(jax.grad(lambda *s: (states(*s) ** 2).sum(), (0, 1, 2)), c, a, b)


scalar_scan_gradient = partial(gradient, in_scalars)
vector_scan_gradient = partial(gradient, in_a_vector)
