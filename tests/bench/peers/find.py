"""The function of an adapter that a case names."""

import importlib


def find(package, kind):
    """What "file.function" is in a package. AttributeError or ImportError if it is not there."""
    file, function = kind.split(".")
    return getattr(importlib.import_module(f"{package}.{file}"), function)
