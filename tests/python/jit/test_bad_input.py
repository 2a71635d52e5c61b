"""What no capture can do anything sensible with: clear errors, in bounded time and memory."""

import importlib.util
import itertools
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from script_checks import f32, same

import lathe as lt

TESTS = Path(__file__).resolve().parents[2]
NOTHING = 3
MODES = {"trace": lt.trace, "script": lt.script}


@pytest.fixture
def load(tmp_path):
    """The function f of a module of this text."""

    def of(text, encoding="utf-8"):
        path = tmp_path / "module.py"
        path.write_bytes(text.encode(encoding))
        spec = importlib.util.spec_from_file_location("module", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.f

    return of


def refuses(function, *words):
    """The call's error has these words and a line of this file."""
    with pytest.raises(lt.Error) as caught:
        function(lt.ones(3))
    for word in (*words, "test_bad_input.py:"):
        assert word in str(caught.value)


# ── what never ends ─────────────────────────────────────────────────────────────────────────────


def test_a_loop_that_a_trace_writes_out():
    def f(x):
        for i in itertools.count():
            x = x + i
        return x

    refuses(lt.trace(f), "the traced code has made 262144 ops", "next:")


def test_a_loop_inside_of_a_branch_that_data_decides_about():
    def f(x):
        seen = []
        if x.sum() > 0:
            while True:
                seen.append(x)
        return len(seen)

    refuses(lt.script(f), "does not end", "10000 rounds", "bound it")

    def g(x):
        for i in itertools.count():
            x = x + i
            if x.sum() > 30:
                break
        return x

    with pytest.raises(lt.Error):
        lt.script(g)(f32(3))


def test_recursion_without_an_end():
    def f(x):
        return f(x + 1)

    with pytest.raises(RecursionError):  # as eager code does
        lt.trace(f)(f32(3))
    refuses(lt.script(f), "f() is called too deep", "next:")


@pytest.mark.parametrize("how", MODES)
def test_what_a_handler_of_signals_raises_is_no_error_of_the_capture(how):
    """Code that never ends is stopped by it, however deep it is."""

    def f(x):
        n = 0
        while True:
            n += 1
        return x + n

    def late(signum, frame):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    limit = signal.setitimer(signal.ITIMER_REAL, 0.2)  # pytest's, which is to hold again
    try:
        with pytest.raises(TimeoutError):
            MODES[how](f)(f32(3))
    finally:
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, *limit)


# ── what is very long or deep ───────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("how", MODES)
def test_ten_thousand_nodes(load, how):
    lines = [f"    x = x * {1 + i % 3} - {i % 7}" for i in range(5_000)]
    f = load("def f(x):\n" + "\n".join(lines) + "\n    return x\n")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    captured = MODES[how](f)
    same(captured(f32(3)), f(f32(3)))
    assert captured.graph.count("\n") > 10_000
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 1 << 20  # KiB


DEEP = {
    "operators": "-" * 1_000 + "x",
    "a chain": "x" + " + x" * 1_000,
    "calls": "lt.sin(" * 190 + "x" + ")" * 190,  # Python's parser takes 200 brackets
}


@pytest.mark.parametrize("how", MODES)
@pytest.mark.parametrize("what", DEEP)
def test_nested_a_thousand_deep(load, how, what):
    f = load(f"import lathe as lt\ndef f(x):\n    return {DEEP[what]}\n")
    same(MODES[how](f)(f32(3)), f(f32(3)))


def test_nested_branches(load):
    lines = ["def f(x):", *(" " * (i + 1) + f"if x.sum() > {i}:" for i in range(90))]
    f = load("\n".join([*lines, " " * 91 + "x = x + 1", " return x"]))
    captured = lt.script(f)
    for value in (0.5, 100.0):
        same(captured(f32(3) * value), f(f32(3) * value))


# ── sources ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("how", MODES)
def test_a_source_that_is_not_utf_8(load, how):
    text = "# -*- coding: latin-1 -*-\ndef f(x):\n    été = x + 1\n    return été\n"
    f = load(text, "latin-1")
    same(MODES[how](f)(f32(3)), f(f32(3)))


def test_a_function_without_source():
    def shown(f, word):
        with pytest.raises(lt.Error, match=word) as caught:
            f(f32(3))
        assert "next:" in str(caught.value)

    plain = eval("lambda x: x + 1")
    same(lt.trace(plain)(f32(3)), plain(f32(3)))  # it reads nothing but its argument
    with pytest.raises(lt.ScriptError, match="source text cannot be read") as caught:
        lt.script(plain)
    assert "define it in a file" in str(caught.value)
    shown(lt.trace(eval("lambda x: x + made()", {"made": lambda: 1})), "no source")


def test_names_that_are_looked_up_by_all():
    def f(x):
        return locals()

    def g(x):
        return dir()

    for function in (f, g):
        refuses(lt.script(function), "looks at all names of the function")


def test_a_condition_of_many_elements():
    def f(x):
        assert x
        return x

    def g(x):
        return 1 if x else 2

    for function in (f, g):
        refuses(lt.script(function), "only a tensor of one element", "f32[3]")


def test_an_except_of_no_exception():
    def f(x):
        try:
            return x + 1
        except NOTHING:
            return x

    refuses(lt.script(f), "an except of what is no class of exceptions")


# ── what the fuzzers kept ───────────────────────────────────────────────────────────────────────


def fuzz(*words):
    command = [sys.executable, TESTS / "fuzz/scripts.py", *words]
    return subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=500)


def test_the_kept_programs():
    kept = sorted((TESTS / "fuzz/corpus/scripts").iterdir())
    assert len(kept) > 10
    done = fuzz(*kept)
    assert done.returncode == 0 and f"{len(kept)} passed, 0 failed" in done.stdout, done.stdout


def test_the_fuzzer_itself(tmp_path):
    """A few of its programs, and one whose result no two runs share."""
    done = fuzz("--first", "0", "--count", "20")
    assert done.returncode == 0 and "20 passed, 0 failed" in done.stdout, done.stdout
    differs = tmp_path / "differs.py"
    differs.write_text(
        "import lathe as lt\n\n\ndef f(x):\n    return id(object())\n\n\n"
        "def arguments():\n    return [lt.ones(1)]\n"
    )
    done = fuzz(differs)
    assert done.returncode == 1 and "FAILED differs.py: " in done.stdout, done.stdout
