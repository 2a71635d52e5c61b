"""serialization.save and serialization.load: nested data in PyTorch's own `.pt` files.

A `.pt` file is a zip archive, uncompressed: `data.pkl`, a pickle in which each tensor names a
storage,
an offset, sizes and strides, and `data/0`, `data/1`, ..., the storages' bytes. torch.load reads
what
save() writes (weights_only=True, too), and load() what torch.save wrote: state dicts, checkpoints,
anything made of tensors, numbers, texts and containers. Tensors over one memory stay so.

Reading runs nothing of a file: _pickled.Reader builds what a fixed list of names allows, and
refuses the rest by name. Whole modules, which torch.save also writes, are such a rest.
"""

import os
import zipfile
from collections import OrderedDict

from . import _lathe, ops
from ._arguments import default_only
from ._errors import system_errors
from ._lathe import Tensor
from ._pickled import BadPickle, Builder, Call, Global, Persistent, Reader, Writer

__all__ = ["load", "save"]

_STORAGES = {
    "FloatStorage": "float32", "DoubleStorage": "float64", "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16", "LongStorage": "int64", "IntStorage": "int32",
    "ShortStorage": "int16", "CharStorage": "int8", "ByteStorage": "uint8", "BoolStorage": "bool",
    "ComplexFloatStorage": "complex64", "ComplexDoubleStorage": "complex128",
}  # fmt: skip
_STORAGE_OF = {dtype: storage for storage, dtype in _STORAGES.items()}
_ALIGNMENT = 64  # of a storage's bytes in the file, so that it may be mapped
_EARLIEST = (1980, 1, 1, 0, 0, 0)  # the same contents are the same bytes


def _is_parameter(value):
    from .nn import Parameter

    return isinstance(value, Parameter)


# ── writing ───────────────────────────────────────────────────────────────────────────────────────


class _Storages:
    """The storages of a file, in the order in which its tensors name them."""

    def __init__(self):
        self.all = []
        self._numbers = {}

    def number(self, tensor):
        """(its number, how many elements) of the memory a tensor lies in."""
        whole = _lathe._storage(tensor)
        key = (whole.data_ptr(), whole.dtype.name, whole.numel())
        if key not in self._numbers:
            self._numbers[key] = len(self.all)
            self.all.append(whole)
        return self._numbers[key], whole.numel()


def _reduced(storages, value):
    """How a value that is no plain data stands in the pickle."""
    if isinstance(value, Tensor):
        if _is_parameter(value):
            rebuild = Global("torch._utils", "_rebuild_parameter")
            return Call(rebuild, (value.data, value.requires_grad, OrderedDict()))
        return _reduced_tensor(storages, value)
    if isinstance(value, _lathe.dtype):
        return Global("torch", value.name)
    if isinstance(value, _lathe.device):
        return Call(Global("torch", "device"), ("cpu",))
    for kind, plain in ((bool, bool), (int, int), (float, float), (str, str)):
        if isinstance(value, kind):
            return plain(value)
    if isinstance(value, (OrderedDict, dict, list)) and type(value).__module__ == "collections":
        return dict(value)
    if hasattr(value, "state_dict"):
        advice = "save value.state_dict(), and load_state_dict() it into a new object"
    else:
        advice = "save the parts that are data, and build the rest anew"
    raise _lathe.TypeError(
        "only data can be written: this object would need its class to be read again",
        op="save", got=type(value).__name__,
        expected="tensors, numbers, texts, bytes, None, dtypes, and lists, tuples, sets and dicts",
        next=advice,
    )  # fmt: skip


def _reduced_tensor(storages, tensor):
    flat = tensor if tensor.device.type == "cpu" else tensor.detach().cpu()
    number, count = storages.number(flat)
    name = flat.dtype.name
    typed_storage = name in _STORAGE_OF
    kind = Global("torch", _STORAGE_OF[name]) if typed_storage else _UNTYPED
    count = count if typed_storage else count * flat.itemsize
    place = Persistent(("storage", kind, str(number), "cpu", count))
    shape, stride = tuple(map(int, flat.shape)), tuple(map(int, flat.stride()))
    args = (place, int(flat.storage_offset()), shape, stride, tensor.requires_grad, OrderedDict())
    if typed_storage:
        return Call(Global("torch._utils", "_rebuild_tensor_v2"), args)
    return Call(Global("torch._utils", "_rebuild_tensor_v3"), (*args, flat.dtype))


_UNTYPED = Global("torch.storage", "UntypedStorage")
_FORMAT = "PyTorch's zip format is what save() writes"


@default_only(
    pickle_module=_FORMAT, pickle_protocol=_FORMAT, _use_new_zipfile_serialization=_FORMAT
)
def save(obj, f, pickle_module=None, pickle_protocol=2, _use_new_zipfile_serialization=True):
    """Writes nested data to a `.pt` file that torch.load and serialization.load read.

    obj: tensors, parameters, numbers, texts, bytes, None, dtypes, and lists, tuples, sets and dicts
    of them. f: a path, or an object with write(). A file at a path appears whole or not at all.
    TypeError for other objects: write a module's or an optimizer's state_dict().
    """
    storages = _Storages()
    writer = Writer(lambda value: _reduced(storages, value))
    try:
        pickled = writer.dumps(obj)
    except RecursionError:
        raise _lathe.ValueError(
            "the data is nested too deep, or a tuple contains itself",
            op="save", got=type(obj).__name__, expected="a few hundred levels at most",
            next="save the parts of it that are flat",
        ) from None  # fmt: skip
    if hasattr(f, "write"):
        return _write(f, "archive", pickled, storages)
    path = os.fsdecode(f)
    temporary = os.fsdecode(_lathe._temporary_path(os.fsencode(path)))
    name = os.path.splitext(os.path.basename(path))[0] or "archive"
    try:
        with system_errors("save", path, "written", "make room, or choose another place"):
            with open(temporary, "xb") as file:
                _lathe._lock_while_written(file.fileno())
                _write(file, name, pickled, storages)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)


def _write(file, name, pickled, storages):
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        put = _Records(archive, name).put
        put("data.pkl", pickled)
        put(".format_version", b"1")
        put(".storage_alignment", str(_ALIGNMENT).encode())
        put("byteorder", b"little")
        for number, whole in enumerate(storages.all):
            put(f"data/{number}", _lathe._to_bytes(whole))
        put("version", b"3\n")


class _Records:
    def __init__(self, archive, folder):
        self._archive, self._folder = archive, folder

    def put(self, name, data):
        """A record whose bytes begin at a multiple of the alignment."""
        info = zipfile.ZipInfo(f"{self._folder}/{name}", _EARLIEST)
        header = 30 + len(info.filename.encode())
        if len(data) * 1.05 > zipfile.ZIP64_LIMIT:
            header += 20  # zipfile's own field for large sizes
        room = -(self._archive.fp.tell() + header + 4) % _ALIGNMENT
        info.extra = b"FB" + room.to_bytes(2, "little") + b"Z" * room
        self._archive.writestr(info, data)


# ── reading ───────────────────────────────────────────────────────────────────────────────────────


def _damaged(f, what):
    return _lathe.FileError(
        f"this is no whole PyTorch file: {what}", op="load", got=_shown(f),
        expected="a file that torch.save or lathe.serialization.save has written",
        next="write it again, or fetch it again if it was downloaded",
    )  # fmt: skip


def _shown(f):
    return os.fsdecode(f) if isinstance(f, (str, bytes, os.PathLike)) else type(f).__name__


_ELSEWHERE = {
    "torchscript": (
        "this file is a TorchScript program, which only PyTorch runs",
        "save its state_dict() with torch.save, or trace the network here",
    ),
    "tar": (
        "this file is in PyTorch's oldest format, a tar archive",
        "load it in PyTorch and torch.save it again",
    ),
    "pickle": (
        "this file is in the format of PyTorch before 1.6, a bare pickle",
        "load it in PyTorch and torch.save it again",
    ),
}


def _other_format(f, which):
    problem, advice = _ELSEWHERE[which]
    return _lathe.FileError(
        problem, op="load", got=_shown(f), expected="a zip archive as torch.save writes it",
        next=advice,
    )  # fmt: skip


class _Loaded:
    """What a pickle's globals and storages stand for, in one file."""

    def __init__(self, f, archive, folder, place):
        self._f, self._archive, self._folder, self._place = f, archive, folder, place
        self._storages = {}
        functions = {
            "torch._utils._rebuild_tensor_v2": self._tensor,
            "torch._utils._rebuild_tensor_v3": self._tensor_of,
            "torch._utils._rebuild_parameter": self._parameter,
            "torch._utils._rebuild_parameter_with_state": self._parameter,
            "torch.Size": tuple, "torch.device": self._device,
            "collections.OrderedDict": OrderedDict, "collections.Counter": dict,
            "__builtin__.set": set, "__builtin__.frozenset": frozenset,
            "__builtin__.complex": complex, "__builtin__.bytearray": self._bytearray,
            "_codecs.encode": self._encoded,
        }  # fmt: skip
        self._globals = {name: Builder(name, make) for name, make in functions.items()}

    def find_global(self, module, name):
        if module == "builtins":
            module = "__builtin__"
        if module in ("torch", "torch.storage"):
            if name in _STORAGES or name == "UntypedStorage":
                return _StorageKind(_STORAGES.get(name))
            if isinstance(found := getattr(_lathe, name, None), _lathe.dtype):
                return found
        found = self._globals.get(f"{module}.{name}")
        if found is None:
            raise _lathe.FileError(
                f"the file holds an object of {module}.{name}, which is no data",
                op="load", got=_shown(self._f),
                expected="tensors, numbers, texts and containers; nothing of a file is run",
                next="in PyTorch save the state_dict() in place of the object",
            )  # fmt: skip
        return found

    def persistent(self, key):
        """('storage', kind, name, location, count): the tensor over those bytes, and its dtype."""
        if type(key) is not tuple or len(key) != 5 or key[0] != "storage":
            raise BadPickle("a storage without a name")
        _, kind, name, _, count = key
        if not isinstance(kind, _StorageKind) or type(name) is not str or type(count) is not int:
            raise BadPickle("a storage of no kind")
        dtype = getattr(_lathe, kind.dtype or "uint8", None)
        if dtype is None:
            raise self._no_dtype(kind.dtype)
        if name not in self._storages:
            data = self._archive.read(f"{self._folder}/data/{name}")
            whole = len(data) // dtype.itemsize
            if whole < count:
                raise BadPickle(f"storage {name} has {len(data)} bytes for {count} elements")
            self._storages[name] = _lathe._from_bytes(
                data[: whole * dtype.itemsize], dtype, (whole,)
            )
        return _Storage(self._storages[name], dtype)

    def _no_dtype(self, name):
        return _lathe.FileError(
            "a tensor has elements of a kind that does not exist here",
            op="load", got=f"{name} in {_shown(self._f)}", expected="a dtype of Lathe's",
            next="convert it in PyTorch before it is saved",
        )  # fmt: skip

    def _tensor(self, storage, offset, size, stride, requires_grad, hooks, metadata=None):
        return self._tensor_of(
            storage, offset, size, stride, requires_grad, hooks, storage.dtype, metadata
        )

    def _tensor_of(self, storage, offset, size, stride, requires_grad, hooks, dtype, metadata=None):
        if not isinstance(storage, _Storage) or not isinstance(dtype, _lathe.dtype):
            raise BadPickle("a tensor without memory")
        tensor = _lathe._over_storage(storage.memory, dtype, offset, tuple(size), tuple(stride))
        if metadata:
            tensor = _lazily_changed(tensor, metadata)
        if self._place is not None:
            tensor = tensor.to(device=self._place)
        return tensor.requires_grad_() if requires_grad else tensor

    def _parameter(self, data, requires_grad, hooks, state=None):
        from .nn import Parameter

        return Parameter(data, bool(requires_grad))

    @staticmethod
    def _device(kind, index=None):
        return _lathe.device("cpu")

    @staticmethod
    def _bytearray(data=b"", encoding="latin-1"):
        return bytearray(data if type(data) is bytes else _Loaded._encoded(data, encoding))

    @staticmethod
    def _encoded(text, encoding="latin1"):
        if type(text) is not str or encoding not in ("latin1", "latin-1"):
            raise BadPickle("bytes in another encoding")
        return text.encode("latin-1")


def _lazily_changed(tensor, metadata):
    """PyTorch keeps conjugated and negated tensors as the others with a mark."""
    from . import ops

    if metadata.get("conj"):  # not an op: a name
        tensor = ops.conj_physical(tensor)
    return -tensor if metadata.get("neg") else tensor  # not an op: a name


class _StorageKind:
    __slots__ = ("dtype",)

    def __init__(self, dtype):
        self.dtype = dtype


class _Storage:
    __slots__ = ("dtype", "memory")

    def __init__(self, memory, dtype):
        self.memory, self.dtype = memory, dtype


@default_only(
    pickle_module="leave it out: nothing in a file is run",
    mmap=None,
)
def load(f, map_location=None, pickle_module=None, *, weights_only=True, mmap=None):
    """Reads what torch.save or serialization.save wrote: nested data with tensors in it.

    f: a path, or an object with read() and seek(). map_location: the device where tensors go; those
    of other devices than the cpu go to the cpu. weights_only: False permits a file to run code,
    which nothing here does; it is read as with True. FileError for a file that holds objects other
    than data, names them; also for one that is damaged or in an older format.
    """
    if not hasattr(f, "read"):
        with system_errors("load", f, "read", "check the path, and who may read the file"):
            file = open(f, "rb")  # noqa: SIM115
        with file:
            return _load(f, file, map_location)
    return _load(f, f, map_location)


def is_archive(start):
    """Whether a file with these first bytes is what load() reads, or says that it does not."""
    return start[:4] in (b"PK\x03\x04", b"PK\x05\x06")


def _load(f, file, map_location):
    start = file.read(264)
    file.seek(0)
    if start[257:262] == b"ustar":
        raise _other_format(f, "tar")
    if not is_archive(start):
        if start[:1] == b"\x80":
            raise _other_format(f, "pickle")
        raise _damaged(f, "it does not begin as a zip archive")
    place = _placed(map_location)
    try:
        return _read_archive(f, zipfile.ZipFile(file), place)
    except _lathe.FileError:
        raise
    except KeyError as error:
        raise _damaged(f, f"a part is missing: {error}") from None
    except RecursionError:
        raise _damaged(f, "its data is nested too deep") from None
    except (
        zipfile.BadZipFile,
        BadPickle,
        EOFError,
        OSError,
        ValueError,
        RuntimeError,
        _lathe.Error,
    ) as error:
        raise _damaged(f, str(error)) from None


def _placed(map_location):
    """The device that a map_location means; dicts and functions are about devices there are not."""
    if map_location is None or callable(map_location) or isinstance(map_location, dict):
        return None
    ops.zeros([0], device=map_location)  # that there is none is no fault of the file
    return map_location


def _read_archive(f, archive, place):
    names = archive.namelist()
    if any(n.endswith("/constants.pkl") for n in names):
        raise _other_format(f, "torchscript")
    if any(i.compress_type != zipfile.ZIP_STORED for i in archive.infolist()):
        raise _damaged(f, "a part of it is compressed")
    found = [n for n in names if n.count("/") == 1 and n.endswith("/data.pkl")]
    if len(found) != 1:
        raise _damaged(f, "it has no data.pkl")
    folder = found[0].rpartition("/")[0]
    order = f"{folder}/byteorder"
    if order in names and archive.read(order) != b"little":
        raise _damaged(f, "its numbers begin with the highest byte")
    loaded = _Loaded(f, archive, folder, place)
    return Reader(archive.read(found[0]), loaded.find_global, loaded.persistent).load()
