"""Writes torch.txt: the signatures of PyTorch's public functions and methods, as facts.

Run by hand, in an environment of its own that has PyTorch in it; Lathe and its tests never
import PyTorch. The table is then reviewed as a diff.

    python3 -m venv ENV && ENV/bin/pip install torch==2.9.1 numpy
    ENV/bin/python tests/signatures/make.py

Where a signature comes from, in this order: `inspect` for what PyTorch writes in Python; the type
stubs inside the package for what it binds from C++; the registered schemas for the namespaces
that have no stubs (linalg, special, fft and parts of nn.functional). What the parser of arguments
itself says about a call that fits nothing is asked last, and corrects the stubs.
"""

import ast
import inspect
import re
import sys
import textwrap
from pathlib import Path

import torch
import torch.masked
import torch.nn.functional

TABLE = Path(__file__).with_name("torch.txt")
HEADER = """\
# Signatures of PyTorch {version}: what a call may look like. Made by make.py, read by table.py.
#
# One line per overload, sorted by name; methods without self; a line without parentheses is an
# attribute. `list[int]` is any sequence, `Number` any Python scalar, `T | list[T]` says that a
# single value stands for a list. A parameter without a type is one PyTorch writes none for.
# Left out: names that start with an underscore, named dimensions, orders of arguments that
# PyTorch calls deprecated, what it has dropped, and bindings of its own vendors and of quantised,
# sparse or masked tensors.
"""
LEFT_OUT = re.compile(
    r"_|(cudnn|miopen|mkldnn|fbgemm|xnnpack|quantized|fake_quantize|quantize_per|choose_qparams"
    r"|q_|int_repr|dequantize|sym_|nested|native_|sparse|hspmm|sspaddmm|get_(num_)?threads"
    r"|crow_indices|ccol_indices|row_indices|col_indices|to_padded|is_(vulkan|mps|xpu|ipu|maia|mtia)"
    r"|batch_norm_(backward|elemt|gather|stats|update)|(?!index_)(?!narrow_).*_copy$|.*_backward$"
    r"|rename|align_|refine_|aminmax_|threshold_and|.*autocast|parse_|import_ir|merge_type|unify_type|.*vital|init_num"
    r"|has_torch|handle_torch|assert_int|boolean_dispatch|has_names|new$|reinforce|compiled_with"
    r"|fork|wait|obj|cholesky_solve_|module_load|.*masked_tensor|.*_amp_)"
)
GONE = {f"{place}.{name}" for place in ("torch", "Tensor") for name in
        ("eig", "symeig", "solve", "lstsq", "matrix_rank")}  # fmt: skip
NAMESPACES = {
    "torch": torch,
    "torch.linalg": torch.linalg,
    "torch.special": torch.special,
    "torch.fft": torch.fft,
    "torch.masked": torch.masked,
    "torch.signal.windows": torch.signal.windows,
    "nn.functional": torch.nn.functional,
}
ATTRIBUTES = "shape dtype device layout requires_grad retains_grad is_leaf grad grad_fn data"
ATTRIBUTES += " ndim T H mT mH real imag nbytes itemsize is_cpu is_cuda is_meta output_nr names"

# Names of parameters that a stub has and a call refuses, and what is right; "": no such parameter.
REFUSED = {
    ("requires_grad_", "mode"): "requires_grad",
    ("new_tensor", "pin_memory"): "",
    ("numel", "self"): "input",
}

# --- Types, in few words ------------------------------------------------------------------------

WORDS = {
    "_int": "int", "SymInt": "int", "_float": "float", "SymFloat": "float", "_bool": "bool",
    "SymBool": "bool", "_dtype": "dtype", "_device": "device", "DeviceLikeType": "device",
    "_layout": "layout", "_qscheme": "qscheme", "_size": "list[int]", "Size": "list[int]",
    "Device": "device", "Scalar": "Number", "NoneType": "None", "Storage": "object",
    "DimOrDims": "int | list[int] | None", "MaskedTensor": "Tensor",
    "_size_any_t": "list[int]", "_Device": "device", "DType": "dtype", "PyCapsule": "object",
}  # fmt: skip


def words(node):
    """The alternatives of an annotation, as a list of words without repetition."""
    if isinstance(node, ast.BinOp):
        found = words(node.left) + words(node.right)
    elif isinstance(node, ast.Subscript):
        found = subscript(node)
    elif isinstance(node, ast.Constant):
        found = ["None"] if node.value is None else words(ast.parse(node.value, mode="eval").body)
    else:
        name = ast.unparse(node).rsplit(".", 1)[-1]
        found = [WORDS.get(name, name)]
    if "Number" in found:
        found = [w for w in found if w not in ("_complex", "complex", "int", "float", "bool")]
    if "list[Number]" in found:
        found = [w for w in found if w not in ("list[int]", "list[float]")]
    return list(dict.fromkeys(found))


def subscript(node):
    outer = ast.unparse(node.value).rsplit(".", 1)[-1]
    inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    inner = [i for i in inner if not (isinstance(i, ast.Constant) and i.value is ...)]
    if outer == "Optional":
        return [*words(inner[0]), "None"]
    if outer == "Union":
        return [w for i in inner for w in words(i)]
    if outer in ("Sequence", "list", "List", "tuple", "Tuple"):
        parts = [" | ".join(words(i)) for i in inner]
        same = len(set(parts)) == 1
        return [f"list[{parts[0]}]" if same else f"tuple[{', '.join(parts)}]"]
    if outer.startswith("BroadcastingList"):
        return [*words(inner[0]), f"list[{words(inner[0])[0]}]"]
    if outer == "Literal":
        return list(dict.fromkeys(type(i.value).__name__ for i in inner)) or ["bool"]
    return [outer if outer in ("Callable", "Iterable") else "object"]


def type_text(node):
    if node is None:
        return ""
    found = words(node)
    if "list[Tensor]" in found and ast.unparse(node).startswith("tuple[Tensor, ...] | list"):
        found.remove("None")  # the stubs write every list of tensors so
    return " | ".join(found)


def named_dimension(parameter):
    node = parameter.annotation
    return parameter.arg == "names" or (node is not None and "EllipsisType" in ast.unparse(node))


# --- Lines --------------------------------------------------------------------------------------


def parameter(name, kind, default):
    text = f"{name}: {kind}" if kind else name
    if default is None:
        return text
    return f"{text} = {default}" if kind else f"{text}={default}"


def default_text(node):
    if node is None:
        return None
    text = ast.unparse(node)
    return re.sub(r"\btorch\.(?=\w)", "", text)


def of_stub(definition, method):
    """'(parameters) -> type' of a definition in a stub; None for what the table leaves out."""
    a = definition.args
    every = a.posonlyargs + a.args
    plain = [None] * (len(every) - len(a.defaults)) + a.defaults
    if any(named_dimension(p) for p in every + a.kwonlyargs):
        return None
    if method and every and every[0].arg == "self":
        every, plain = every[1:], plain[1:]
    for p in every + a.kwonlyargs:
        p.arg = REFUSED.get((definition.name, p.arg), p.arg)
    if any(p.arg == "self" and type_text(p.annotation) == "Tensor" for p in every):
        return None  # an order of arguments that is called deprecated
    out = []
    for i, (p, d) in enumerate(zip(every, plain, strict=True)):
        out.append(stub_parameter(p, d))
        if i + 1 == len(a.posonlyargs):
            out.append("/")
    only = [(p, d) for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True)]
    if method:  # the stubs show an `out` that the methods refuse
        only = [(p, d) for p, d in only if p.arg != "out"]
    if a.vararg:
        out.append(parameter("*" + a.vararg.arg, type_text(a.vararg.annotation), None))
    elif only:
        out.append("*")
    out += [stub_parameter(p, d) for p, d in only]
    out = [text for text in out if not text.startswith(":")]
    return f"({', '.join(out)})" + returns(definition.returns)


def stub_parameter(p, default):
    kind, text = type_text(p.annotation), default_text(default)
    if kind == "Number | None" and text not in (None, "None"):
        kind = "Number"
    if kind == "bool | None" and text == "False":
        kind = "bool"
    return parameter(real_name(p.arg), kind, text)


def real_name(name):
    return "from" if name == "from_" else name


def returns(node):
    text = ast.unparse(node) if node is not None else ""
    if "return_types" in text:
        return " -> " + text.rsplit(".", 1)[-1]
    return f" -> {type_text(node)}" if node is not None else ""


def of_python(function, method):
    """The one signature of a function written in Python."""
    inner = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    if "if_false" in inner:  # two functions behind one name, chosen by a flag
        function = inner["if_false"].cell_contents
    function = inspect.unwrap(function)
    definition = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    a = definition.args
    written = {p.arg: p.annotation for p in a.posonlyargs + a.args + a.kwonlyargs}
    signature = inspect.signature(function)
    out, star = [], False
    found = list(signature.parameters.values())
    for p in found[1:] if method else found:
        kind = type_text(written.get(p.name))
        if p.name == "dtype":
            kind = "dtype | None"
        default = None if p.default is p.empty else plain_value(p.default)
        name = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "") + p.name
        star = star or p.kind is p.VAR_POSITIONAL
        if p.kind is p.KEYWORD_ONLY and not star:
            out.append("*")
            star = True
        if (
            p.kind is not p.POSITIONAL_ONLY
            and found[0].kind is p.POSITIONAL_ONLY
            and "/" not in out
        ):
            out.append("/")
        out.append(parameter(name, kind, default))
    if found and found[-1].kind is inspect.Parameter.POSITIONAL_ONLY:
        out.append("/")
    return f"({', '.join(out)})" + returns(definition.returns)


def plain_value(value):
    if value is None or isinstance(value, (bool, int, float, str, tuple, list)):
        return repr(value)
    if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
        return str(value).removeprefix("torch.")
    return "..."


# --- Schemas ------------------------------------------------------------------------------------


def of_schemas(operator):
    """The overloads of a registered operator, with `out=` folded into the one it belongs to."""
    found = list(torch._C._jit_get_schemas_for_operator("aten::" + operator))
    outs = [s for s in found if any(a.is_out for a in s.arguments)]
    lines = []
    for schema in found:
        if schema in outs or "str" in schema.overload_name or "Dimname" in str(schema):
            continue
        names = [a.name for a in schema.arguments]
        writes = next((o for o in outs if same_inputs(o, names)), None)
        lines.append(of_schema(schema, writes))
    return lines


def same_inputs(out, names):
    return [a.name for a in out.arguments if not a.is_out] == [
        n for n in names if n not in ("dtype", "layout", "device", "pin_memory") or has(out, n)
    ]


def has(schema, name):
    return any(a.name == name for a in schema.arguments)


def of_schema(schema, writes):
    parts, star = [], False
    for a in schema.arguments:
        if a.kwarg_only and not star:
            parts.append("*")
            star = True
        name = "input" if a.name == "self" else a.name
        default = plain_value(one_value(a)) if a.has_default_value() else None
        parts.append(parameter(name, schema_type(a), default))
    names = [a.name for a in schema.arguments]
    if "pin_memory" in names:
        parts.append("requires_grad: bool = False")
    if writes:
        parts += ([] if star else ["*"]) + [f"out: {out_type(writes)} = None"]
    back = [schema_word(str(r.type)) for r in schema.returns]
    back = back[0] if len(back) == 1 else f"tuple[{', '.join(back)}]"
    return f"({', '.join(parts)}) -> {back}"


def one_value(argument):
    """The default; one number where a list repeats it for each dimension."""
    value = argument.default_value
    if argument.N is not None and isinstance(value, list) and len(set(value)) == 1:
        return value[0]
    return value


def out_type(writes):
    many = sum(a.is_out for a in writes.arguments) > 1
    return ("list[Tensor]" if many else "Tensor") + " | None"


def schema_type(argument):
    text = schema_word(str(argument.type))
    real = str(argument.real_type)
    for word in ("dtype", "layout", "device", "memory_format"):
        if argument.name == word:
            return word + (" | None" if text.endswith("None") else "")
    if argument.N is not None and text == "list[int]":
        return "int | list[int]"
    if "ScalarType" in real:
        return text.replace("int", "dtype")
    return text


def schema_word(text):
    if m := re.fullmatch(r"Optional\[(.*)\]", text):
        return schema_word(m.group(1)) + " | None"
    if m := re.fullmatch(r"List\[(.*)\]", text):
        return f"list[{schema_word(m.group(1))}]"
    return {"number": "Number", "SymInt": "int", "Scalar": "Number"}.get(text, text)


# --- What the parser of arguments says ---------------------------------------------------------


def parsed(function, *arguments):
    """The parameter names of each overload, as the message about a bad call lists them, or None."""
    try:
        function(*arguments, no_such_keyword=1)
    except Exception as error:
        rows = re.findall(r"^ \* \((.*)\)$", str(error), re.M)
        rows = [r for r in rows if not re.search(r"\bnames? ", r)]
        return [names_of(r) for r in rows] or None
    return None


def names_of(text):
    """Names in order, with '*' where keyword-only ones begin."""
    out = []
    for part in re.split(r", (?![^()]*\))", text) if text else []:
        out.append("*" if part == "*" else part.split(" = ")[0].split()[-1].lstrip("*"))
    return [n for n in out if n]


def most_by_place(function, *arguments):
    """How many arguments a function with one overload takes by place; None: it does not say."""
    try:
        function(*arguments, *[object()] * 30)
    except Exception as error:
        found = re.search(r"takes (?:from \d+ to )?(\d+|no) (?:positional )?arguments?", str(error))
        if found:
            return 0 if found.group(1) == "no" else int(found.group(1))
    return None


def refuses_names(function):
    try:
        function(no_such_keyword=1)
    except Exception as error:
        return "takes no keyword arguments" in str(error)
    return False


def keyword_only_from(line, most):
    """The line, with what stands behind so many parameters made keyword-only."""
    names = stub_names(line)
    plain = names.index("*") if "*" in names else len(names)
    if most is None or most >= plain or re.match(r"\(\*\w", line):
        return line
    inside, back = line[1:].rsplit(")", 1)
    parts = re.split(r", (?![^\[(]*[\])])", inside)
    parts = [p for p in parts if p != "*"]
    return f"({', '.join([*parts[:most], '*', *parts[most:]])})" + back


def without_parts(lines):
    """Without the lines that another one says more of: written twice in the stub."""
    lines = unique(lines)
    names = {x: set(stub_names(x)) for x in lines}
    first = {x: x[1:].split(",")[0].rstrip(")") for x in lines}
    return [
        x
        for x in lines
        if not any(names[x] < names[y] and first[x] == first[y] and same_start(x, y) for y in lines)
    ]


def same_start(part, whole):
    """Do both take the same arguments by place?"""
    a, b = stub_names(part), stub_names(whole)
    return "*" in a and "*" in b and a[: a.index("*")] == b[: b.index("*")]


def stub_names(line):
    inside = line[1 : line.rindex(")")]
    parts = re.split(r", (?![^\[(]*[\])])", inside) if inside else []
    return [p if p == "*" else p.lstrip("*").split(":")[0].split("=")[0] for p in parts]


def confirmed(lines, overloads):
    """The lines of a stub, less those the parser does not know, with the parser's names."""
    if overloads is None:
        return lines
    kept = [x for x in lines if any(same_names(stub_names(x), o) for o in overloads)]
    unknown = [x for x in lines if x not in kept]
    for line in unknown:  # the parser has the same shape under another name
        names = stub_names(line)
        like = [o for o in overloads if len(o) == len(names) and o[1:] == names[1:]]
        like = [o for o in like if not any(same_names(stub_names(k), o) for k in kept)]
        if like:
            kept.append(line.replace(f"({names[0]}:", f"({like[0][0]}:", 1))
    return kept or lines


def same_names(a, b):
    return [n for n in a if n != "*"] == [n for n in b if n != "*"]


# --- What there is ------------------------------------------------------------------------------


def stub(path, class_name=None):
    """Definitions of a stub by name; 'overload' and the order of the file are kept."""
    body = ast.parse((Path(torch.__file__).parent / path).read_text()).body
    if class_name:
        body = next(n for n in body if isinstance(n, ast.ClassDef) and n.name == class_name).body
    found = {}
    for node in body:
        if isinstance(node, ast.FunctionDef):
            found.setdefault(node.name, []).append(node)
    return found


def unique(lines):
    return list(dict.fromkeys(line for line in lines if line))


def function_lines(prefix, module, functions):
    for name in sorted(dir(module)):
        value = getattr(module, name)
        if LEFT_OUT.match(name) or inspect.isclass(value) or inspect.ismodule(value):
            continue
        if f"{prefix}.{name}" in GONE:
            continue
        if inspect.isfunction(value):
            if not value.__module__.startswith("torch") or "contextlib" in value.__module__:
                continue
            yield name, [of_python(value, False)]
        elif inspect.isbuiltin(value):
            at = value.__name__
            if prefix != "torch" and at not in functions:
                yield name, of_schemas(at)
            else:
                found = unique(of_stub(d, False) for d in functions.get(at, []))
                known = parsed(value, torch.zeros(1), object()) if prefix == "torch" else None
                found = confirmed(found, known)
                if len(found) == 1:
                    found = [keyword_only_from(found[0], most_by_place(value))]
                if refuses_names(value):
                    found = [re.sub(r"(?<!\()\)", ", /)", line, count=1) for line in found]
                yield name, found or of_schemas(at)


def method_lines(methods):
    for name in sorted(dir(torch.Tensor)):
        value = inspect.getattr_static(torch.Tensor, name)
        if LEFT_OUT.match(name) or f"Tensor.{name}" in GONE:
            continue
        if inspect.isfunction(value):
            yield name, [of_python(value, True)]
        elif inspect.ismethoddescriptor(value) and name in methods:
            found = unique(of_stub(d, True) for d in methods[name])
            found = confirmed(found, parsed(value, torch.zeros(1), object(), object()))
            most = most_by_place(value, torch.zeros(1)) or most_by_place(value, torch.zeros(1), [2])
            yield name, without_parts(keyword_only_from(line, most) for line in found)


def table():
    functions = stub("_C/_VariableFunctions.pyi") | stub("_C/__init__.pyi")
    functions |= stub("_C/_VariableFunctions.pyi")
    lines, empty = [], []
    for prefix, module in NAMESPACES.items():
        for name, found in function_lines(prefix, module, functions):
            lines += [f"{prefix}.{name}{line}" for line in unique(found)]
            empty += [] if unique(found) else [f"{prefix}.{name}"]
    for name, found in method_lines(stub("_C/__init__.pyi", "TensorBase")):
        lines += [f"Tensor.{name}{line}" for line in unique(found)]
        empty += [] if unique(found) else [f"Tensor.{name}"]
    lines += [f"Tensor.{name}" for name in sorted(ATTRIBUTES.split())]
    return lines, empty


def main():
    lines, empty = table()
    text = HEADER.format(version=torch.__version__.split("+")[0]) + "\n".join(lines) + "\n"
    TABLE.write_text(text)
    print(f"{len(lines)} lines, {len(text)} bytes; without a signature: {', '.join(empty)}")


if __name__ == "__main__":
    sys.exit(main())
