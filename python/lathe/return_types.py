"""Named tuples of what ops with several results return: return_types.sort, return_types.max."""

from . import _lathe


def __getattr__(name):
    found = _lathe._result_type(name)
    if found is None:
        raise AttributeError(f"module 'lathe.return_types' has no attribute '{name}'")
    globals()[name] = found
    return found
