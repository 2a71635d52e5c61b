"""Every function of lathe.h with every combination of NULLs: an error that names it, never a crash.

The calls are made from the header itself: a function that is added there is called here too, or
fails `argument` below until that knows what to pass. Runs without the Python package, so that under
a sanitizer liblathe.so alone has to be built for it:

    PYTHONPATH=tests/python pytest --noconftest tests/python/capi/test_c_api_nulls.py
"""

import ctypes
import itertools
import re

import pytest
from built import LIBRARY, ROOT

HEADER = ROOT / "include/lathe/lathe.h"
TYPE_ERROR, VALUE_ERROR = 6, 5

pytestmark = pytest.mark.skipif(not (LIBRARY / "liblathe.so").exists(), reason="not built")

BODY = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t,
    ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t, ctypes.POINTER(ctypes.c_size_t),
)  # fmt: skip
RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
LOG = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p)


class Is(ctypes.Union):
    _fields_ = [("pointer", ctypes.c_void_p), ("integer", ctypes.c_int64)]


class Argument(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("kind", ctypes.c_int), ("count", ctypes.c_uint32),
                ("is_", Is)]  # fmt: skip


class Slot(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("dtype", ctypes.c_int),
                ("rank", ctypes.c_int32), ("sizes", ctypes.c_void_p)]  # fmt: skip


class Parameter:
    def __init__(self, text):
        self.nullable = "LATHE_NULLABLE" in text
        text = " ".join(text.replace("LATHE_NULLABLE", " ").split())
        callback = re.match(r"(\w+) \(\* ?(\w+)\)\((.*)\)$", text)
        if callback:
            self.type, self.name = f"{callback[1]}(*)({callback[3]})", callback[2]
        else:
            self.type, self.name = (
                part.strip() for part in re.match(r"(.*?)(\w+)$", text).groups()
            )
        self.pointer = "*" in self.type or self.type == "lathe_body"


def parameters(text):
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text + ","):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [] if text.strip() == "void" else [Parameter(p) for p in parts]


def functions():
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.S)
    text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
    found = {}
    for declared in re.findall(r"LATHE_API\s+([^;]*);", text):
        result, name, rest = re.match(r"(.*?)\b(lathe_\w+)\((.*)\)$", declared, re.S).groups()
        found[name] = (" ".join(result.split()), parameters(rest))
    assert len(found) == text.count("LATHE_API ") and len(found) > 55
    return found


FUNCTIONS = functions()


class World:
    """The library, and one good object of each kind."""

    def __init__(self, folder):
        self.library = ctypes.CDLL(str(LIBRARY / "liblathe.so"))
        for name, (result, _) in FUNCTIONS.items():
            kinds = {"void": None, "const char*": ctypes.c_char_p, "size_t": ctypes.c_size_t}
            plain = ctypes.c_uint32 if result == "uint32_t" else ctypes.c_int
            pointer = ctypes.c_void_p if result.endswith("*") else plain
            getattr(self.library, name).restype = kinds.get(result, pointer)
        self.kept = []
        self.plain, self.leaf = self.tensor(), self.tensor()
        self.call("lathe_set_requires_grad", self.leaf, 1)
        self.op = self.out("lathe_find_op", b"add")
        self.body = BODY(self.give_the_first)
        self.release, self.log = RELEASE(lambda user: None), LOG(lambda level, message: None)
        self.function = self.out("lathe_function_create", b"f", self.body, None, None)
        self.program = self.out("lathe_function_capture", self.function, self.array(self.plain), 1)
        self.path = str(folder / "program.lathe").encode()
        self.call("lathe_program_save", self.program, self.path)
        self.file = (folder / "program.lathe").read_bytes()

    def call(self, name, *arguments):
        converted = [
            ctypes.c_size_t(a) if isinstance(a, int) and not isinstance(a, bool) else a
            for a in arguments
        ]
        status = getattr(self.library, name)(*converted)
        assert FUNCTIONS[name][0] != "lathe_status" or status == 0, self.error()
        return status

    def out(self, name, *arguments):
        place = ctypes.c_void_p()
        self.call(name, *arguments, ctypes.byref(place))
        return place

    def error(self):
        return self.library.lathe_last_error().decode()

    def tensor(self):
        elements, sizes = (ctypes.c_float * 1)(1.0), (ctypes.c_int64 * 1)(1)
        return self.out("lathe_tensor_copy", elements, 8, sizes, 1)

    def array(self, *handles):
        made = (ctypes.c_void_p * len(handles))(*(h.value if h else None for h in handles))
        self.kept.append(made)
        return made

    def give_the_first(self, user, inputs, count, results, room, results_count):
        results[0] = self.library.lathe_tensor_retain(ctypes.c_void_p(inputs[0]))
        results_count[0] = 1
        return 0

    def arguments(self, *tensors):
        """lathe_args of kind LATHE_ARG_TENSOR."""
        made = (Argument * len(tensors))()
        for place, t in zip(made, tensors):
            place.kind, place.is_.pointer = 1, t.value
        self.kept.append(made)
        return made

    def computed(self):
        """A tensor with history."""
        place, count = (ctypes.c_void_p * 1)(), ctypes.c_size_t()
        two = self.arguments(self.leaf, self.leaf)
        self.call("lathe_call", self.op, two, 2, place, 1, ctypes.byref(count))
        return ctypes.c_void_p(place[0])


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    made = World(tmp_path_factory.mktemp("c"))
    yield made
    made.library.lathe_set_log(None)


def argument(world, function, p):
    """A good value of this parameter of this function."""
    room = (ctypes.c_void_p * 8)()
    world.kept.append(room)
    by_name = {
        ("lathe_find_op", "name"): b"add",
        ("lathe_program_parse", "data"): world.file,
        ("lathe_program_parse", "bytes"): ctypes.c_size_t(len(world.file)),
        ("lathe_program_of_text", "text"): b"graph f(%x: f32[1]) { %0 = neg(%x) return %0 }",
        ("lathe_program_of_text", "function"): b"f",
        ("lathe_rewrite_add", "pattern"): b"neg(neg(abs(x)))",
        ("lathe_rewrite_add", "replacement"): b"abs(x)",
        ("lathe_rewrite_add", "where"): b"rank(x) == 1",
        ("lathe_set_flag", "name"): b"log_level",
        ("lathe_set_flag", "value"): b"warning",
        ("lathe_call", "arg_count"): ctypes.c_size_t(2),
        ("lathe_text_release", "text"): None,  # what it frees must come from the library
        ("lathe_set_requires_grad", "t"): world.leaf,
    }
    if function == "lathe_rewrite_remove":
        number = ctypes.c_int64()
        texts = b"neg(neg(abs(x)))", b"abs(x)", None
        world.library.lathe_rewrite_add(*texts, 1, ctypes.byref(number))
        return number
    if (function, p.name) in by_name:
        return by_name[function, p.name]
    handles = {"lathe_tensor": world.plain, "lathe_op": world.op, "lathe_program": world.program,
               "lathe_function": world.function}  # fmt: skip
    base = p.type.replace("const ", "").strip()
    if function.endswith(("_release", "_retain")) and base[:-1] in handles:
        kind = base[:-1].removeprefix("lathe_")  # one reference more, which a release takes
        world.library[f"lathe_{kind}_retain"](handles[base[:-1]])
    if base == "lathe_tensor*":
        return world.computed() if p.name == "y" else handles["lathe_tensor"]
    if base.endswith("*") and base[:-1] in handles:
        return handles[base[:-1]]
    if base == "lathe_tensor* const*":
        known = {"ys": world.computed, "xs": lambda: world.leaf}
        return world.array(known.get(p.name, lambda: world.plain)())
    by_type = {
        "char*": lambda: world.path if p.name == "path" else b"threads",
        "void*": lambda: (ctypes.c_float * 1)(2.0),
        "int64_t*": lambda: (ctypes.c_int64 * 1)(1),
        "lathe_arg*": lambda: world.arguments(world.plain, world.plain),
        "lathe_slot*": lambda: ctypes.byref(Slot(size=ctypes.sizeof(Slot))),
        "lathe_body": lambda: world.body,
        "void(*)(void* user)": lambda: world.release,
        "void(*)(int level, char* message)": lambda: world.log,
        "size_t": lambda: ctypes.c_size_t({"room": 8, "bytes": 4, "index": 0}.get(p.name, 1)),
        "int": lambda: 1,
        "uint64_t": lambda: ctypes.c_uint64(1),
        "lathe_dtype": lambda: 8,
        "lathe_status": lambda: VALUE_ERROR,
        "lathe_view": lambda: 1,
    }
    if base in by_type:
        return by_type[base]()
    if re.fullmatch(r"(void|char|size_t|lathe_\w+) ?\*+", base):  # a place for a result
        return room
    raise AssertionError(f"{function}: say here what to pass for {p.type} {p.name}")


def refused(world, function, result, status, parameter):
    """Did the call end in the error that names the function and the parameter?"""
    said = world.error()
    assert said.startswith(f"{function}: '{parameter}' is NULL"), said
    for part in ("got:", "expected:", "next:"):
        assert part in said
    if result == "lathe_status":
        assert status == TYPE_ERROR
    elif result == "const char*":
        assert status == b""
    elif result != "void":
        assert status in ((0,) if result == "size_t" else (-1,))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_combination_of_nulls(world, function):
    result, params = FUNCTIONS[function]
    pointers = [i for i, p in enumerate(params) if p.pointer]
    for chosen in itertools.product((False, True), repeat=len(pointers)):
        null = {i for i, is_null in zip(pointers, chosen) if is_null}
        given = [None if i in null else argument(world, function, p) for i, p in enumerate(params)]
        world.library.lathe_fail(VALUE_ERROR, b"nothing has failed since")
        status = getattr(world.library, function)(*given)
        wrong = [params[i].name for i in sorted(null) if not params[i].nullable]
        if wrong:
            assert any(f"'{name}'" in world.error() for name in wrong)
            refused(world, function, result, status, world.error().split("'")[1])
        elif function == "lathe_fail":
            assert status == VALUE_ERROR
        else:
            assert result != "lathe_status" or status == 0, world.error()
            assert world.error() == "nothing has failed since"
    world.library.lathe_set_log(None)
    world.library.lathe_enable_grad(1)


ARRAYS = [
    (function, p.name)
    for function, (_, params) in FUNCTIONS.items()
    for p in params
    if p.type == "lathe_tensor* const*" and not p.nullable
]


@pytest.mark.parametrize("function, name", ARRAYS)
def test_a_null_in_an_array(world, function, name):
    result, params = FUNCTIONS[function]
    given = []
    for p in params:
        value = argument(world, function, p)
        if p.name == name:
            value = world.array(world.leaf, None)
        given.append(ctypes.c_size_t(2) if p.name.endswith("_count") else value)
        if p.type == "lathe_tensor* const*" and p.name != name:
            given[-1] = world.array(world.computed(), world.computed())
    status = getattr(world.library, function)(*given)
    refused(world, function, result, status, f"{name}[1]")


@pytest.mark.parametrize(
    "kind, count, member",
    [(1, 0, "is.tensor"), (6, 0, "is.text"), (7, 0, "is.text"), (8, 2, "is.integers"),
     (9, 2, "is.tensors")],
)  # fmt: skip
def test_a_null_in_an_argument(world, kind, count, member):
    arguments = world.arguments(world.leaf, world.leaf)
    arguments[1].kind, arguments[1].count, arguments[1].is_.pointer = kind, count, None
    place, n = (ctypes.c_void_p * 1)(), ctypes.c_size_t()
    status = world.library.lathe_call(world.op, arguments, ctypes.c_size_t(2), place,
                                      ctypes.c_size_t(1), ctypes.byref(n))  # fmt: skip
    refused(world, "lathe_call", "lathe_status", status, f"args[1].{member}")
    if kind == 9:
        arguments[1].is_.pointer = ctypes.addressof(world.array(world.leaf, None))
        status = world.library.lathe_call(world.op, arguments, ctypes.c_size_t(2), place,
                                          ctypes.c_size_t(1), ctypes.byref(n))  # fmt: skip
        refused(world, "lathe_call", "lathe_status", status, "args[1].is.tensors[1]")


def test_sizes_beyond_the_limit(world):
    """A number from 2^62 on is no size, and 2^61 elements of 8 bytes have no count of bytes."""
    element = (ctypes.c_double * 1)(1.0)
    place = ctypes.c_void_p()
    for sizes in ([1 << 62], [(1 << 63) - 1], [1 << 61], [1 << 40, 1 << 40], [1 << 31] * 2):
        for function in ("lathe_tensor_copy", "lathe_tensor_borrow"):
            array = (ctypes.c_int64 * len(sizes))(*sizes)
            more = (None, None) if function == "lathe_tensor_borrow" else ()
            status = getattr(world.library, function)(
                element, 9, array, len(sizes), *more, ctypes.byref(place)
            )
            assert world.library.lathe_status_name(status) == b"OverflowError", sizes
            assert "2^62" in world.error()
