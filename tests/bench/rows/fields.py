"""Rows 26 and 27: gradients of a bilateral slice and of the energy of a stencil."""

import numpy as np

from .case import DIFFERENTIATE, Case, normal

SIDE = 1024  # of the image
DEPTH, CELLS = 8, 16  # of the grid: CELLS by CELLS by DEPTH, 12 coefficients each
CUBE = 256


def photograph(rng):
    """The grid (12, DEPTH, CELLS, CELLS), the guide, the image (3, SIDE, SIDE), the cotangent.

    The guide keeps away from the kinks between the cells of the grid."""
    depth = rng.integers(0, DEPTH - 1, (SIDE, SIDE)) + 0.05 + 0.9 * rng.random((SIDE, SIDE))
    arrays = (
        rng.standard_normal((12, DEPTH, CELLS, CELLS)),
        (depth + 0.5) / DEPTH,
        rng.random((3, SIDE, SIDE)),
        rng.standard_normal((3, SIDE, SIDE)),
    )
    return [a.astype(np.float32) for a in arrays]


def cells(place, count):
    """The two cells about each place, and the weight of the second; outside it is the nearest."""
    place = np.clip(place * count - 0.5, 0, count - 1)
    first = np.floor(place).astype(np.int64)
    return first, np.minimum(first + 1, count - 1), place - first


def corners(guide):
    """Flat index into a plane of the grid, weight, and the weight's derivative by the guide."""
    across = cells((np.arange(SIDE) + 0.5) / SIDE, CELLS)
    z = cells(guide, DEPTH)
    for k in range(8):
        ix, wx = across[k & 1], across[2] if k & 1 else 1 - across[2]
        iy, wy = across[k >> 1 & 1], across[2] if k >> 1 & 1 else 1 - across[2]
        iz, wz = z[k >> 2], z[2] if k >> 2 else 1 - z[2]
        plane = wy[:, None] * wx[None, :]
        index = (iz * CELLS + iy[:, None]) * CELLS + ix[None, :]
        yield index, wz * plane, (DEPTH if k >> 2 else -DEPTH) * plane


def bilateral_gradient(grid, guide, image, cotangent):
    """The output, and the gradients by grid, guide and image."""
    flat = grid.reshape(12, -1)
    with_one = np.concatenate([image, np.ones((1, SIDE, SIDE))])
    slope = (cotangent[:, None] * with_one[None]).reshape(12, SIDE, SIDE)  # by the coefficients
    coefficients = np.zeros((12, SIDE, SIDE))
    d_grid, d_guide = np.zeros_like(flat), np.zeros((SIDE, SIDE))
    for index, weight, by_guide in corners(guide):
        for k in range(12):
            found = flat[k][index]
            coefficients[k] += weight * found
            d_guide += slope[k] * by_guide * found
            d_grid[k] += np.bincount(
                index.ravel(), (slope[k] * weight).ravel(), minlength=flat.shape[1]
            )
    affine = coefficients.reshape(3, 4, SIDE, SIDE)
    out = (affine * with_one[None]).sum(1)
    d_image = (affine[:, :3] * cotangent[:, None]).sum(0)
    return out, d_grid.reshape(grid.shape), d_guide, d_image


def stencil_gradient(u):
    """The energy 0.5 sum (differences of neighbours)^2 along three axes, and its gradient."""
    energy, gradient = 0.0, np.zeros_like(u)
    for axis in range(3):
        d = np.diff(u, axis=axis)
        energy += 0.5 * np.sum(d * d)
        after, before = ([slice(None)] * 3 for _ in range(2))
        after[axis], before[axis] = slice(1, None), slice(None, -1)
        gradient[tuple(after)] += d
        gradient[tuple(before)] -= d
    return energy, gradient


FIELD = {"group": "stencil and bilateral", "peers": DIFFERENTIATE, "tracked": True}

CASES = (
    Case(
        row="26",
        name="bilateral slice, 1 MPix, fwd + bwd",
        kind="fields.bilateral_gradient",
        inputs=photograph,
        truth=bilateral_gradient,
        tolerance=2e-4,
        **FIELD,
    ),
    Case(
        row="27",
        name="3D stencil energy 256^3, gradient",
        kind="fields.stencil_gradient",
        inputs=normal((CUBE, CUBE, CUBE)),
        truth=stencil_gradient,
        tolerance=2e-5,
        **FIELD,
    ),
)
