"""Completion of a matrix by thresholds on its singular values (Cai, Candes and Shen 2010)."""

import numpy as np

import lathe.compat.torch as torch

ROWS, COLUMNS, RANK = 20, 15, 2


def build():
    return (torch.zeros(ROWS, COLUMNS),)


LEFT = np.sin(np.outer(np.arange(1, ROWS + 1), [1.0, 2.3]))
RIGHT = np.cos(np.outer([0.7, 1.9], np.arange(1, COLUMNS + 1)))


def batch(random):
    known = random.random((ROWS, COLUMNS)) < 0.6
    whole = LEFT @ RIGHT + random.normal(0, 0.01, known.shape)
    return torch.tensor(whole, dtype=torch.get_default_dtype()), torch.tensor(known)


def step(guess, whole, known, threshold=0.5):
    """The error where nothing is known, after what is known was filled in and smoothed."""
    filled = torch.where(known, whole, guess)
    u, s, vh = torch.linalg.svd(filled, full_matrices=False)
    s = torch.clamp(s - threshold, min=0)
    guess.copy_(u @ torch.diag(s) @ vh)
    error = (guess - whole).masked_fill(known, 0.0)
    return torch.linalg.norm(error) / torch.linalg.norm(whole)


if __name__ == "__main__":
    random = np.random.default_rng(0)
    state = build()
    for i in range(20):
        print(f"{i:2d} {step(*state, *batch(random)).item():.6f}")
