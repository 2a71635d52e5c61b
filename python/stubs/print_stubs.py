"""Prints the stubs of the package from the definitions and the modules themselves.

    ./dev python python/stubs/print_stubs.py           writes them
    ./dev python python/stubs/print_stubs.py --check   1 if one of them is not what would be written

Ops come from their rows, the rest from signatures: of Python functions, of nanobind's, and of the
hand-written methods, whose texts begin with theirs.
"""

import inspect
import keyword
import re
import sys
import textwrap
from pathlib import Path

import lathe as lt

FOLDER = Path(__file__).resolve().parents[1] / "lathe"
HEAD = '''"""{what} Printed by python/stubs/print_stubs.py; do not edit."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, overload
{imports}
Number: TypeAlias = float | int | bool | complex
Ints: TypeAlias = int | Sequence[int]
DTypeLike: TypeAlias = dtype | str | type | None
DeviceLike: TypeAlias = device | str | None
'''

TENSOR, INTEGER, REAL, SCALAR, FLAG, DTYPE, DEVICE, TEXT = range(8)  # core/op/schema.h, ArgType
TYPES = {
    TENSOR: "Tensor",
    INTEGER: "int",
    REAL: "float",
    SCALAR: "Number",
    FLAG: "bool",
    DTYPE: "DTypeLike",
    DEVICE: "DeviceLike",
    TEXT: "str",
}


def type_of(param):
    if param["list"]:
        sequences = {TENSOR: "Sequence[Tensor]", REAL: "float | Sequence[float]"}
        text = sequences.get(param["type"], "Ints")
    elif param["literal"]:
        return "None" if param["literal"] == "None" else f"Literal[{param['literal']}]"
    else:
        text = TYPES[param["type"]] + (" | Number" if param["number"] else "")
    if param["optional"] and not text.endswith("None") and param["type"] not in (DTYPE, DEVICE):
        text += " | None"
    return text


CREATOR = ("requires_grad: bool = False", "layout: Any = None", "pin_memory: bool = False")


def parameters(row, place):
    """The Python parameters of a definition; one that takes all remaining integers has a star."""
    texts, starred, defaults = [], False, False
    for i, p in enumerate(row["params"]):
        if place == "method" and i == 0:
            texts.append("self")
            continue
        if i == row["starred"]:
            each = "Tensor | Sequence[Tensor]" if p["type"] == TENSOR else "Ints"
            texts.append(f"*{p['name']}: {each}")
            starred = True
            continue
        if p["keyword_only"] and not starred:
            texts.append("*")
            starred = True
        name = p["name"] + "_" * keyword.iskeyword(p["name"])  # `from` cannot be said by name
        text = f"{name}: {type_of(p)}"
        if p["default"] is not None:
            text += f" = {p['default']}"
        elif starred and not p["keyword_only"]:
            text += " = ..."
        elif defaults and not starred:  # behind a default, Python asks for it by name
            texts.append("*")
            starred = True
        defaults |= p["default"] is not None
        texts.append(text)
    if place == "functional" and row["inplace_argument"]:
        return ", ".join([*texts, "inplace: bool = False"])
    names = [p["name"] for p in row["params"]]
    creates = "device" in names and "dtype" in names
    more = list(CREATOR) if creates else []
    if row["draws"]:
        more.append("generator: Any = None")
    if place != "method" and row["kind"] != "view":  # not an op: a kind
        more.append("out: Any = None")
    star = ["*"] if more and not starred else []
    return ", ".join([*texts, *star, *more])


def result_of(row):
    results = row["results"]
    if row["lone"]:  # a tensor or a tuple of them, as the arguments say
        return "Any"
    if len(results) == 1:
        return "tuple[Tensor, ...]" if results[0][1] else "Tensor"
    return f"_{row['public_name']}" if all(name for name, _ in results) else "tuple[Tensor, ...]"


def row_functions(name, rows, place, inplace=False):
    """The overloads of one public name; those that take any number of integers, which a flag is
    too, come last."""
    lines = []
    in_order = sorted(rows, key=lambda row: row["starred"] >= 0)
    for at, row in enumerate(in_order):
        result = "Tensor" if inplace else result_of(row)
        # One tensor is a list of one, too: the first signature that fits is the one.
        differs = any(r["starred"] >= 0 and result_of(r) != result for r in in_order[at + 1 :])
        note = "  # type: ignore[overload-overlap]" if differs and not inplace else ""
        if len(rows) > 1:
            lines.append("@overload")
        line = f"def {name}({parameters(row, place)}) -> {result}:"
        doc = [] if inplace else docstring(row["doc"], "    ")
        lines += [line + note, *doc] if doc else [line + " ..." + note]
    return lines


def grouped(rows, place):
    """Definitions found at a place or in a module of lathe, by public name, in order of
    definition."""
    groups = {}
    module = {"functional": "nn.functional"}.get(place, place)
    for row in rows:
        found = [row["public_name"]] if row.get(place) else []
        for name in row["also"]:
            where, _, short = name.rpartition(".")
            if row.get(place) if not where else where == module:
                found.append(short)
        for name in found:
            groups.setdefault(name, []).append(row)
    return groups


def modules(rows):
    """The modules of lathe that definitions are put into, beside nn.functional."""
    names = {name.rpartition(".")[0] for row in rows for name in row["also"]}
    return sorted(names - {"", "nn.functional"})


def named_tuples(rows):
    lines, done = [], set()
    for row in rows:
        if len(row["results"]) > 1 and row["public_name"] not in done:
            done.add(row["public_name"])
            lines += [f"class _{row['public_name']}(tuple[Tensor, ...]):"]
            for name, _ in row["results"]:
                lines += ["    @property", f"    def {name}(self) -> Tensor: ..."]
            lines.append("")
    return lines


def summary(text):
    """The first paragraph."""
    return " ".join(inspect.cleandoc(text or "").split("\n\n")[0].split())


def docstring(text, indent):
    """Lines of a docstring, if there is anything to say."""
    width = 92 - len(indent)
    lines = textwrap.wrap(f'"""{summary(text)}"""', width)
    if len(lines) > 1:
        lines = [*textwrap.wrap(f'"""{summary(text)}', width), '"""']
    return [indent + line for line in lines] if text else []


def annotation(value):
    if value is inspect.Signature.empty:
        return "Any"
    if value is None:
        return "None"
    text = value if isinstance(value, str) else getattr(value, "__name__", None)
    if text is None or "[" in str(value):
        text = str(value)
    return re.sub(r"lathe\.(\w+\.)*", "", text)


def default_of(value):
    return repr(value) if isinstance(value, (bool, int, float, str, type(None))) else "..."


def python_function(name, function, indent=""):
    """One line for a function written in Python."""
    texts, keyword_only = [], False
    for p in inspect.signature(function).parameters.values():
        if indent and not texts:
            texts.append("self")  # functions that are methods too call it x
            continue
        if p.kind is p.KEYWORD_ONLY and not keyword_only and not any(t[0] == "*" for t in texts):
            texts.append("*")
            keyword_only = True
        stars = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        text = f"{stars}{p.name}: {annotation(p.annotation)}"
        if p.default is not p.empty:
            text += f" = {default_of(p.default)}"
        texts.append(text)
    result = annotation(inspect.signature(function).return_annotation)
    lines = [f"{indent}def {name}({', '.join(texts)}) -> {result}:"]
    doc = docstring(function.__doc__, indent + "    ")
    return [*lines, *doc] if doc else [lines[0] + " ..."]


def native_method(name, doc):
    """A hand-written method, from the lines its text begins with: one for each overload."""
    signatures, _, rest = doc.partition("\n\n")
    lines = []
    for line in signatures.split("\n"):
        arguments, result = re.match(r"\w+\((.*)\) -> (.*)$", line).groups()
        texts = ["self"]
        for part in filter(None, arguments.split(", ")):
            part_name, _, default = part.partition("=")
            texts.append(
                part if part in "/*" else f"{part_name}: Any" + (f" = {default}" if default else "")
            )
        lines += ["    @overload"] if "\n" in signatures else []
        lines += [f"    def {name}({', '.join(texts)}) -> {result}:", *docstring(rest, " " * 8)]
    return lines


def native_function(name, function):
    """Lines for a nanobind function."""
    lines = []
    for signature, doc, *_ in function.__nb_signature__:
        text = re.sub(r"lathe\.(_lathe\.)?", "", signature).replace("object", "Any")
        text = re.sub(r"\\(\d+)", "...", text)
        lines += [f"{text}:", *docstring(doc, "    ")] if doc else [f"{text}: ..."]
    return lines


def tensor_class(rows):
    lines = ["class Tensor:", f'    """{summary(lt.Tensor.__doc__)}"""', ""]
    lines.append("    def __init__(self, data: Any = ...) -> None: ...")
    own = dict(vars(lt.Tensor))
    by_name, in_place = grouped(rows, "method"), grouped(rows, "inplace_method")
    for name in sorted(own):
        value = own[name]
        if name in ("__new__", "__doc__", "__module__", "__hash__", "__weaklistoffset__"):
            continue
        if isinstance(value, (type(lt.Tensor.shape), property)):
            kind, _, meaning = (value.__doc__ or "").partition(": ")
            kind = kind if meaning else "Tensor"
            lines += ["    @property", f"    def {name}(self) -> {kind}: ..."]
            if name in ("requires_grad", "grad", "data"):
                lines += [
                    f"    @{name}.setter",
                    f"    def {name}(self, value: {kind}) -> None: ...",
                ]
        elif inspect.isfunction(value):
            lines += python_function(name, value, "    ")
        elif isinstance(value, type(list.append)):
            lines += native_method(name, value.__doc__)
        elif name in by_name:
            lines += ["    " + text for text in row_functions(name, by_name[name], "method")]
        elif name[:-1] in in_place:
            own_rows = in_place[name[:-1]]
            lines += ["    " + text for text in row_functions(name, own_rows, "method", True)]
        elif name.startswith("__") and not callable(value):
            continue
        else:
            lines += operator(name)
    return lines


BINARY = "add sub mul truediv floordiv mod pow matmul and or xor"
COMPARISONS = "eq ne lt le gt ge"


def operator(name):
    word = name.strip("_")  # __radd__: add
    plain = word[1:] if word[:1] in "ri" and word[1:] in BINARY.split() else word
    if plain in BINARY.split() or word in COMPARISONS.split():
        note = "  # type: ignore[override]" if word in COMPARISONS.split()[:2] else ""
        return [f"    def {name}(self, other: Any, /) -> Tensor: ...{note}"]
    results = {
        "__neg__": "Tensor", "__pos__": "Tensor", "__abs__": "Tensor", "__invert__": "Tensor",
        "__bool__": "bool", "__float__": "float", "__int__": "int", "__index__": "int",
        "__len__": "int", "__repr__": "str", "__iter__": "Any",
    }  # fmt: skip
    if name in results:
        return [f"    def {name}(self) -> {results[name]}: ..."]
    if word in ("getitem", "contains"):
        result = "Tensor" if word == "getitem" else "bool"
        return [f"    def {name}(self, key: Any, /) -> {result}: ..."]
    if word in ("setitem", "delitem"):
        value = ", value: Any" if word == "setitem" else ""
        return [f"    def {name}(self, key: Any{value}, /) -> None: ..."]
    return [f"    {name}: Any"]


def other_classes():
    lines = ["class dtype:", f'    """{lt.dtype.__doc__}"""', ""]
    for name, kind in (
        ("name", "str"),
        ("itemsize", "int"),
        ("is_floating_point", "bool"),
        ("is_complex", "bool"),
    ):
        lines += ["    @property", f"    def {name}(self) -> {kind}: ..."]
    lines += ["", "class device:", f'    """{lt.device.__doc__}"""', ""]
    lines.append("    def __init__(self, what: device | str) -> None: ...")
    for name, kind in (("type", "str"), ("index", "int")):
        lines += ["    @property", f"    def {name}(self) -> {kind}: ..."]
    return [*lines, ""]


def errors():
    lines = ["class Error(Exception):", *docstring(lt.Error.__doc__, "    "), ""]
    lines += [f"    {n}: str" for n in ("op", "problem", "got", "expected", "next", "site")]
    for name, value in sorted(vars(lt._lathe).items()):
        if isinstance(value, type) and issubclass(value, lt.Error) and value is not lt.Error:
            bases = [
                b.__name__ if b is lt.Error else f"builtins.{b.__name__}" for b in value.__bases__
            ]
            lines += [f"class {name}({', '.join(bases)}):", f'    """{value.__doc__}"""']
    return lines


IMPORTS = """
from . import autograd as autograd
from . import nn as nn
from . import optim as optim
from . import special as special
from . import utils as utils
from ._files import load as load
from ._files import save as save
"""


def main_stub(rows):
    head = HEAD.format(what="The names of `lathe`.", imports=IMPORTS)
    lines = [head.replace("from collections", "import builtins\nfrom collections", 1)]
    lines += ["__version__: str", "cmake_prefix_path: str", ""]
    lines += other_classes() + named_tuples(rows) + tensor_class(rows) + [""] + errors() + [""]
    dtypes = {n for n, v in vars(lt).items() if isinstance(v, lt.dtype)}
    lines += [f"{n}: dtype" for n in sorted(dtypes)]
    lines += [f"{n}: builtins.float" for n in ("e", "inf", "nan", "pi")] + ["newaxis: None", ""]
    written = set()
    for name, value in sorted(vars(lt).items()):
        if inspect.isfunction(value) and not name.startswith("_"):
            lines += python_function(name, value)
        elif (
            hasattr(value, "__nb_signature__")
            and not name.startswith("_")
            and not isinstance(value, type)
        ):
            lines += native_function(name, value)
        else:
            continue
        written.add(name)
    for name, group in sorted(grouped(rows, "function").items()):
        if name not in written:
            lines += row_functions(name, group, "function")
    lines += ["", "class no_grad:", "    def __init__(self, function: Any = None) -> None: ..."]
    lines += ["    def __enter__(self) -> Any: ...", "    def __exit__(self, *_: Any) -> None: ..."]
    lines += ["    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]: ..."]
    lines += ["class enable_grad(no_grad):", "    def __init__(self) -> None: ..."]
    lines += ["class set_grad_enabled(no_grad):", "    def __init__(self, mode: bool) -> None: ..."]
    lines += ["inference_mode = no_grad"]
    return lines


def module_stub():
    """The extension module, for the package's own files: what users see, and the rest as Any."""
    lines = ['"""The extension module. Printed by python/stubs/print_stubs.py; do not edit."""', ""]
    lines += ["from typing import Any", "", "from . import *  # noqa: F403", ""]
    lines += [f"{n}: Any" for n in sorted(vars(lt._lathe)) if n.startswith("_") and n[1] != "_"]
    return lines


def entries_stub(rows, place, module):
    """A module of op definitions: its Python functions, then the definitions found there."""
    import importlib

    depth = "." * len(module.split("."))
    lines = [f'"""The names of {module}. Printed by python/stubs/print_stubs.py."""', ""]
    lines += ["from collections.abc import Sequence"]
    lines += ["from typing import Any, Literal, TypeAlias", "", f"from {depth} import Tensor", ""]
    lines += ["Number: TypeAlias = float | int | bool | complex"]
    lines += ["Ints: TypeAlias = int | Sequence[int]", "DTypeLike: TypeAlias = Any", ""]
    lines += ["DeviceLike: TypeAlias = Any", ""]
    groups = grouped(rows, place)
    lines += named_tuples([row for group in groups.values() for row in group])
    written = set()
    for name, value in sorted(vars(importlib.import_module(f"lathe.{module}")).items()):
        if inspect.isfunction(value) and not name.startswith("_") and name != "entries":
            lines += python_function(name, value)
            written.add(name)
    for name, group in sorted(groups.items()):
        if name not in written:
            lines += row_functions(name, group, place)
    if "@overload" in lines:
        at = lines.index("from typing import Any, Literal, TypeAlias")
        lines[at] += ", overload"
    if not any("Literal[" in line for line in lines):
        lines = [line.replace("Any, Literal, TypeAlias", "Any, TypeAlias") for line in lines]
    return lines


def classes_stub():
    """lathe.nn, whose names are taken from its files while it is imported: from where each is."""
    from lathe import nn

    lines = [
        '"""The names of lathe.nn. Printed by python/stubs/print_stubs.py; do not edit."""',
        "",
    ]
    places = {}
    for name, value in sorted(vars(nn).items()):
        module = "lathe.nn." if inspect.ismodule(value) else getattr(value, "__module__", "")
        if name[0] != "_" and module.startswith("lathe.nn."):
            places.setdefault(module.removeprefix("lathe.nn"), []).append(f"{name} as {name}")
    for place, names in sorted(places.items()):
        lines += [f"from {place} import {name}" for name in names]
    return lines


def shadow_free(text):
    """Inside the stub `float`, `int`, `bool` and `complex` name Lathe's: types mean Python's."""
    annotated = re.compile(r"(?<=[\s\[|(])(float|int|bool|complex)(?=[\],\s|):]|$)")
    lines = []
    for line in text.split("\n"):
        if re.match(r"\s*(def|class|@|Number|Ints|    \w+: )", line) or "TypeAlias" in line:
            head, separator, rest = line.partition("(" if "def " in line else ":")
            line = head + separator + annotated.sub(r"builtins.\1", rest)
        lines.append(line)
    return "\n".join(lines)


def stubs():
    rows = [dict(r) for r in lt._lathe._definitions()]
    main = shadow_free("\n".join(main_stub(rows)))
    texts = {"__init__.pyi": main, "_lathe.pyi": "\n".join(module_stub())}
    texts["nn/__init__.pyi"] = "\n".join(classes_stub())
    texts["nn/functional.pyi"] = "\n".join(entries_stub(rows, "functional", "nn.functional"))
    for module in modules(rows):
        texts[module.replace(".", "/") + ".pyi"] = "\n".join(entries_stub(rows, module, module))
    return {name: text + "\n" for name, text in texts.items()}


def formatted(name, text):
    """The text as the linter wants it: imports in order, then laid out."""
    import subprocess

    for command in (["check", "--select=I", "--fix", "--quiet"], ["format"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--stdin-filename", f"python/lathe/{name}"]
        done = subprocess.run([*ruff, "-"], input=text, capture_output=True, text=True, check=True)
        text = done.stdout
    return text


def main():
    wrong = []
    for name, text in stubs().items():
        text = formatted(name, text)
        path = FOLDER / name
        if "--check" not in sys.argv:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            wrong.append(str(path))
    for path in wrong:
        print(f"{path} is not what ./dev python python/stubs/print_stubs.py writes")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
