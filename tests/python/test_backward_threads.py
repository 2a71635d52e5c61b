"""History made by several threads."""

import queue
import threading

import numpy as np

import lathe as lt


def test_history_that_passes_between_threads_runs_backward_in_order():
    """Each thread numbers its nodes by blocks: a node stands above its inputs of another thread."""
    x = lt.tensor([1.0, 2.0], requires_grad=True)
    given, taken = queue.Queue(), queue.Queue()

    def other():
        own = x * 2  # takes its block first: below what the main thread makes afterwards
        y = given.get(timeout=60)
        taken.put(y * own + y)

    thread = threading.Thread(target=other)
    thread.start()
    first = x * 3
    y = first.sin()
    for _ in range(2000):  # into another block
        y = y + first
    given.put(y)
    out = taken.get(timeout=60)
    thread.join()
    (got,) = lt.autograd.grad((out * y).sum(), [x])

    a = lt.tensor([1.0, 2.0], requires_grad=True)
    first = a * 3
    y = first.sin()
    for _ in range(2000):
        y = y + first
    out = y * (a * 2) + y
    (expected,) = lt.autograd.grad((out * y).sum(), [a])
    np.testing.assert_allclose(got.numpy(), expected.numpy(), rtol=1e-5)
