"""The opcodes of Python's pickles that hold data: a writer and a reader of their own.

Python's own reader runs what a file names. This one knows numbers, texts, bytes and containers, and
hands every global to the caller, who gives an object to call for those he allows and refuses the
rest. What it builds it builds itself: nothing of a file is imported or run.

Written is protocol 2 (PEP 307). Read is what Python writes of data in protocols 0 to 5, but for the
opcodes that only classes need.
"""

import io
import struct
from collections import OrderedDict

_MARK = object()


class BadPickle(Exception):  # noqa: N818
    """The bytes are no such pickle; the text says why."""


# ── writing ───────────────────────────────────────────────────────────────────────────────────────


class Global:
    """A name that stands in a pickle: what a reader looks up."""

    def __init__(self, module, name):
        self.module, self.name = module, name


class Call:
    """What a reader gets by calling function(*args), then setting the attributes of state."""

    def __init__(self, function, args, state=None):
        self.function, self.args, self.state = function, args, state


class Persistent:
    """A value that the reader is given by its number."""

    def __init__(self, key):
        self.key = key


class Writer:
    """Pickles nested data. reduce(value): a Call, Global or Persistent for what is none, or an
    error of the caller's own."""

    def __init__(self, reduce):
        self._reduce = reduce
        self._out = io.BytesIO()
        self._memo = {}  # id: (number, the object, which is so kept alive)

    def dumps(self, value) -> bytes:
        self._out.write(b"\x80\x02")
        self._save(value)
        self._out.write(b".")
        return self._out.getvalue()

    def _save(self, value):
        if (known := self._memo.get(id(value))) is not None:
            self._op_with_number(b"h", b"j", known[0])
            return
        save = self._KINDS.get(type(value))
        if save is not None:
            save(self, value)
            return
        reduced = self._reduce(value)
        self._save(reduced)
        if isinstance(reduced, Call):
            self._remember(value)

    def _op_with_number(self, short, long, number):
        small = number < 256
        self._out.write(short + bytes([number]) if small else long + struct.pack("<I", number))

    def _remember(self, value):
        number = len(self._memo)
        self._memo[id(value)] = (number, value)
        self._op_with_number(b"q", b"r", number)

    def _global(self, value):
        key = (value.module, value.name)
        if (known := self._memo.get(key)) is not None:
            self._op_with_number(b"h", b"j", known[0])
            return
        self._out.write(f"c{value.module}\n{value.name}\n".encode())
        number = self._memo[key] = (len(self._memo), None)
        self._op_with_number(b"q", b"r", number[0])

    def _call(self, call):
        self._save(call.function)
        self._save_tuple(call.args, False)
        self._out.write(b"R")
        if call.state is not None:
            self._save(call.state)
            self._out.write(b"b")

    def _persistent(self, value):
        self._save(value.key)
        self._out.write(b"Q")

    def _save_int(self, value):
        if 0 <= value < 256:
            self._out.write(b"K" + bytes([value]))
        elif 0 <= value < 1 << 16:
            self._out.write(b"M" + struct.pack("<H", value))
        elif -(1 << 31) <= value < 1 << 31:
            self._out.write(b"J" + struct.pack("<i", value))
        else:
            data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
            if len(data) > 255:
                raise OverflowError("an integer has more than 255 bytes")
            self._out.write(b"\x8a" + bytes([len(data)]) + data)

    def _save_text(self, value):
        data = value.encode("utf-8", "surrogatepass")
        self._out.write(b"X" + struct.pack("<I", len(data)) + data)

    def _save_bytes(self, value):
        encode = Global("_codecs", "encode")
        self._call(Call(encode, (value.decode("latin-1"), "latin1") if value else ("", "latin1")))

    def _save_tuple(self, value, remember=True):
        if len(value) > 3:
            self._out.write(b"(")
        for item in value:
            self._save(item)
        self._out.write({0: b")", 1: b"\x85", 2: b"\x86", 3: b"\x87"}.get(len(value), b"t"))
        if remember and value:
            self._remember(value)

    def _save_list(self, value):
        self._out.write(b"]")
        self._remember(value)
        self._out.write(b"(")
        for item in value:
            self._save(item)
        self._out.write(b"e")

    def _save_items(self, value):
        self._out.write(b"(")
        for key, item in value.items():
            self._save(key)
            self._save(item)
        self._out.write(b"u")

    def _save_dict(self, value):
        self._out.write(b"}")
        self._remember(value)
        self._save_items(value)

    def _save_ordered(self, value):
        self._call(Call(Global("collections", "OrderedDict"), ()))
        self._remember(value)
        self._save_items(value)
        if vars(value):
            self._save(dict(vars(value)))
            self._out.write(b"b")

    def _save_set(self, value):
        self._call(Call(Global("__builtin__", "set"), (list(value),)))

    def _save_complex(self, value):
        self._call(Call(Global("__builtin__", "complex"), (value.real, value.imag)))  # not an op

    _KINDS = {
        type(None): lambda self, _: self._out.write(b"N"),
        bool: lambda self, value: self._out.write(b"\x88" if value else b"\x89"),
        int: _save_int,
        float: lambda self, value: self._out.write(b"G" + struct.pack(">d", value)),
        str: _save_text, bytes: _save_bytes, tuple: _save_tuple, list: _save_list,
        dict: _save_dict, OrderedDict: _save_ordered, set: _save_set, complex: _save_complex,
        Global: _global, Call: _call, Persistent: _persistent,
    }  # fmt: skip


# ── reading ───────────────────────────────────────────────────────────────────────────────────────


class Reader:
    """Reads one pickle. find_global(module, name): a Builder, or an error of the caller's own;
    persistent(key): what a number stands for."""

    def __init__(self, data, find_global, persistent):
        self._data, self._at = data, 0
        self._find, self._persistent = find_global, persistent
        self._stack, self._memo = [], {}

    def load(self):
        try:
            return self._run()
        except (IndexError, struct.error, UnicodeDecodeError, KeyError) as error:
            raise BadPickle(f"at byte {self._at}: {error!r}") from None

    def _run(self):
        while True:
            op = self._take(1)
            if op == b".":
                return self._stack.pop()
            step = self._STEPS.get(op)
            if step is None:
                raise BadPickle(f"opcode {op!r} at byte {self._at - 1}")
            step(self)

    def _take(self, count):
        data = self._data[self._at : self._at + count]
        if len(data) != count:
            raise BadPickle("it ends too early")
        self._at += count
        return data

    def _number(self, form):
        return struct.unpack(form, self._take(struct.calcsize(form)))[0]

    def _line(self):
        end = self._data.find(b"\n", self._at)
        if end < 0:
            raise BadPickle("a line has no end")
        line = self._data[self._at : end]
        self._at = end + 1
        return line.decode()

    def _push(self, value):
        self._stack.append(value)

    def _since_mark(self):
        for i in range(len(self._stack) - 1, -1, -1):
            if self._stack[i] is _MARK:
                items = self._stack[i + 1 :]
                del self._stack[i:]
                return items
        raise BadPickle("a mark is missing")

    def _top(self, *kinds):
        if not self._stack or type(self._stack[-1]) not in kinds:
            raise BadPickle(f"no {kinds[0].__name__} to add to at byte {self._at}")
        return self._stack[-1]

    def _text(self, form):
        self._push(self._take(self._number(form)).decode("utf-8", "surrogatepass"))

    def _bytes(self, form):
        self._push(self._take(self._number(form)))

    def _long(self, form):
        count = self._number(form)
        if count < 0 or count > 1 << 10:
            raise BadPickle("an integer is too long")
        self._push(int.from_bytes(self._take(count), "little", signed=True))

    def _tuple(self, count):
        if count > len(self._stack):
            raise BadPickle("a tuple is missing items")
        items = self._stack[len(self._stack) - count :]
        del self._stack[len(self._stack) - count :]
        self._push(tuple(items))

    def _set_items(self, pairs):
        if len(pairs) % 2:
            raise BadPickle("a key has no value")
        target = self._top(dict, OrderedDict)
        for key, value in zip(pairs[::2], pairs[1::2]):
            try:
                target[key] = value
            except TypeError:
                raise BadPickle("a key that cannot be one") from None

    def _add(self, items):
        try:
            self._top(set).update(items)
        except TypeError:
            raise BadPickle("a set of what cannot be in one") from None

    def _pair(self):
        value = self._stack.pop()
        return [self._stack.pop(), value]

    def _global(self, module, name):
        self._push(self._find(module, name))

    def _stack_global(self):
        name, module = self._stack.pop(), self._stack.pop()
        if type(name) is not str or type(module) is not str:
            raise BadPickle("a global without a name")
        self._global(module, name)

    def _reduce(self):
        args, builder = self._stack.pop(), self._stack.pop()
        if type(args) is not tuple or not isinstance(builder, Builder):
            raise BadPickle(f"something is called that is no function, at byte {self._at}")
        try:
            self._push(builder.build(*args))
        except (TypeError, ValueError, AttributeError, OverflowError) as error:
            raise BadPickle(f"{builder.name}: {error}") from error

    def _build(self):
        state = self._stack.pop()
        target = self._top(OrderedDict)
        if type(state) is not dict or not all(type(key) is str for key in state):
            raise BadPickle("attributes that are no dict")
        vars(target).update({k: v for k, v in state.items() if k == "_metadata"})

    def _get(self, form):
        self._push(self._memo[self._number(form)])

    def _put(self, form):
        self._memo[self._number(form)] = self._stack[-1]

    def _memoize(self):
        self._memo[len(self._memo)] = self._stack[-1]

    def _persistent_id(self):
        self._push(self._persistent(self._stack.pop()))

    _STEPS = {
        b"\x80": lambda s: s._take(1), b"\x95": lambda s: s._take(8),
        b"N": lambda s: s._push(None), b"\x88": lambda s: s._push(True),
        b"\x89": lambda s: s._push(False), b"K": lambda s: s._push(s._number("<B")),
        b"M": lambda s: s._push(s._number("<H")), b"J": lambda s: s._push(s._number("<i")),
        b"\x8a": lambda s: s._long("<B"), b"\x8b": lambda s: s._long("<i"),
        b"G": lambda s: s._push(s._number(">d")), b"X": lambda s: s._text("<I"),
        b"\x8c": lambda s: s._text("<B"), b"\x8d": lambda s: s._text("<Q"),
        b"B": lambda s: s._bytes("<I"), b"C": lambda s: s._bytes("<B"),
        b"\x8e": lambda s: s._bytes("<Q"), b"U": lambda s: s._text("<B"),
        b"T": lambda s: s._text("<I"),
        b")": lambda s: s._push(()), b"\x85": lambda s: s._tuple(1), b"\x86": lambda s: s._tuple(2),
        b"\x87": lambda s: s._tuple(3), b"t": lambda s: s._push(tuple(s._since_mark())),
        b"]": lambda s: s._push([]), b"l": lambda s: s._push(s._since_mark()),
        b"}": lambda s: s._push({}), b"\x8f": lambda s: s._push(set()),
        b"\x91": lambda s: s._push(frozenset(s._since_mark())),
        b"(": lambda s: s._push(_MARK), b"0": lambda s: s._stack.pop(),
        b"a": lambda s: (item := s._stack.pop(), s._top(list).append(item)),
        b"e": lambda s: (items := s._since_mark(), s._top(list).extend(items)),
        b"s": lambda s: s._set_items(s._pair()), b"u": lambda s: s._set_items(s._since_mark()),
        b"\x90": lambda s: s._add(s._since_mark()),
        b"c": lambda s: s._global(s._line(), s._line()), b"\x93": _stack_global,
        b"R": _reduce, b"b": _build, b"Q": _persistent_id,
        b"q": lambda s: s._put("<B"), b"r": lambda s: s._put("<I"), b"\x94": _memoize,
        b"h": lambda s: s._get("<B"), b"j": lambda s: s._get("<I"),
    }  # fmt: skip


class Builder:
    """A global that a pickle may call: build(*args) is the value."""

    __slots__ = ("build", "name")

    def __init__(self, name, build):
        self.name, self.build = name, build
