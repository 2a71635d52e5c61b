"""lathe.save and lathe.load: programs as `.lathe` files, state dicts as safetensors files.

A `.lathe` file is written and read by graph/file; see lathe/jit/program.py.

The other format (huggingface/safetensors): eight bytes with the length of a JSON header,
little-endian; the header, which maps each name to a dtype, a shape and a range of bytes; the bytes.
It holds data and nothing that could run. It is read and written here because it is that small; the
tests compare with the safetensors package.
"""

import itertools
import os

from . import _lathe
from ._arguments import default_only
from ._errors import system_errors
from ._lathe import Tensor

_CODES = {
    "BOOL": _lathe.bool, "U8": _lathe.uint8, "I8": _lathe.int8, "I16": _lathe.int16,
    "I32": _lathe.int32, "I64": _lathe.int64, "F16": _lathe.float16, "BF16": _lathe.bfloat16,
    "F32": _lathe.float32, "F64": _lathe.float64, "C64": _lathe.complex64, "U16": _lathe.uint16,
    "U32": _lathe.uint32, "U64": _lathe.uint64, "C128": _lathe.complex128,
}  # fmt: skip
_NAMES = {dtype: code for code, dtype in _CODES.items()}
_MOST_HEADER = 100 << 20
_SKELETON = "lathe.state"
_PROGRAM = b"LATHE"  # what a .lathe file begins with; graph/file/layout.h


_MOST_LEVELS = 128  # of nested state; more is a list that contains itself
_MOST_CONTAINERS = 1 << 16  # in it; a few lists that share lists can have 2^60 paths through them


def _encode(value, name, tensors, met, level=0):
    """The skeleton of nested state, for JSON: tensors by name, containers as [kind, contents].

    met: counts the containers. ValueError for more of them or of levels than there can be.
    """
    if isinstance(value, Tensor):
        if name in tensors:
            raise _lathe.ValueError(
                "two tensors of the state would have one name in the file",
                op="save", got=name, expected="names that differ when joined by dots",
                next="rename one of the keys",
            )  # fmt: skip
        tensors[name] = value
        return ["tensor", name]
    inner = level + 1
    container = isinstance(value, (dict, list, tuple))
    if container and (level > _MOST_LEVELS or next(met) > _MOST_CONTAINERS):
        raise _lathe.ValueError(
            "the state is nested too deep, or contains itself",
            op="save", got=f"{level} levels in the part that was looked at last",
            expected=f"at most {_MOST_LEVELS} levels, and {_MOST_CONTAINERS} lists and dicts",
            next="save the parts of it that are flat",
        )  # fmt: skip
    if isinstance(value, dict):
        for k in value:
            if k is not None and not isinstance(k, (bool, int, float, str)):
                raise _lathe.TypeError(
                    "a key of the state is no text or number",
                    op="save", got=f"{k!r} of {name or 'the state'}",
                    expected="texts, numbers, True, False and None", next="give it another key",
                )  # fmt: skip
        inside = f"{name}." if name else ""
        pairs = [[k, _encode(v, f"{inside}{k}", tensors, met, inner)] for k, v in value.items()]
        return ["dict", pairs]
    if isinstance(value, (list, tuple)):
        kind = "list" if isinstance(value, list) else "tuple"
        return [kind, [_encode(v, f"{name}.{i}", tensors, met, inner) for i, v in enumerate(value)]]
    if value is None or isinstance(value, (bool, int, float, str)):
        return ["value", value]
    raise _lathe.TypeError(
        "the state holds something that is no tensor or number",
        op="save",
        got=f"{name}: {type(value).__name__}",
        expected="tensors, numbers, texts, None, and lists, tuples and dicts of them",
        next="save the parts that are, and rebuild the rest",
    )


def _decode(path, skeleton, tensors):
    try:
        kind, content = skeleton
        if kind == "tensor":
            return tensors[content]
        if kind == "dict":
            return {k: _decode(path, v, tensors) for k, v in content}
        if kind == "value" and not isinstance(content, (dict, list)):
            return content
        if kind in ("list", "tuple"):
            return (list if kind == "list" else tuple)(_decode(path, v, tensors) for v in content)
    except (KeyError, TypeError, ValueError, RecursionError):
        pass
    raise _damaged(path, "the metadata's account of nested state is wrong")


def save(what, path, inputs=None, metadata=None):
    """Writes a program to a `.lathe` file, or tensors to a safetensors file.

    With `inputs` (an example tensor or an InputSpec for each), what is saved is the program that
    `what` is for inputs like these: a function, traced or not, or a module in the mode it is in.
    It is captured once; the tensors it uses besides its inputs become constants of the program.
    What lathe.freeze or lathe.load gave is a program already and needs no inputs. load() gives the
    program back, lathe.h and lathe.hpp run it without Python, and the results are the same bits.

    Without `inputs`, `what` is state: a dict of tensors, as module.state_dict(), or what has one (a
    module, an optimizer). Nested state (an optimizer's) is flattened, names joined by dots, and its
    skeleton with numbers and texts kept in the metadata as JSON, from which load() builds it again.
    metadata: texts by name. Where `path` is an object with write(), nested data goes there as into
    a `.pt` file (serialization.save).

    The file appears whole or not at all. FileError; TraceError: what the function does depends on
    the elements of a tensor, or changes something that it was not given.
    """
    from .jit.program import Program, capture

    if hasattr(path, "write"):
        _save_into(what, path, inputs, metadata)
    elif isinstance(what, Program):
        what.save(path)
    elif inputs is not None:
        capture(what, inputs).save(path)
    elif not callable(what) or hasattr(what, "state_dict"):
        _save_state(what, path, metadata)
    else:
        raise _lathe.TypeError(
            "a function is saved for certain inputs",
            op="save",
            got=type(what).__name__,
            next="save(function, path, inputs=(example, ...)) with a tensor or an InputSpec each",
        )


def _save_into(what, file, inputs, metadata):
    from .jit.program import Program
    from .serialization import save as save_archive

    if isinstance(what, Program) or inputs is not None or metadata is not None:
        raise _lathe.TypeError(
            "programs and texts by name are written to a path", op="save",
            got=type(file).__name__, expected="a path; or state, and nothing else",
            next="save to a file, and read its bytes",
        )  # fmt: skip
    save_archive(what.state_dict() if hasattr(what, "state_dict") else what, file)


def _save_state(state, path, metadata):
    import json

    if hasattr(state, "state_dict"):
        state = state.state_dict()
    tensors, notes = {}, dict(metadata or {})
    skeleton = _encode(state, "", tensors, itertools.count())
    if "__metadata__" in tensors:
        raise _lathe.ValueError(
            "the format keeps its notes under this name",
            op="save", got="a tensor named '__metadata__'", expected="other names",
            next="rename the tensor",
        )  # fmt: skip
    if skeleton[0] != "dict" or list(tensors) != list(state):
        notes[_SKELETON] = json.dumps(skeleton)
    header, at, chunks = {}, 0, []
    if notes:
        header["__metadata__"] = notes
    # Wider elements first, so that each tensor is aligned to its own elements.
    for name, tensor in sorted(tensors.items(), key=lambda item: (-item[1].itemsize, item[0])):
        size = int(tensor.nbytes)
        header[name] = {
            "dtype": _NAMES[tensor.dtype], "shape": list(tensor.shape),
            "data_offsets": [at, at + size],
        }  # fmt: skip
        chunks.append(tensor)
        at += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    temporary = _lathe._temporary_path(os.fsencode(path))
    advice = "make room, or choose another place; what was there is as it was"
    try:
        with system_errors("save", path, "written", advice), open(temporary, "xb") as file:
            _lathe._lock_while_written(file.fileno())
            file.write(len(text).to_bytes(8, "little"))
            file.write(text)
            for tensor in chunks:
                file.write(_lathe._to_bytes(tensor))
            file.flush()
            os.fsync(file.fileno())
        with system_errors("save", path, "written", advice):
            os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.remove(temporary)
        raise


def _damaged(path, what):
    return _lathe.FileError(
        f"this is no whole safetensors file: {what}",
        op="load",
        got=os.fspath(path),
        next="write it again, or fetch it again if it was downloaded",
        expected="a safetensors file as it was written",
    )


def _parsed(text, **options):
    """JSON; ValueError for a text that is none, or that has an escape of half a character."""
    import json

    value = json.loads(text, **options)
    if "\\u" in text:
        json.dumps(value, ensure_ascii=False).encode()
    return value


def _read_header(file, path, size):
    if size < 8:
        raise _damaged(path, f"it has {size} bytes, and its header's length alone takes 8")
    length = int.from_bytes(file.read(8), "little")
    if length > min(size - 8, _MOST_HEADER):
        raise _damaged(path, f"its header should have {length} bytes, and {size - 8} follow")

    def no_repeats(pairs):
        if len({k for k, _ in pairs}) != len(pairs):
            raise ValueError("a name appears twice")
        return dict(pairs)

    try:
        header = _parsed(file.read(length).decode(), object_pairs_hook=no_repeats)
    except (ValueError, RecursionError) as error:
        raise _damaged(path, f"its header is no JSON: {error}") from None
    if not isinstance(header, dict):
        raise _damaged(path, "its header is no JSON object")
    notes = header.get("__metadata__", {})
    if not isinstance(notes, dict) or not all(isinstance(v, str) for v in notes.values()):
        raise _damaged(path, "its metadata holds something other than texts")
    return header, size - 8 - length


def _entry(path, name, entry, room):
    """(dtype, shape, first byte, end) of one tensor, checked."""

    def count(value):
        return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 62

    code = entry.get("dtype") if isinstance(entry, dict) else None
    if isinstance(code, str) and code not in _CODES:
        raise _lathe.FileError(
            "a tensor has elements of a kind that does not exist here",
            op="load", got=f"'{name}' of {code} in {os.fspath(path)}",
            expected=f"one of {', '.join(_CODES)}", next="convert it where the file was made",
        )  # fmt: skip
    try:
        dtype, shape = _CODES[entry["dtype"]], entry["shape"]
        begin, end = entry["data_offsets"]
    except (KeyError, TypeError, ValueError):
        raise _damaged(path, f"the entry of '{name}' lacks dtype, shape or data_offsets") from None
    if not isinstance(shape, list) or len(shape) > 64 or not all(map(count, (*shape, begin, end))):
        raise _damaged(path, f"the entry of '{name}' has no sizes in it")
    elements = 1
    for n in shape:
        elements *= n
    if not begin <= end <= room or end - begin != elements * dtype.itemsize:
        raise _damaged(path, f"'{name}' should be bytes {begin} to {end} of {room}")
    return dtype, shape, begin, end


def _checked_entries(path, header, room):
    entries = {n: _entry(path, n, e, room) for n, e in header.items() if n != "__metadata__"}
    at = 0
    for name, (_, _, begin, end) in sorted(entries.items(), key=lambda item: item[1][2:]):
        if begin != at:
            raise _damaged(path, f"the bytes of '{name}' begin at {begin}, and should at {at}")
        at = end
    if at != room:
        raise _damaged(path, f"{room - at} bytes belong to no tensor")
    return entries


@default_only(mmap=None)
def load(path, map_location=None, *, weights_only=True, mmap=None):
    """Reads what save() wrote: a Program, a dict of tensors by name, or the state it was given; and
    PyTorch's `.pt` files, as serialization.load does. An object with read() is such a file.

    FileError for a file that is damaged, cut short, or in no such format; nothing in it is run.
    map_location: the device where tensors go; programs run on the device they were captured for.
    weights_only: as in PyTorch False permits a file to run code; it is read as with True.
    """
    if hasattr(path, "read"):
        from .serialization import load as load_archive

        return load_archive(path, map_location)
    checked = system_errors("load", path, "read", "check the path, and who may read the file")
    with checked, open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        start = file.read(len(_PROGRAM))
        if start == _PROGRAM:
            from .jit.program import load_program

            return load_program(path)
        if start[:2] == b"PK":
            from .serialization import load as load_archive

            return load_archive(path, map_location)
        file.seek(0)
        header, room = _read_header(file, path, size)
        entries = _checked_entries(path, header, room)
        start = size - room
        state = {}
        for name, (dtype, shape, begin, end) in entries.items():
            file.seek(start + begin)
            data = file.read(end - begin)
            if len(data) != end - begin:
                raise _damaged(path, f"it ends inside '{name}'")
            tensor = _lathe._from_bytes(data, dtype, shape)
            state[name] = tensor if map_location is None else tensor.to(device=map_location)
    skeleton = header.get("__metadata__", {}).get(_SKELETON)
    if skeleton is None:
        return state
    try:
        return _decode(path, _parsed(skeleton), state)
    except (ValueError, TypeError, RecursionError):
        raise _damaged(path, "the metadata's account of nested state is no JSON") from None


def metadata(path):
    """The texts that save() was given, by name."""
    checked = system_errors("metadata", path, "read", "check the path, and who may read the file")
    with checked, open(path, "rb") as file:
        header, _ = _read_header(file, path, os.fstat(file.fileno()).st_size)
    return header.get("__metadata__", {})
