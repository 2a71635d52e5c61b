"""What the modules whose functions are op definitions have in common (lathe.linalg, lathe.fft)."""

from . import _lathe


def entries(module, place):
    """__getattr__ and __dir__ of a module: the definitions found at `place`, made when named.

    module: its globals(). AttributeError for a name that no definition has there.
    """

    def __getattr__(name):
        function = None if name.startswith("__") else _lathe._find(name, place)
        if function is None:
            raise AttributeError(f"module '{module['__name__']}' has no attribute '{name}'")
        module[name] = function
        return function

    def __dir__():
        return sorted({*module, *_lathe._names(place)})

    return __getattr__, __dir__
