"""JAX at the rows of encoders, written as functions of the weights by name."""

from functools import partial

from peers.torch import networks as of_torch
from rows import networks as rows

import jax
import jax.numpy as jnp


def linear(w, name, x):
    return x @ w[f"{name}.weight"] + w[f"{name}.bias"]


def norm(w, name, x):
    centred = x - x.mean(-1, keepdims=True)
    scale = jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
    return centred * scale * w[f"{name}.weight"] + w[f"{name}.bias"]


def attention(w, name, heads, x, mask):
    batch, length, width = x.shape
    q, k, v = (
        linear(w, f"{name}.{part}", x).reshape(batch, length, heads, -1).swapaxes(1, 2)
        for part in ("query", "key", "value")
    )
    scores = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5 + mask
    mixed = (jax.nn.softmax(scores, -1) @ v).swapaxes(1, 2)
    return linear(w, f"{name}.out", mixed.reshape(x.shape))


def encoder(layers, heads, w, tokens, kinds, mask):
    places = jnp.arange(tokens.shape[1])[None]
    x = w["words.weight"][tokens] + w["positions.weight"][places] + w["kinds.weight"][kinds]
    x = norm(w, "norm", x)
    mask = (1.0 - mask[:, None, None, :]) * -10000.0
    for i in range(layers):
        name = f"layers.{i}"
        x = norm(w, f"{name}.norm1", x + attention(w, f"{name}.attention", heads, x, mask))
        inner = jax.nn.gelu(linear(w, f"{name}.up", x), approximate=False)
        x = norm(w, f"{name}.norm2", x + linear(w, f"{name}.down", inner))
    return x, jnp.tanh(linear(w, "pooler", x[:, 0]))


def evaluated(kind, *arrays):
    model, _ = of_torch.built(kind, arrays)
    weights = {}
    for name, array in model.state_dict().items():
        lookup = name.partition(".")[0] in ("words", "positions", "kinds") or array.dim() < 2
        weights[name] = jnp.asarray(array.numpy() if lookup else array.numpy().T.copy())
    forward = partial(encoder, len(model.layers), model.layers[0].attention.heads)
    jitted = jax.jit(forward)
    inputs = [jnp.asarray(a) for a in arrays]
    return lambda: jax.block_until_ready(jitted(weights, *inputs))


def __getattr__(kind):
    rows.network(kind)
    return partial(evaluated, kind)
