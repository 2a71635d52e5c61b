"""The Python array-API standard, 2024.12, over our tensors.

    import lathe.array_api as xp
    xp.sum(xp.asarray([[1, 2], [3, 4]]), axis=0)

The standard's own names and arguments (`axis`, `keepdims`, `x1`), and its rules where they are not
PyTorch's: tensors of no axes take part in promotion as others do. Everything else is lathe's: what
the standard has under another name is a row of a table here, and no second implementation.

Operators and methods are the tensors' own: `x1 + x2` lets a tensor of axes decide the dtype over
one of none, as in PyTorch, and quotients by `//` are Python's at infinities, here and there.
"""

from ._creation import *  # noqa: F403
from ._dtypes import *  # noqa: F403
from ._elementwise import *  # noqa: F403
from ._info import __array_namespace_info__  # noqa: F401
from ._reductions import *  # noqa: F403
from ._search import *  # noqa: F403
from ._shape import *  # noqa: F403

__array_api_version__ = "2024.12"

_EXTENSIONS = ("linalg", "fft")


def __getattr__(name):
    if name not in _EXTENSIONS:
        raise AttributeError(f"lathe.array_api has no {name}")
    import importlib

    return importlib.import_module(f"{__name__}.{name}")


def __dir__():
    return sorted({*globals(), *_EXTENSIONS})
