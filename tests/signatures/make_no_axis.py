"""Prints no_axis.txt: the definitions whose PyTorch namesakes refuse a tensor without axes.

    PYTHONPATH=<build>/python python tests/signatures/make_no_axis.py > tests/signatures/no_axis.txt

Needs PyTorch and a build of Lathe in one Python. Each definition with a parameter that is an axis
is called as tests/python/core/test_zero_dim_axes.py calls it: on tensors of rank 0, axis 0.
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "python"), str(HERE.parent / "python/core")]

import test_zero_dim_axes as zero  # noqa: E402
import torch  # noqa: E402

import lathe as lt  # noqa: E402


def function_of(row):
    """PyTorch's function of that name, or None."""
    for name in (row["public_name"], *row["also"]):
        owner, _, short = name.rpartition(".")
        places = [owner] if owner else ["", "Tensor", "nn.functional", "special", "linalg", "fft"]
        for place in places:
            found = torch
            for part in filter(None, [*place.split("."), short]):
                found = getattr(found, part, None)
            if callable(found):
                return found
    return None


def as_torch(value):
    if isinstance(value, lt.Tensor):
        return torch.from_numpy(value.detach().numpy().copy())
    if isinstance(value, lt.dtype):
        return getattr(torch, value.name)
    if isinstance(value, (list, tuple)):
        return [as_torch(v) for v in value]
    return value


def refuses(op):
    function = function_of(zero.ROWS[op])
    if function is None:
        return False
    given = {name: as_torch(value) for name, value in zero.arguments(op, 0, 0).items()}
    try:
        function(*given.values())
    except (TypeError, AttributeError):  # another order of arguments
        try:
            function(**given)
        except TypeError:
            return False
        except (RuntimeError, IndexError, ValueError):
            return True
    except (RuntimeError, IndexError, ValueError):
        return True
    return False


print(
    "# Definitions whose PyTorch namesakes refuse a tensor without axes, where axis 0 is asked for."
)
print("# Made by make_no_axis.py, read by tests/python/core/test_zero_dim_axes.py.")
for op in sorted(zero.OPS):
    if refuses(op):
        print(op)
