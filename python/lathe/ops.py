"""Every op definition as a function, machinery too: the overloads of a name are one function.

What users call is in `lathe`, `lathe.Tensor` and `lathe.nn.functional`.
"""

from . import _lathe


def __getattr__(name):
    # Python's own questions (__module__) need no definition: an import would make them all.
    found = None if name.startswith("__") else _lathe._find(name, "")
    if found is None:
        raise AttributeError(f"module 'lathe.ops' has no attribute '{name}'")
    return found  # not kept here: a trace that asks first would find the module changed


def __dir__():
    return _lathe._names("")
