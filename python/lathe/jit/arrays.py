"""NumPy arrays that a traced function reads.

An array is an input: at each call a tensor over its memory is made, and nothing is copied, compared
or hashed. During a capture an array that can be replaced where it is found has a stand-in: given to
an op it is that tensor. Whatever else is done with it (an index, a method, a function of NumPy's)
is done with the array itself, and makes its elements part of the program: they are then compared,
by a digest, at every call. Other threads that find a stand-in have the array itself.
"""

from _thread import get_ident

from .. import _lathe
from .._lathe import Tensor

_OWN = frozenset({  # what every class has, and what says no more than the key does
    "__class__", "__new__", "__init__", "__init_subclass__", "__subclasshook__", "__getattribute__",
    "__getattr__", "__setattr__", "__delattr__", "__dir__", "__doc__", "__del__", "__hash__",
    "__array_finalize__",
    "__array_interface__", "__array_struct__", "__array_priority__", "__array_ufunc__",
    "__array_function__", "__buffer__", "__release_buffer__", "__class_getitem__",
})  # fmt: skip
_PROTOCOLS = frozenset({"__array_interface__", "__array_struct__"})
_KNOWN = frozenset({"shape", "dtype", "ndim", "size", "itemsize", "nbytes"})  # by the key
_classes = {}


def is_array(kind):
    """NumPy's own class of arrays: subclasses may mean anything."""
    return kind.__name__ == "ndarray" and kind.__module__ == "numpy"


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


class StandIn:
    """In the place of an array; a subclass, made for the class of arrays, has all its operators."""

    __slots__ = ("_array", "_symbolic", "_note", "_thread", "__weakref__")

    def __init__(self, array, tensor, read):
        self._array, self._symbolic, self._note = array, tensor, read
        self._thread = get_ident()

    def itself(self):
        """The array, whose elements are then part of what the capture does."""
        self._read()
        return self._array

    def for_others(self):
        """The array, to who has no part in the capture."""
        return self._array

    def settle(self):
        """The capture is over: to ops too, it is the array."""
        self._symbolic = None

    def _read(self):
        if get_ident() == self._thread:
            self._note()

    @property
    def _tensor(self):
        """What an op takes it for."""
        if self._symbolic is not None and get_ident() == self._thread:
            return self._symbolic
        return _lathe._array_input(self._array)

    @property
    def __class__(self):
        return type(self._array)

    def __getattr__(self, name):
        if name in _PROTOCOLS:  # for who would look at the memory: __array__ does
            raise AttributeError(name)
        value = getattr(self._array, name)
        if name not in _KNOWN:
            self._read()
        return value

    def __setattr__(self, name, value):
        if name in StandIn.__slots__:
            object.__setattr__(self, name, value)
        else:
            self._read()
            setattr(self._array, name, value)

    def __len__(self):
        return len(self._array)

    def __array__(self, *args, **kwargs):
        self._read()
        return self._array.__array__(*args, **kwargs)


_lathe._stands_for_array(StandIn)


def _delegated(name):
    def method(self, *args, **kwargs):
        if any(isinstance(a, Tensor) for a in args):
            return NotImplemented  # the tensor's operator takes the stand-in for a tensor
        self._read()
        return getattr(self._array, name)(*args, **kwargs)

    method.__name__ = name
    return method


def stand_in(array, tensor, read):
    """read: called when the elements become part of what the capture does."""
    kind = type(array)
    cls = _classes.get(kind)
    if cls is None:
        names = [n for n in dir(kind) if n.startswith("__") and n.endswith("__")]
        methods = {
            n: _delegated(n)
            for n in names
            if n not in _OWN and n not in vars(StandIn) and callable(getattr(kind, n))
        }
        cls = _classes[kind] = type("ndarray", (StandIn,), {"__slots__": (), **methods})
    return cls(array, tensor, read)
