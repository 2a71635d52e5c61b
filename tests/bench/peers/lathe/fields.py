"""Rows 26 and 27."""

from peers.lathe import gradient_ways, ways
from rows.fields import CELLS, DEPTH, SIDE

import lathe as lt
from lathe.nn import functional as F


def cells(place, count):
    """The two cells about each place, and the weight of the second."""
    place = lt.clamp(place * count - 0.5, 0, count - 1)
    first = lt.floor(place)
    second = lt.clamp(first + 1, max=count - 1)
    return first.long(), second.long(), place - first


def applied(coefficients, image):
    """The affine map of three colours that each pixel has in its 12 coefficients."""
    affine = coefficients.reshape(3, 4, SIDE, SIDE)
    return (affine[:, :3] * image).sum(1) + affine[:, 3]


def corners(guide):
    """The cells about each pixel: z, y, x and weight."""
    across = cells((lt.arange(SIDE, dtype=lt.float32) + 0.5) / SIDE, CELLS)
    x0, x1, wx = across
    y0, y1, wy = (t[:, None] for t in across)
    z0, z1, wz = cells(guide, DEPTH)
    for z, a in ((z0, 1 - wz), (z1, wz)):
        for y, b in ((y0, 1 - wy), (y1, wy)):
            for x, c in ((x0, 1 - wx), (x1, wx)):
                yield z, y, x, a * b * c


def gathered(grid, guide, image):
    """The slice as eight gathers from each plane."""
    return applied(sum(w * grid[:, z, y, x] for z, y, x, w in corners(guide)), image)


def sampled(grid, guide, image):
    """The slice as one grid_sample."""
    across = (lt.arange(SIDE, dtype=lt.float32) + 0.5) * (2 / SIDE) - 1
    x, y = across.expand(SIDE, SIDE), across[:, None].expand(SIDE, SIDE)
    places = lt.stack([x, y, 2 * guide - 1], -1)[None, None]
    found = F.grid_sample(grid[None], places, padding_mode="border", align_corners=False)
    return applied(found[0, :, 0], image)


def bilateral_gradient(*arrays):
    slices = {"gather": gathered, "grid_sample": sampled}
    return {
        f"{name}, traced": gradient_ways(function, *arrays)["traced"]
        for name, function in slices.items()
    }


def energy(u):
    x, y, z = u[1:] - u[:-1], u[:, 1:] - u[:, :-1], u[:, :, 1:] - u[:, :, :-1]
    return 0.5 * ((x * x).sum() + (y * y).sum() + (z * z).sum())


def stencil_gradient(u):
    def both(u):
        u = u.detach().requires_grad_()
        found = energy(u)
        return found.detach(), lt.autograd.grad(found, [u])[0]

    return ways(both, u)
