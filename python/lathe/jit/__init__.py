"""Graph mode: lathe.trace and lathe.script, and the programs of lathe.freeze, save and load."""

from .trace import Traced, trace

# Parts that most programs do without: a first trace must not wait for them.
_LATER = {
    "Comparison": "debugging",
    "InputSpec": "program",
    "Program": "program",
    "Scripted": "script",
    "capture": "program",
    "debug": "debugging",
    "draw": "drawing",
    "freeze": "program",
    "parse": "program",
    "Rewrite": "rewriting",
    "rewrite": "rewriting",
    "rewrites": "rewriting",
    "run": "program",
    "script": "script",
}

__all__ = [
    "Comparison", "InputSpec", "Program", "Rewrite", "Scripted", "Traced", "capture", "debug",
    "draw", "freeze", "parse", "rewrite", "rewrites", "run", "script", "trace",
]  # fmt: skip


def __getattr__(name):
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import sys

    home = _LATER[name]
    __import__(f"{__name__}.{home}")  # importlib takes longer than many a module to import
    module = sys.modules[f"{__name__}.{home}"]
    # All at once: importing a submodule binds it here by its own name, and `script` is a function.
    globals().update({n: getattr(module, n) for n, where in _LATER.items() if where == home})
    return globals()[name]
