"""NumPy arrays that a traced function reads: what stands for one, and what a guard compares."""

from .. import _lathe


class StandIn:
    """What functions that make tensors of data take for an array from outside: `_tensor`, which is
    symbolic."""

    __slots__ = ("_tensor",)

    def __init__(self, tensor):
        self._tensor = tensor


_lathe._stands_for_array(StandIn)


def digest(value):
    """What an array holds that gives its memory away (NumPy's, bytearray, array, memoryview); None
    for anything else."""
    try:
        view = memoryview(value)
    except (TypeError, ValueError, BufferError):
        return None
    import hashlib  # not above: it takes longer to import than all the rest

    made = hashlib.blake2b(view if view.c_contiguous else view.tobytes(), digest_size=16)
    return view.format, view.shape, made.digest()
