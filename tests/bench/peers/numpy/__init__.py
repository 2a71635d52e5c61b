"""NumPy: plain expressions, each with new outputs."""

from functools import partial

from peers.find import find as found

find = partial(found, "peers.numpy")


def called(function, *arrays):
    return lambda: function(*arrays)


def to_numpy(result):
    return result
