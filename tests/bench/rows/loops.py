"""Rows 23 and 25: an LSTM written as a loop, and gradients through a scan of many rounds."""

import numpy as np

from .case import DIFFERENTIATE, EVERYBODY, Case, sigmoid

STEPS, BATCH, WIDTH = 64, 16, 128
CARRIES, ROUNDS = 60, 614


# ── row 23: gates i, f, g, o; weights as PyTorch keeps them ─────────────────────────────────────


def sequence(rng):
    """x, weights of x, of h, bias, and the cotangent of the outputs."""
    shapes = ((STEPS, BATCH, WIDTH), (4 * WIDTH, WIDTH), (4 * WIDTH, WIDTH), (4 * WIDTH,))
    arrays = [rng.standard_normal(s) * scale for s, scale in zip(shapes, (1, 0.08, 0.08, 0.08))]
    return [a.astype(np.float32) for a in (*arrays, rng.standard_normal(shapes[0]))]


def lstm_steps(x, wi, wh, b):
    """(h before, c before, i, f, g, o, c, h) of each step."""
    h = c = np.zeros((BATCH, WIDTH))
    for row in x:
        z = row @ wi.T + h @ wh.T + b
        i, f, o = (sigmoid(z[:, k * WIDTH : (k + 1) * WIDTH]) for k in (0, 1, 3))
        g = np.tanh(z[:, 2 * WIDTH : 3 * WIDTH])
        before = h, c
        c = f * c + i * g
        h = o * np.tanh(c)
        yield (*before, i, f, g, o, c, h)


def lstm(x, wi, wh, b):
    return np.stack([step[-1] for step in lstm_steps(x, wi, wh, b)])


def lstm_gradient(x, wi, wh, b, cotangent):
    """The outputs, and the gradients by x, both weights and the bias."""
    steps = list(lstm_steps(x, wi, wh, b))
    dx, dwi, dwh, db = np.zeros_like(x), np.zeros_like(wi), np.zeros_like(wh), np.zeros_like(b)
    dh = dc = np.zeros((BATCH, WIDTH))
    for t in reversed(range(STEPS)):
        h0, c0, i, f, g, o, c, _ = steps[t]
        dh = dh + cotangent[t]
        dc = dc + dh * o * (1 - np.tanh(c) ** 2)
        dz = np.concatenate(
            [
                dc * g * i * (1 - i),
                dc * c0 * f * (1 - f),
                dc * i * (1 - g * g),
                dh * np.tanh(c) * o * (1 - o),
            ],
            1,
        )
        dx[t] = dz @ wi
        dwi += dz.T @ x[t]
        dwh += dz.T @ h0
        db += dz.sum(0)
        dh, dc = dz @ wh, dc * f
    return np.stack([s[-1] for s in steps]), dx, dwi, dwh, db


# ── row 25: c[k] = a[k] c[k] + b[k] c[k + 1], ROUNDS times ──────────────────────────────────────


def coupled(rng):
    """c, a and b."""
    arrays = (
        rng.standard_normal(CARRIES),
        1 - 1e-3 * rng.random(CARRIES),
        1e-3 * rng.standard_normal(CARRIES),
    )
    return [a.astype(np.float32) for a in arrays]


def states(c, a, b):
    found = [c]
    for _ in range(ROUNDS):
        found.append(a * found[-1] + b * np.roll(found[-1], -1))
    return found


def scan(c, a, b):
    return states(c, a, b)[-1]


def scan_gradient(c, a, b):
    """The gradients of the last state's squares by c, a and b."""
    found = states(c, a, b)
    dc, da, db = 2 * found[-1], np.zeros(CARRIES), np.zeros(CARRIES)
    for before in reversed(found[:-1]):
        da += dc * before
        db += dc * np.roll(before, -1)
        dc = a * dc + np.roll(b * dc, 1)
    return dc, da, db


LSTM = {"row": "23", "group": "LSTM", "inputs": sequence, "tolerance": 2e-5}
SCAN = {"row": "25", "group": "scans and trees", "inputs": coupled, "tolerance": 1e-4}

CASES = (
    Case(
        name="LSTM, 64 steps, 16 rows of 128",
        kind="loops.lstm",
        peers=EVERYBODY[1:],
        truth=lambda x, wi, wh, b, _: lstm(x, wi, wh, b),
        **LSTM,
    ),
    Case(
        name="LSTM, 64 steps, 16 rows of 128, fwd + bwd",
        kind="loops.lstm_gradient",
        peers=DIFFERENTIATE,
        truth=lstm_gradient,
        tracked=True,
        **LSTM,
    ),
    Case(
        name="scan, 60 scalars, 614 rounds",
        kind="loops.scalar_scan",
        peers=("jax",),
        truth=scan,
        **SCAN,
    ),
    Case(
        name="gradient of a scan, 60 scalars, 614 rounds",
        kind="loops.scalar_scan_gradient",
        peers=("jax",),
        truth=scan_gradient,
        tracked=True,
        **SCAN,
    ),
    Case(
        name="gradient of a scan, a vector of 60, 614 rounds",
        kind="loops.vector_scan_gradient",
        peers=DIFFERENTIATE,
        truth=scan_gradient,
        tracked=True,
        **SCAN,
    ),
)
