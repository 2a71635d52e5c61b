"""Machine code is made in the background: the first call does not wait for it, the bits are the
same before and after, and a process may end or fork in the middle."""

import os
import subprocess
import sys
import time

import pytest
from built import LIBRARY, SANITIZED

import lathe as lt

pytestmark = pytest.mark.skipif(
    not (LIBRARY / "liblathe_llvm.so").exists(), reason="this build has no LLVM"
)


@pytest.fixture(autouse=True)
def flags():
    before = {name: lt.get_flag(name) for name in ("engine", "cache_dir")}
    lt.set_flag("engine", "auto")
    lt.set_flag("cache_dir", "")
    yield
    for name, value in before.items():
        lt.set_flag(name, value)


def function(k):
    """A function whose kernel no other test has."""
    return lt.trace(lambda x: lt.exp(x * (0.001 + k)) * lt.tanh(x + k) - lt.sin(x * k))


def test_bits_stay_the_same_when_the_code_is_there():
    x = lt.linspace(-3, 3, 5000)
    f = function(0.3171)
    first = bytes(f(x).numpy())
    deadline = time.monotonic() + 60
    while f.counts["generated_runs"] == 0 and time.monotonic() < deadline:
        assert bytes(f(x).numpy()) == first
        time.sleep(0.001)
    assert f.counts["generated_runs"] > 0
    assert bytes(f(x).numpy()) == first


def test_explain_waits_for_it():
    f = function(0.7773)
    f(lt.ones(100))
    assert "generated (defined): chosen" in f.explain(verbose=True)


def test_with_the_flag_engine_at_llvm_the_first_run_is_generated():
    lt.set_flag("engine", "llvm")
    f = function(0.5517)
    f(lt.ones(100))
    assert f.counts["generated_runs"] == 1


PROGRAM = """
import os, sys, time
import lathe as lt
x = lt.arange(1000, dtype=lt.float32)
for k in range(4):
    f = lt.trace(lambda x, k=k: lt.exp(x * 0.001) * (k + 0.5) + lt.sin(x * k))
    f(x)
time.sleep(float(sys.argv[1]))
"""


def run(program, delay):
    env = os.environ | {"LATHE_CACHE_DIR": "", "LATHE_ENGINE": "auto"}
    return subprocess.run(
        [sys.executable, "-c", program, str(delay)], env=env, capture_output=True, text=True
    )


@pytest.mark.skipif(SANITIZED, reason="a sanitizer makes the compiler too slow for these moments")
@pytest.mark.parametrize("delay", [0, 0.002, 0.005, 0.01, 0.02, 0.04, 0.08])
def test_a_process_may_end_at_any_moment(delay):
    done = run(PROGRAM, delay)
    assert done.returncode == 0 and done.stderr == ""


FORKS = (
    PROGRAM
    + """
child = os.fork()
y = lt.trace(lambda x: lt.exp(x * 0.001) * 7.5 + lt.sin(x * 2))(x)
want = lt.exp(x * 0.001) * 7.5 + lt.sin(x * 2)
same = bytes(y.numpy()) == bytes(want.numpy())
if child == 0:
    os._exit(0 if same else 1)
print(same, os.waitpid(child, 0)[1])
"""
)


@pytest.mark.skipif(SANITIZED, reason="a sanitizer makes the compiler too slow for these moments")
@pytest.mark.parametrize("delay", [0, 0.005, 0.02, 0.05])
def test_a_process_may_fork_at_any_moment(delay):
    done = run(FORKS, delay)
    assert done.stdout.split() == ["True", "0"], done.stderr
