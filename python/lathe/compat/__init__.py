"""Lathe behind the interfaces of others: `import lathe.compat.torch as torch`, and the hooks of
einops, opt_einsum and TensorLy. Each is imported by whoever uses that library."""


def __getattr__(name):
    if name != "torch":
        raise AttributeError(f"module 'lathe.compat' has no attribute '{name}'")
    import importlib

    return importlib.import_module(".torch", __name__)


def __dir__():
    return ["torch"]
