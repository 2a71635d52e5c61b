"""python -m lathe show FILE: what is in a `.lathe` or safetensors file.

python -m lathe table OP: which implementations can run an op, in order, and which are disabled.
"""

import os
import sys


def show(path):
    """Lines about a file: a program's signature and graph, or names and shapes of its tensors."""
    from . import load
    from .jit.program import Program

    what = load(path)
    size = os.path.getsize(path)
    if not isinstance(what, Program):
        yield f"{path}: state, {size} bytes"
        for name, tensor in _tensors(what, ""):
            yield f"  {name}: {_type(tensor.dtype, tensor.shape)}"
        return
    yield f"{path}: the program {what.name}, {size} bytes"
    if what.note:
        yield f"  note: {what.note}"
    for word, slots in (("input", what.inputs), ("output", what.outputs)):
        for name, dtype, shape in slots:
            yield f"  {word} {name}: {_type(dtype, shape)}"
    yield what.graph.rstrip("\n")


def _tensors(value, name):
    from . import Tensor

    if isinstance(value, Tensor):
        yield name, value
    elif isinstance(value, (dict, list, tuple)):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in items:
            yield from _tensors(part, f"{name}.{key}" if name else str(key))


def _type(dtype, shape):
    return f"{dtype.name}[{', '.join('*' if n is None else str(n) for n in shape)}]"


def main(arguments):
    from . import Error, table

    if len(arguments) != 2 or arguments[0] not in ("show", "table"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    word, what = arguments
    try:
        for line in show(what) if word == "show" else [table(what)]:
            print(line)
    except Error as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
