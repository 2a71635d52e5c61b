"""Prints the reference pages of the site from what the module says of itself.

Ops come from their rows and from the table of kernels, grouped as the headers of
include/lathe/ops group them; flags from their rows; the rest from the signatures and docstrings of
the package. Nothing is listed here by hand but the modules that are looked at.
"""

import importlib
import inspect
import re
from pathlib import Path

import lathe as lt

HEADERS = Path(__file__).resolve().parents[1] / "include/lathe/ops"
MODULES = {
    "lathe": "tensors, gradients, traces, files and settings",
    "lathe.nn": "layers and containers",
    "lathe.nn.functional": "the functions behind the layers",
    "lathe.nn.init": "initial values of weights",
    "lathe.optim": "optimisers",
    "lathe.autograd": "gradients, checks and functions with a gradient of their own",
    "lathe.func": "transforms of functions",
    "lathe.distributions": "random variables",
    "lathe.library": "ops of your own",
    "lathe.utils.data": "data sets and loaders",
}
GROUPS = [
    ("integers", {"uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"}),
    ("floating", {"float16", "bfloat16", "float32", "float64"}),
    ("complex", {"complex64", "complex128"}),
]


def public(name):
    """`max` of the overload `max.dim`."""
    return name.split(".")[0]


def families():
    """{family: its ops' public names}, read off the headers; each op is in one."""
    found = {}
    for header in sorted(HEADERS.glob("*.h")):
        names = re.findall(r'>\s*\w+\{\s*"([\w.]+)"', header.read_text())
        found[header.stem] = list(dict.fromkeys(public(n) for n in names))
    return {family: names for family, names in found.items() if names}


def rows_by_name():
    """{public name: its definitions, one for each overload}."""
    found = {}
    for row in lt._lathe._definitions():
        found.setdefault(public(row["name"]), []).append(row)
    return found


def dtypes(row):
    """'bool, integers, floating': the domain, in the words for whole groups of dtypes."""
    if row["kind"] == "composite":
        return "those of the ops it is made of"
    have, words = set(row["dtypes"]), []
    if "bool" in have:
        words.append("bool")
    for word, members in GROUPS:
        if members <= have:
            words.append(word)
        else:
            words += sorted(members & have)
    return ", ".join(words) + ("; integers and bool become floating" if row["to_float"] else "")


def reproducibility(row):
    """The classes of the entries that may run a definition, its default first."""
    if row["kind"] == "composite":
        return "that of the ops it is made of"
    classes = re.findall(r"\((defined|pinned|free)\)", lt.table(row["name"]))
    others = sorted(set(classes) - {classes[0]})
    return classes[0] + (f"; {' or '.join(others)} by another entry" if others else "")


def forms(row):
    found = []
    if row["method"]:
        found.append("method")
    if row["inplace"]:
        found.append(f"in place (`{public(row['name'])}_`)")
    return ", ".join(found) or "function only"


def op_section(name, rows):
    lines = [f"## {name}", ""]
    for row in rows:
        summary = row["doc"].split("\n\n", 1)[-1]
        lines += ["```text", row["schema"], "```", "", " ".join(escape(summary).split()), ""]
        lines += [
            "| kind | dtypes | reproducibility | forms | derivative |",
            "|---|---|---|---|---|",
            f"| {row['kind']} | {dtypes(row)} | {reproducibility(row)} | {forms(row)} "
            f"| {'no' if row['no_grad'] else 'yes'} |",
            "",
        ]
    return lines


def escape(text):
    """Text as Markdown that shows it as it is; `code` stays code."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(
        p if p.startswith("`") else re.sub(r"([*_<>|\[\]\\])", r"\\\1", p) for p in parts
    )


def op_pages():
    """{page: its text}: one a family, in the order of its header."""
    rows, pages = rows_by_name(), {}
    for family, names in families().items():
        lines = [f"# Ops: {family}", "", f"The ops of `lathe/ops/{family}.h`.", ""]
        for name in names:
            lines += op_section(name, rows.pop(name))
        pages[f"ops-{family}"] = "\n".join(lines)
    lines = ["# Ops: more", "", "Ops without a name in the headers of C++.", ""]
    for name in sorted(rows):
        lines += op_section(name, rows[name])
    return pages | {"ops-more": "\n".join(lines)}


def flags_page():
    lines = ["# Flags", ""]
    lines += [
        "`lt.set_flag(name, value)` sets a flag of the process, `lt.get_flag(name)` reads it."
    ]
    lines += ["Its environment variable is read when the flag is first asked for.", ""]
    lines += ["| flag | variable | default | meaning |", "|---|---|---|---|"]
    for name, variable, default, meaning in lt.flags():
        shown = f"`{default}`" if default else "empty"
        lines.append(f"| `{name}` | `{variable}` | {shown} | {escape(meaning)} |")
    return "\n".join([*lines, ""])


def described(value):
    """Whether a module's member is ours to describe."""
    if inspect.ismodule(value) or isinstance(value, (type(lt.relu), lt.dtype)):
        return False
    return callable(value) and str(getattr(value, "__module__", "lathe")).startswith("lathe")


def doc_of(value):
    return inspect.cleandoc(value.__doc__) if isinstance(value.__doc__, str) else ""


def signature_of(name, value, method):
    """'name(parameters) -> type'; for what C++ defines, the first line of its docstring."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        first = doc_of(value).split("\n")[0]
        if not first.startswith(f"{name}("):
            return name
        return first.replace("(self, ", "(").replace("(self)", "()")
    if method:
        signature = signature.replace(parameters=list(signature.parameters.values())[1:])
    text = str(signature).replace("'", '"')
    return name + re.sub(r"lathe\.(_lathe\.|\w+\.)*(?=[A-Z])", "", text)


def member_section(name, value, method=False):
    signature = signature_of(name, value, method)
    doc = doc_of(value)
    if doc.startswith(f"{name}("):
        doc = doc.partition("\n")[2].strip()
    if isinstance(value, type) and doc == doc_of(value.__base__):
        doc = ""
    return [f"## {escape(name)}", "", "```text", signature, "```", "", *paragraphs(doc)]


def paragraphs(doc):
    """A docstring as Markdown: text flows, indented examples are code."""
    lines = []
    for part in filter(None, doc.split("\n\n")):
        if part.startswith(("    ", ">>>")):
            lines += ["```python", inspect.cleandoc(part), "```", ""]
        else:
            lines += [" ".join(escape(part).split()), ""]
    return lines


def module_page(module, about):
    lines = [f"# {escape(module)}", "", f"{about.capitalize()}.", ""]
    members = vars(importlib.import_module(module))
    for name in sorted(members, key=str.lower):
        if not name.startswith("_") and described(members[name]):
            lines += member_section(name, members[name])
    return "\n".join(lines)


def tensor_page():
    """What a tensor has besides the ops, which are methods too."""
    ops = {n + end for n in rows_by_name() for end in ("", "_")}
    lines = ["# lathe.Tensor", "", "Methods and attributes. Each op that says *method* among its"]
    lines += ["forms is one as well, without its first argument.", ""]
    for name in sorted(n for n in dir(lt.Tensor) if not n.startswith("_") and n not in ops):
        value = inspect.getattr_static(lt.Tensor, name)
        if callable(value):
            lines += member_section(name, value, method=True)
        else:
            lines += [f"## {escape(name)}", "", *paragraphs(doc_of(value))]
    return "\n".join(lines)


def pages():
    """{page below docs/reference: its text}."""
    found = {"flags": flags_page(), "tensor": tensor_page()}
    for module, about in MODULES.items():
        found[module] = module_page(module, about)
    return found | op_pages()
