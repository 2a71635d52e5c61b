"""What programs switch in PyTorch's vendors, and ask of them.

The table of kernels picks what runs here, and no result depends on it: a setting is kept, and
changes nothing. What is available is what Lathe itself runs on.
"""

__all__ = ["cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp"]


def __getattr__(name):
    if name not in __all__:
        raise AttributeError(f"module 'lathe.backends' has no attribute '{name}'")
    import importlib

    return importlib.import_module(f".{name}", __name__)
