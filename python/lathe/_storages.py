"""The memory of a tensor as an object, for what programs ask of it: where it is and how large."""

from . import _lathe


class UntypedStorage:
    """The bytes that a tensor and its views share. x.untyped_storage() gives it; two tensors lie in
    one memory if their data_ptr() are equal."""

    def __init__(self, tensor):
        whole = _lathe._storage(tensor)
        self.device = tensor.device
        self._elements = self._whole(whole)

    @staticmethod
    def _whole(whole):
        size = whole.numel() * whole.itemsize
        return _lathe._over_storage(whole, _lathe.uint8, 0, (size,), (1,))

    def data_ptr(self):
        """The address of the first byte."""
        return self._elements.data_ptr()

    def size(self):
        """How many elements there are: bytes."""
        return self._elements.numel()

    __len__ = size

    def nbytes(self):
        """How many bytes there are."""
        return self.size() * self._elements.itemsize

    def element_size(self):
        """How many bytes an element has."""
        return self._elements.itemsize

    def tolist(self):
        """The elements as a list of numbers."""
        return self._elements.tolist()

    def __getitem__(self, index):
        found = self._elements[index]
        return found.tolist() if isinstance(index, slice) else found.item()

    def __eq__(self, other):
        same = isinstance(other, UntypedStorage)
        return same and (self.data_ptr(), self.nbytes()) == (other.data_ptr(), other.nbytes())

    def __hash__(self):
        return hash((self.data_ptr(), self.nbytes()))

    def __repr__(self):
        kind = f"{type(self).__name__}, {self._elements.dtype}, {self.size()} on {self.device}"
        return f"<{kind}>"


class TypedStorage(UntypedStorage):
    """The same memory as elements of the tensor's dtype: what x.storage() gives."""

    @staticmethod
    def _whole(whole):
        return whole

    dtype = property(lambda self: self._elements.dtype)

    def untyped(self):
        """The same as bytes."""
        return UntypedStorage(self._elements)


def mapped(filename, shared, size, dtype):
    """`size` elements of a file as a tensor over its mapped bytes."""
    from mmap import ACCESS_COPY, ACCESS_WRITE, mmap

    from ._errors import system_errors
    from ._forms import frombuffer

    count = size * dtype.itemsize
    refusals = system_errors("from_file", filename, "read", "check the path")
    with refusals, open(filename, "r+b" if shared else "rb") as file:
        length = file.seek(0, 2)
        if length < count and shared:
            file.truncate(count)
            length = count
        if length < count:
            raise _lathe.ValueError(
                    "the file is too short", op="from_file", got=f"{length} bytes",
                    expected=f"{size} elements of {dtype}: {count} bytes", next="ask for fewer",
                )  # fmt: skip
        if count == 0:
            return _lathe.tensor([], dtype=dtype)
        memory = mmap(file.fileno(), count, access=ACCESS_WRITE if shared else ACCESS_COPY)
    return frombuffer(memory, dtype=dtype, count=size)
