"""Fuzzes the front end of scripts: functions of its tests, changed at random (mutate_source.py).

    python tests/fuzz/scripts.py --seconds 60        from the seed after the last of these
    python tests/fuzz/scripts.py --first 0 --count 200
    python tests/fuzz/scripts.py --show 17           a program, and what came of it
    python tests/fuzz/scripts.py FILE...             kept ones, as tests/fuzz/corpus/scripts

A program runs as it is and as a script, in a process of its own with limits of time and memory. The
script has to give the same results, prints and changes of arguments, or an error of Lathe's with
the line of the program, or what Python raises by itself as well. Anything else is a finding: an
error of Python's out of the front end, other results, a crash, and what does not end within a
second of Ctrl-C. Ends with "N passed, N failed".
"""

import argparse
import collections
import contextlib
import io
import json
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
import types
import warnings
import zlib
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "python")]

ALONE = 1  # seconds that a program has by itself, as one that ends
CAPTURED = 20  # as a script, before Ctrl-C
STOPS = 1  # after it
MEMORY = 6 << 30  # of addresses
ADDRESSES = "RLIMIT_AS"

FIRST = """
import lathe as lt
def f(x, values):
    y = [lt.cat([x.view(-1), x]).sum() for v in sorted(values)]
    if x.sum() > 0:
        x = x * len(y)
    return f"{x.shape}", lt.nn.functional.relu(x), {"k": max(values)}
"""


class Finding(Exception):
    """What a script must not do."""


class Ended(BaseException):
    """A limit of time; not an Exception, which programs catch."""


@contextlib.contextmanager
def seconds(limit, error):
    """Raises the error in what takes longer."""

    def late(signum, frame):
        raise error

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class Run:
    """What came of one call: values to compare, or an error."""

    def __init__(self, module, function):
        import lathe as lt

        self.error = None
        lt.manual_seed(0)
        arguments, result, out = module.arguments(), None, io.StringIO()
        try:
            with contextlib.redirect_stdout(out):
                result = function(*arguments)
        except Exception as e:
            self.error = e
        self.values = {"result": result, "arguments": arguments, "printed": out.getvalue()}

    def compare(self, plain):
        """Types, structure and bytes: a tensor that only data chooses is one of its own."""
        from script_checks import same

        try:
            same(self.values, plain.values)
        except AssertionError as e:
            raise Finding(f"another result: {e}"[:1000]) from None
        except RecursionError:
            pass  # it contains itself

    def raised(self):
        return f"{type(self.error).__name__}: {self.error}"[:300]


def load(path):
    module = types.ModuleType("program")
    module.__file__ = str(path)
    sys.modules["program"] = module
    exec(compile(path.read_text(), str(path), "exec"), module.__dict__)
    return module


def innermost(error):
    frames = traceback.extract_tb(error.__traceback__)
    return frames[-1].filename if frames else ""


def stopped_in_time(call):
    """Runs what does not end, and stops it as Ctrl-C does."""
    began = None

    def interrupt(signum, frame):
        nonlocal began
        began = time.monotonic()
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, ALONE)
    try:
        call()
    except KeyboardInterrupt:
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    if began and time.monotonic() - began > STOPS:
        raise Finding(f"it went on for {time.monotonic() - began:.1f} s after Ctrl-C")


def refused(error, path):
    """Is this an error that a script may give where Python gives none? Finding, if it must not."""
    import lathe as lt

    if isinstance(error, lt.InternalError):
        raise Finding(f"internal error: {error}")
    if not isinstance(error, lt.Error):
        place = innermost(error)
        text = "".join(traceback.format_exception(error)[-8:])
        raise Finding(f"{type(error).__name__} from {place}: {error}\n{text}")
    if f"{path.name}:" not in str(error):
        raise Finding(f"an error without the program's line: {type(error).__name__}: {error}")


def judge(path):
    """How the script of a program ended, in a word."""
    import lathe as lt

    try:
        module = load(path)
    except Exception:
        return "raises by itself"  # where an annotation is evaluated
    try:
        with seconds(ALONE, Ended()):
            plain = Run(module, module.f)
    except Ended:
        plain = None  # endless by itself
    if plain is not None and plain.error is not None and zlib.crc32(path.read_bytes()) % 8:
        return "raises by itself"  # of which there are many: a few are enough
    script = lt.script(load(path).f)
    if plain is None:
        stopped_in_time(lambda: Run(module, script))
        return "endless"
    word = "equal"
    for _ in range(2):  # captured, then served
        try:
            with seconds(CAPTURED, Ended()):
                got = Run(module, script)
        except Ended:
            raise Finding(f"not at its end after {CAPTURED} s, as a plain function it is") from None
        if got.error is None:
            if plain.error is not None:
                raise Finding(f"no error; Python raises {plain.raised()}")
            got.compare(plain)
        elif type(got.error) is type(plain.error):
            word = "raises"
        else:
            refused(got.error, path)
            word = "refused"
    return word


# ── a process each ──────────────────────────────────────────────────────────────────────────────


def child(path, out):
    resource.setrlimit(getattr(resource, ADDRESSES), (MEMORY, MEMORY))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    warnings.simplefilter("ignore")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    try:
        told = {"word": judge(path), "finding": None}
    except Finding as e:
        told = {"word": "finding", "finding": str(e)}
    except (Exception, KeyboardInterrupt, SystemExit) as e:
        text = "".join(traceback.format_exception(e)[-12:])
        told = {"word": "finding", "finding": f"{type(e).__name__}: {e}\n{text}"}
    with os.fdopen(out, "w") as file:
        json.dump(told, file)


def run_one(path):
    """What came of a program: {"word", "finding"}."""
    into, out = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        os.close(into)
        try:
            child(path, out)
        finally:
            os._exit(0)
    os.close(out)
    deadline = time.monotonic() + 2 * CAPTURED + 10
    while time.monotonic() < deadline:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            break
        time.sleep(0.002)
    else:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(into)
        return {"word": "finding", "finding": "nothing stops it: the process was killed"}
    with os.fdopen(into) as file:
        text = file.read()
    if status or not text:
        how = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"status {status}"
        return {"word": "finding", "finding": f"the process ended by {how}"}
    return json.loads(text)


def programs(args, folder):
    """(name, path) of what is asked for, until the time is over."""
    from fuzz.mutate_source import program

    for path in args.files:
        yield path.name, path.resolve()
    if args.files:
        return
    seed, began = args.first, time.monotonic()
    while seed < args.first + args.count and time.monotonic() < began + args.seconds:
        path = folder / f"program_{seed}.py"
        path.write_text(program(seed))
        yield f"seed {seed}", path
        path.unlink()
        seed += 1
    args.next = seed


def warm_up():
    """What every process would do again: a first capture reads much of the library's source."""
    import lathe as lt

    lt.set_flag("engine", "simd")  # the same bits, and no compiler in each process
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "first.py"
        path.write_text(FIRST)
        module = load(path)
        lt.script(module.f)(lt.ones(3), [1.0])


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=1 << 60)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--show", type=int, metavar="SEED")
    parser.add_argument("--keep", type=Path, help="a folder for the programs that fail")
    args = parser.parse_args()
    if args.show is not None:
        args.first, args.count = args.show, 1
    return args


def main():
    args = arguments()
    warm_up()
    words = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for name, path in programs(args, Path(folder)):
            told = run_one(path)
            words[told["word"]] += 1
            if args.show is not None:
                print(path.read_text() + f"\n{told['word']}")
            if told["finding"]:
                print(f"FAILED {name}: {told['finding']}", flush=True)
                if args.keep:
                    args.keep.mkdir(parents=True, exist_ok=True)
                    (args.keep / path.name).write_text(path.read_text())
    failed = words.pop("finding", 0)
    told = ", ".join(f"{n} {word}" for word, n in words.most_common())
    print(f"{words.total() + failed} programs: {told}; the next seed is {getattr(args, 'next', 0)}")
    print(f"{words.total()} passed, {failed} failed")
    sys.exit(1 if failed or not words else 0)


if __name__ == "__main__":
    main()
