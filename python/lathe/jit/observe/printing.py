"""print() and warnings.warn(): ordered calls of the program.

What they say is made of texts (texts.py). Without `file` they go to the sys.stdout of the run;
another file is part of what the program holds for. A warning belongs to the line that
eager would give it: known now if that is inside of the traced function, else the caller's.
"""

import sys
import types
from _thread import _local  # of threading, without the rest of it

from ... import _lathe
from ..._capturing import CAPTURE
from .forms import form_of
from .recording import dict_of, in_mro
from .texts import Text, build


def ordered(observer, name, texts, run, form=None):
    """One ordered call: run(what the texts are by then). form: the same as data, for a file."""

    observer.note_ordered(can_wait=True)
    waiting = observer.waiting

    def call(tensors):
        said = build(texts, tensors)
        if waiting.on or held.calls:  # of a program around this one, which come first
            held.calls.append((waiting, run, said))
            _lathe._forget_ordered_call()  # nobody was called yet
        else:
            run(said)
        return []

    host = _lathe._HostFunction(name, [], call, False, None, form)
    tensors = [t for text in texts for t in text.tensors()]
    _lathe._call_host(host, tensors, [], True)


class _Held(_local):
    """Calls that wait for the end of the programs which this thread runs, in order: (whose it is,
    function, argument)."""

    def __init__(self):
        self.calls = []


held = _Held()


def deliver(waiting=None):
    """Makes the calls that wait for the end of this program, or all. Inside of another one that
    has some, they come behind those."""
    if held.calls and waiting in (None, held.calls[0][0]):
        calls, held.calls = held.calls, []
        for _, run, said in calls:
            run(said)


def forget(waiting):
    """The program has failed, and eager code makes them, and those of programs inside of it."""
    whose = [c[0] for c in held.calls]
    if waiting in whose:
        del held.calls[whose.index(waiting) :]


def let_wait(observer):
    """What is printed waits, if it can: data decide whether eager code runs instead."""
    observer.waiting.on |= observer.can_wait
    if observer.waiting.on:
        record_delivery(observer)


def record_delivery(observer):
    """The last of the ordered calls of a program, behind all that may fail in it."""

    waiting = observer.waiting

    def call(tensors):
        deliver(waiting)
        return []

    with observer.resting():
        _lathe._call_host(_lathe._HostFunction("print", [], call, False, None, ""), [], [], True)


# ── print ───────────────────────────────────────────────────────────────────────────────────────


def print_model(observer, f, args, kwargs):
    unknown = set(kwargs) - {"sep", "end", "file", "flush"}
    if unknown:
        return f(**dict.fromkeys(unknown))  # raises
    texts = []
    for value in args:
        observer.use(value)
        texts.append(observer._text(observer.str_of(value)))
    for name in ("sep", "end"):
        value = kwargs.get(name)
        if value is not None and type(value) not in (str, Text):
            return f(**{name: value})  # raises
        texts.append(observer._text({"sep": " ", "end": "\n"}[name] if value is None else value))
    file, flush = _file(observer, kwargs.get("file")), bool(kwargs.get("flush", False))

    def run(said):
        *said, sep, end = said
        f(*said, sep=sep, end=end, file=file(), flush=flush)

    with observer.resting():
        form = _form(texts) if kwargs.get("file") is None else None
        return ordered(observer, "print", texts, run, form)


def _form(texts):
    """Of what is printed, `sep` and `end`: None if data decides one of the two."""
    *said, sep, end = texts
    if sep.tensors() or end.tensors():
        return None
    return form_of([t for text in said for t in (sep, text)][1:] + [end])


def _file(observer, file):
    """What finds the file of a print at a run."""
    if file is None:
        return lambda: sys.stdout
    if type(in_mro(type(file).__mro__, "write")[1]) is types.FunctionType:
        observer.refuse_hidden_changes("print() to a file of one's own")
    observer.pin(file, "the file of a print")
    return lambda: file


# ── warn ────────────────────────────────────────────────────────────────────────────────────────


def warn_model(observer, f, args, kwargs):
    message, category, level = _warning(f, *args, **kwargs)
    observer.use(message)
    if isinstance(message, Warning):
        category = type(message)
        message = message.args[0] if message.args else ""
    if type(message) is not Text and not isinstance(message, str):
        observer.refuse(f"a warning whose message is a {type(message).__name__}",
                        next="warn with a text")  # fmt: skip
    frames = list(frames_of())
    where = frames[level - 1][:3] if level <= len(frames) else None
    outer = level - len(frames)

    def run(said):
        file, line, names = where or _caller(outer)
        registry = names.setdefault("__warningregistry__", {})
        module = names.get("__name__", "<string>")
        from warnings import warn_explicit

        warn_explicit(said[0], category, file, line, module, registry)

    with observer.resting():
        return ordered(observer, "warn", [observer._text(message)], run)


def _warning(f, message, category=None, stacklevel=1, source=None, *, skip_file_prefixes=()):
    """(message, category, level), checked as warn() does."""
    if category is None:
        category = UserWarning
    if not (isinstance(category, type) and issubclass(category, Warning)):
        f("", category)  # raises
    return message, category, max(stacklevel, 1)


def _is_ours(code):
    return code.co_filename.startswith(CAPTURE)


def frames_of():
    """(file, line, globals, name) of the frames of the traced code, innermost first."""
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if _is_ours(code) and code.co_name == "_run":
            return
        if not _is_ours(code):
            names = frame.f_globals
            if code.co_name == "<script>":
                names = _globals_of(code.co_filename, names)
            yield code.co_filename, frame.f_lineno, names, code.co_name
        frame = frame.f_back


def _globals_of(file, otherwise):
    """Those of the module whose script is run line by line."""
    for module in list(sys.modules.values()):
        names = dict_of(module)
        if names is not None and names.get("__file__") == file:
            return names
    return otherwise


def _caller(level):
    """The same of the frame that called the program, or of one further out."""
    frame = sys._getframe(1)
    while _is_ours(frame.f_code) or frame.f_code.co_filename == __file__:
        frame = frame.f_back
    for _ in range(level - 1):
        while frame.f_back is not None and _is_ours(frame.f_back.f_code):
            frame = frame.f_back
        if frame.f_back is None:
            return "sys", 1, vars(sys)
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno, frame.f_globals
