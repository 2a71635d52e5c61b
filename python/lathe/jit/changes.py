"""Which line of a traced function changed Python's state: looked for only when it is refused."""

import os
import sys

from .. import _lathe
from .state import is_users

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def changed_line(run, changed, undo):
    """Runs the capture again, looking after each line; "file:line" or None."""
    mode = [_lathe.is_grad_enabled()]
    last, found, switched = [None], [], [None]

    def look(frame, event, arg):
        code = frame.f_code
        if os.path.abspath(code.co_filename).startswith(_HERE) or not is_users(code):
            return None
        if not found and last[0] is not None:
            if _lathe.is_grad_enabled() != mode[0]:
                mode[0] = _lathe.is_grad_enabled()
                switched[0] = last[0]
            if changed():
                found.append(last[0])
        if event in ("line", "call"):
            last[0] = f"{code.co_filename}:{frame.f_lineno}"
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        run()
        if not found and last[0] is not None and changed():
            found.append(last[0])
    except Exception:  # it is refused anyway
        pass
    finally:
        sys.settrace(before)
        undo()
    return found[0] if found else switched[0]


def refuse_changes(where):
    raise _lathe.TraceError(
        "trace: the traced code changed Python state, which only happens at capture\n"
        f"  at:       {where}\n"
        "  next:     return the value, or keep it in a tensor made before: self.h.copy_(value)"
    )
