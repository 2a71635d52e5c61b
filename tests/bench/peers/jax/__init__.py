"""JAX on the CPU: jit, blocking until ready, training state donated, no asynchronous dispatch."""

import os
from functools import partial

from peers.threads import COUNT

if COUNT == 1:  # else as many as there are cores, which run.py limits to these
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import numpy as np  # noqa: E402
from peers.find import find as found  # noqa: E402

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

jax.config.update("jax_cpu_enable_async_dispatch", False)
find = partial(found, "peers.jax")


def compiled(function, *arrays):
    jitted = jax.jit(function)
    arrays = [jnp.asarray(a) for a in arrays]
    if isinstance(jitted(*arrays), tuple):
        return lambda: jax.block_until_ready(jitted(*arrays))
    return lambda: jitted(*arrays).block_until_ready()


def pulled(function, *arrays):
    """The function of all arrays but the last, and its gradients by them; the last is the
    cotangent."""

    def both(*arrays):
        *args, cotangent = arrays
        y, gradient = jax.vjp(function, *args)
        return (y, *gradient(cotangent))

    return compiled(both, *arrays)


def to_numpy(result):
    return np.asarray(result)
