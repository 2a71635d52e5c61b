"""NumPy: plain expressions, each with new outputs."""

from functools import partial

from peers.find import find as found

find = partial(found, "peers.numpy")
called = partial  # of a function and its arrays: the call that is timed


def to_numpy(result):
    return result
