"""Rows 26 and 27: the slice as eight gathers, the stencil as differences of slices."""

from functools import partial

from peers.jax import compiled, pulled
from rows.fields import CELLS, DEPTH, SIDE

import jax
import jax.numpy as jnp


def cells(place, count):
    """The two cells about each place, and the weight of the second."""
    place = jnp.clip(place * count - 0.5, 0, count - 1)
    first = jnp.floor(place).astype(jnp.int32)
    return first, jnp.minimum(first + 1, count - 1), place - first


def sliced(grid, guide, image):
    """The 12 coefficients of a cell side by side: three times as fast as plane by plane."""
    flat = jnp.moveaxis(grid.reshape(12, -1), 0, -1)
    across = cells((jnp.arange(SIDE, dtype=jnp.float32) + 0.5) / SIDE, CELLS)
    x0, x1, wx = across
    y0, y1, wy = (t[:, None] for t in across)
    z0, z1, wz = cells(guide, DEPTH)
    found = 0.0
    for z, a in ((z0, 1 - wz), (z1, wz)):
        for y, b in ((y0, 1 - wy), (y1, wy)):
            for x, c in ((x0, 1 - wx), (x1, wx)):
                cell = jnp.take(flat, (z * CELLS + y) * CELLS + x, axis=0)
                found = found + (a * b * c)[..., None] * cell
    affine = found.reshape(SIDE, SIDE, 3, 4)
    colours = jnp.moveaxis(image, 0, -1)[:, :, None]
    return jnp.moveaxis((affine[..., :3] * colours).sum(-1) + affine[..., 3], -1, 0)


bilateral_gradient = partial(pulled, sliced)


def energy(u):
    x, y, z = u[1:] - u[:-1], u[:, 1:] - u[:, :-1], u[:, :, 1:] - u[:, :, :-1]
    return 0.5 * ((x * x).sum() + (y * y).sum() + (z * z).sum())


stencil_gradient = partial(compiled, jax.value_and_grad(energy))
