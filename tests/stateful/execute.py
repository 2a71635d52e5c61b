"""Runs one program, as it is or with its step captured, in a process of its own.

It runs in an empty folder. A program is the source text of a module that defines

    make()                a fresh world, an object that holds what the program works on
    step(world, *args)    what is captured; step(*args) if there is no make
    target(world)         instead: the callable that is captured
    calls(world)          a generator: between its yields it changes the world; what it yields are
                          the arguments of the next call, a tuple or (tuple, dict). It is sent
                          the result, or a Raised
    watch(world)          optional: more to compare, as the text of a file
    raises                optional: the types that a call may raise

After each call everything in reach is described: result, arguments, world, the module, what was
printed, the random streams. A call that is refused must leave all of it as it was; then it is made
as it is, and the program goes on.
"""

import contextlib
import gc
import io
import os
import pickle
import random
import re
import signal
import sys
import types
import warnings
from pathlib import Path

SECONDS = 60  # the longest a program may take


class Program:
    """A loaded program: its module, world and target."""

    def __init__(self, path, printed):
        import numpy as np

        import lathe as lt

        lt.manual_seed(0)
        random.seed(0)
        np.random.seed(0)
        self.path, self.printed = path, printed
        self.module = types.ModuleType(re.sub(r"\W", "_", path.stem))
        self.module.__file__ = str(path)
        sys.modules[self.module.__name__] = self.module
        text = path.read_text()
        exec(compile(text, str(path), "exec"), self.module.__dict__)
        inside = vars(self.module)
        self.invoke = caller(path, text)
        self.world = inside["make"]() if "make" in inside else None
        if "target" in inside:
            self.target, self.leading = inside["target"](self.world), ()
        else:
            self.target = inside["step"]
            self.leading = (self.world,) if "make" in inside else ()
        self.raises = inside.get("raises", ())
        self.calls = inside["calls"](self.world)

    def described(self, result, args, kwargs, printed):
        from .describe import described

        watch = vars(self.module).get("watch")
        roots = {"result": result, "args": args, "kwargs": kwargs, "world": self.world}
        roots |= {"module": self.module, "printed": printed}
        if watch:
            roots["watched"] = watch(self.world)
        return described(self.module.__name__, roots)


def caller(path, text):
    """What calls a function from the line of the program's `def calls`: an error that names the
    line of the call names a line of the program."""
    before = text[: text.index("def calls(")].count("\n")
    made = {}
    source = "\n" * before + "def invoke(f, args, kwargs): return f(*args, **kwargs)"
    exec(compile(source, str(path), "exec"), made)
    return made["invoke"]


class Printed:
    """What is printed and warned, in one stream for all calls, as a program has it."""

    def __init__(self, out, warned):
        self._out, self._warned = out, warned

    def forget(self):
        self._begin = len(self._out.getvalue())
        self._warned.clear()

    def texts(self, path):
        mine = [str(w.message) for w in self._warned if w.filename == str(path)]
        return [self._out.getvalue()[self._begin :], *mine]


class Raised:
    """What a call raised, as its result."""

    def __init__(self, error):
        self.kind = type(error).__name__


def capture_of(mode):
    import lathe as lt

    return {"trace": lt.trace, "script": lt.script}.get(mode, lambda f: f)


def counts(captured):
    found = getattr(captured, "counts", None) or {}
    return found.get("traces", 0), found.get("calls", 0)


def attempt(program, function, args, kwargs):
    """(result or Raised, the error, what was printed and warned)"""
    result, error = None, None
    program.printed.forget()
    try:
        result = program.invoke(function, (*program.leading, *args), kwargs)
    except Exception as e:
        error, result = e, Raised(e)
    return result, error, program.printed.texts(program.path)


def one_call(program, captured, mode, given):
    """What came of a call, as a dictionary, and its result."""
    import lathe as lt

    from .describe import first_difference

    args, kwargs = given if is_pair(given) else (given, {})
    report = {"refused": None, "left": None, "unplaced": False}
    before = program.described(None, args, kwargs, [""]) if mode != "eager" else None
    traces, calls = counts(captured)
    result, error, printed = attempt(program, captured, args, kwargs)
    now_traces, now_calls = counts(captured)
    report["traces"] = now_traces - traces
    report["served"] = error is None and now_calls > calls and now_traces == traces
    if mode != "eager" and isinstance(error, (lt.TraceError, lt.ScriptError)):
        report["refused"] = text = str(error)
        report["unplaced"] = not re.search(rf"{re.escape(program.path.name)}:\d+", text)
        after = program.described(None, args, kwargs, printed)
        report["left"] = first_difference(before, after)
        del error, result
        result, error, printed = attempt(program, program.target, args, kwargs)
    report["raised"] = result.kind if error is not None else None
    if error is not None and not isinstance(error, program.raises):
        report["unexpected"] = f"{type(error).__name__}: {error}"
    report["lines"] = program.described(result, args, kwargs, printed)
    return report, result


def is_pair(given):
    return len(given) == 2 and type(given[0]) is tuple and type(given[1]) is dict


def execute(path, mode):
    """The report of a program: a dictionary that can be pickled."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        return execute_calls(Program(path, Printed(out, warned)), mode)


def execute_calls(program, mode):
    report = {"calls": [], "broken": None}
    captured = capture_of(mode)(program.target)
    answer = None
    while True:
        try:
            given = program.calls.send(answer)
        except StopIteration:
            break
        except Exception as e:
            report["broken"] = f"calls(): {type(e).__name__}: {e}"
            break
        made, result = one_call(program, captured, mode, given)
        report["calls"].append(made)
        answer = result
    return report


def start(path, mode, folder):
    """Forks a process for one program; gives its id and the file of its report."""
    file = Path(folder) / f"{path.name}.{mode}.report"
    own = Path(folder) / f"{path.name}.{mode}.d"
    own.mkdir()
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid, file
    status = 1
    try:
        signal.alarm(SECONDS)
        os.chdir(own)
        try:
            report = execute(path, mode)
        except Exception as e:
            report = {"calls": [], "broken": f"{type(e).__name__}: {e}"}
        file.write_bytes(pickle.dumps(report))
        status = 0
    finally:
        os._exit(status)


def warm_up():
    """Imports what the programs import, and opens the compiler, once for all processes."""
    import numpy  # noqa: F401

    import lathe as lt
    import lathe.nn.functional  # noqa: F401
    import lathe.optim.lr_scheduler  # noqa: F401

    from . import describe  # noqa: F401
    from .faults import plant_named

    plant_named()
    lt.set_flag("threads", 1)
    lt.script(lambda x: x * 2)(lt.ones(2))
    lt.manual_seed(0)
    gc.freeze()  # a collection in a process would copy the pages of all that is there already


def run_all(paths, modes, jobs, folder, told=None):
    """Reports by (path, mode); None: the process died. told(path) is called when one is done."""
    warm_up()
    reports = {}
    waiting = [(p, m) for p in reversed(paths) for m in reversed(("eager", *modes))]
    running = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            job = waiting.pop()
            pid, file = start(*job, folder)
            running[pid] = (job, file)
        pid, status = os.wait()
        if pid not in running:
            continue
        job, file = running.pop(pid)
        reports[job] = pickle.loads(file.read_bytes()) if file.exists() else None
        if reports[job] is None:
            reports[job] = {"died": os.waitstatus_to_exitcode(status)}
        else:
            file.unlink()
        if told:
            told(job)
    return reports
