"""Another first call: what a captured function is called with last comes before its first call.

The program runs once to see its calls, whose arguments are copied, and once more, where each
function is first called with the copy of its last call. So the capture is made for other sizes,
other values and another state than the program's own first call has.
"""

import copy
import functools
from pathlib import Path

import lathe as lt
from lathe.jit import Scripted, Traced


def copied(value):
    """The arguments as they are now; what cannot be copied is shared."""
    if isinstance(value, lt.Tensor):
        return value.detach().clone().requires_grad_(value.requires_grad)
    if type(value) in (tuple, list):
        return type(value)(copied(v) for v in value)
    if type(value) is dict:
        return {k: copied(v) for k, v in value.items()}
    try:
        return copy.deepcopy(value)
    except Exception:
        return value


class Plain:
    """A function that is captured by nothing, with what Traced has for its owner."""

    def __init__(self, function):
        functools.update_wrapper(self, function, updated=())
        self._function = function

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args, **kwargs):
        return self._function(*args, **kwargs)

    def __deepcopy__(self, memo):
        return type(self)(copy.deepcopy(self._function, memo))


class Calls:
    """What each captured function of a program was called with, in the order of capture."""

    def __init__(self):
        self.last = []  # (args, kwargs) or None, by function

    def recorder(self):
        last = self.last

        class Recorder(Plain):
            def __init__(self, function):
                super().__init__(function)
                self._number = len(last)
                last.append(None)

            def __call__(self, *args, **kwargs):
                last[self._number] = copied(args), copied(kwargs)
                return super().__call__(*args, **kwargs)

        return Recorder

    def warmed(self, mode):
        """A capture that makes another call before the first."""
        base = {"eager": Plain, "trace": Traced, "script": Scripted}[mode]
        made, last = [], self.last

        def __call__(self, *args, **kwargs):
            if self not in made:
                made.append(self)
                number = len(made) - 1
                call = last[number] if number < len(last) else None
                if call is not None:
                    try:
                        base.__call__(self, *call[0], **call[1])
                    except (lt.TraceError, lt.ScriptError):
                        raise
                    except Exception:
                        pass  # the program's own call says what there is to say
            return base.__call__(self, *args, **kwargs)

        # Not a line of the user's: a refusal names the program's.
        here = str(Path(lt.__file__).parent / "warmed.py")
        __call__.__code__ = __call__.__code__.replace(co_filename=here)
        return type("Warmed", (base,), {"__call__": __call__})
