"""Writes names.txt: the public names of PyTorch's namespaces of operators, as facts.

Run by hand, in an environment of its own that has PyTorch in it, as make.py:

    ENV/bin/python tests/signatures/make_names.py

A name is public if it has no underscore in front and is neither a module, a text of its
documentation, nor a class that PyTorch does not list itself (`__all__`).
"""

import inspect
import types
from pathlib import Path

import torch

TABLE = Path(__file__).with_name("names.txt")
NAMESPACES = {
    "torch": torch,
    "Tensor": torch.Tensor,
    "nn.functional": torch.nn.functional,
    "linalg": torch.linalg,
    "fft": torch.fft,
    "special": torch.special,
    "masked": torch.masked,
    "signal.windows": torch.signal.windows,
}


def is_public(place, name):
    value = getattr(place, name, None)
    if name.startswith("_") or isinstance(value, types.ModuleType):
        return False
    if isinstance(value, (str, dict)) or (value is torch.Tensor and place is not torch):
        return False  # texts that are put into docstrings; what a module imports for itself
    if inspect.isclass(value):
        return name in getattr(place, "__all__", ()) or (place is torch and name in torch.__all__)
    module = getattr(value, "__module__", None) or "torch"
    return module.startswith("torch")


def main():
    lines = [f"# The public names of PyTorch {torch.__version__.split('+')[0]}, by namespace."]
    lines.append("# Made by make_names.py, read by docs/ops.py.")
    for space, place in NAMESPACES.items():
        lines += [f"{space}.{name}" for name in sorted(dir(place)) if is_public(place, name)]
    TABLE.write_text("\n".join([*lines, ""]))


if __name__ == "__main__":
    main()
