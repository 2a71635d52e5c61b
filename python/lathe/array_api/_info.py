"""What a program may ask about this namespace."""

import lathe as lt

from . import _dtypes


class Info:
    """The answers of `__array_namespace_info__()`."""

    def capabilities(self):
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self):
        return lt.device("cpu")

    def devices(self):
        return [lt.device("cpu")]

    def default_dtypes(self, *, device=None):
        floating = lt.get_default_dtype()
        wide = floating == lt.float64 and hasattr(lt, "complex128")
        return {
            "real floating": floating,
            "complex floating": lt.complex128 if wide else lt.complex64,
            "integral": lt.int64,
            "indexing": lt.int64,
        }

    def dtypes(self, *, device=None, kind=None):
        names = [
            n for n in (*_dtypes.KINDS["bool"], *_dtypes.KINDS["numeric"]) if hasattr(_dtypes, n)
        ]
        found = {n: getattr(_dtypes, n) for n in names}
        return {n: d for n, d in found.items() if kind is None or _dtypes.isdtype(d, kind)}


def __array_namespace_info__():
    return Info()
