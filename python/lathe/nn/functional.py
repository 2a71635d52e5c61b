"""Functions of networks under PyTorch's names and signatures: op definitions."""

from .. import _lathe


def __getattr__(name):
    function = _lathe._find(name, "functional")
    if function is None:
        raise AttributeError(f"module 'lathe.nn.functional' has no attribute '{name}'")
    globals()[name] = function
    return function


def __dir__():
    return sorted({*globals(), *_lathe._names("functional")})
