"""JAX on the CPU: jit, blocking until ready, training state donated, no asynchronous dispatch."""

import os

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

jax.config.update("jax_cpu_enable_async_dispatch", False)


def compiled(function, *arrays):
    jitted = jax.jit(function)
    arrays = [jnp.asarray(a) for a in arrays]
    return lambda: jitted(*arrays).block_until_ready()


def product_gradient(x, w):
    return compiled(jax.grad(lambda w, x: (x * w).sum()), w, x)


def sgd_step(x, y, *weights):
    def loss_of(weights, x, y):
        w1, b1, w2, b2 = weights
        return jnp.mean((jnp.tanh(x @ w1 + b1) @ w2 + b2 - y) ** 2)

    def step(weights, x, y):
        loss, grads = jax.value_and_grad(loss_of)(weights, x, y)
        return [w - 0.01 * g for w, g in zip(weights, grads)], loss

    jitted = jax.jit(step, donate_argnums=0)
    x, y = jnp.asarray(x), jnp.asarray(y)
    state = [jnp.array(w) for w in weights]

    def run():
        nonlocal state
        state, loss = jitted(state, x, y)
        return loss.block_until_ready()

    return run


def tanh_gelu(x):
    return compiled(
        lambda x: 0.5 * x * (1 + jnp.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))), x
    )


def softmax(x):
    return compiled(lambda x: jax.nn.softmax(x, 1), x)


def linear_gelu_residual(x, w, b, r):
    return compiled(lambda x, w, b, r: jax.nn.gelu(x @ w + b, approximate=False) + r, x, w, b, r)


def to_numpy(result):
    import numpy as np

    return np.asarray(result)
