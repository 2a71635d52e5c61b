"""Rows 16 and 17: Adam written out, its state given away and taken back."""

from rows.training import BETAS, EPS, RATE

import jax
import jax.numpy as jnp


def updated(state, grads):
    """The state (step, parameters, first and second moments) after a step."""
    step, parameters, firsts, seconds = state
    step = step + 1
    rate = RATE * jnp.sqrt(1 - BETAS[1] ** step) / (1 - BETAS[0] ** step)
    eps = EPS * jnp.sqrt(1 - BETAS[1] ** step)
    firsts = [BETAS[0] * m + (1 - BETAS[0]) * g for m, g in zip(firsts, grads)]
    seconds = [BETAS[1] * v + (1 - BETAS[1]) * g * g for v, g in zip(seconds, grads)]
    moved = zip(parameters, firsts, seconds)
    return step, [p - rate * m / (jnp.sqrt(v) + eps) for p, m, v in moved], firsts, seconds


def start(arrays):
    return (
        jnp.float32(0),
        [jnp.array(a) for a in arrays],
        [jnp.zeros_like(a) for a in arrays],
        [jnp.zeros_like(a) for a in arrays],
    )


def adam_step(x, w1, b1, w2, b2, classes):
    def loss_of(parameters, x, classes):
        w1, b1, w2, b2 = parameters
        scores = jax.nn.log_softmax(jax.nn.relu(x @ w1 + b1) @ w2 + b2, 1)
        return -jnp.take_along_axis(scores, classes[:, None], 1).mean()

    def step(state, x, classes):
        loss, grads = jax.value_and_grad(loss_of)(state[1], x, classes)
        return updated(state, grads), loss

    jitted = jax.jit(step, donate_argnums=0)
    x, classes = jnp.asarray(x), jnp.asarray(classes)
    state = start((w1.T, b1, w2.T, b2))

    def run():
        nonlocal state
        state, loss = jitted(state, x, classes)
        return loss.block_until_ready()

    return run


def adam(*arrays):
    half = len(arrays) // 2
    jitted = jax.jit(updated, donate_argnums=0)
    grads = [jnp.asarray(a) for a in arrays[half:]]
    state = start(arrays[:half])

    def run():
        nonlocal state
        state = jax.block_until_ready(jitted(state, grads))
        return state[1][0], state[1][-1]

    return run
