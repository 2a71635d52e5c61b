"""C++: operators and elements; lathe::trace, of lambdas that call themselves, and that throw on
several threads at once.

tests/consumer/operators.cpp and traced.cpp say what is asked of each; this compiles and runs them,
the latter also with the header's code under the thread sanitizer.
"""

import os
import subprocess

import pytest
from built import LIBRARY, ROOT, SANITIZED

pytestmark = pytest.mark.skipif(not (LIBRARY / "liblathe.so").exists(), reason="not built")


def compiled(folder, *options, name="traced"):
    program = folder / name
    done = subprocess.run(
        ["g++", "-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-pthread", *options,
         "-I", ROOT / "include", ROOT / f"tests/consumer/{name}.cpp", "-o", program,
         "-L", LIBRARY, "-llathe", f"-Wl,-rpath,{LIBRARY}"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return program


@pytest.fixture(scope="module")
def traced(tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("traced"))


@pytest.mark.parametrize("word", ["threads", "nested", "recursion"])
def test_a_traced_lambda(traced, word):
    done = subprocess.run([traced, word], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_operators_and_elements(tmp_path):
    program = compiled(tmp_path, name="operators")
    done = subprocess.run([program], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_training_through_a_traced_lambda_and_a_loaded_program(traced, tmp_path):
    done = subprocess.run(
        [traced, "training", tmp_path / "loss.lathe"], capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


@pytest.mark.skipif(SANITIZED, reason="the library is built with a sanitizer of its own")
@pytest.mark.slow
def test_what_several_threads_throw_under_the_thread_sanitizer(tmp_path):
    program = compiled(tmp_path, "-fsanitize=thread", "-g", "-O1")
    known = tmp_path / "known"  # the library itself is not instrumented: what it does is not seen
    known.write_text("".join(f"called_from_lib:{p.name}\n" for p in LIBRARY.glob("liblathe*.so")))
    done = subprocess.run(
        [program, "threads"], capture_output=True, text=True, timeout=300,
        env=os.environ | {"TSAN_OPTIONS": f"suppressions={known}"},
    )  # fmt: skip
    assert done.returncode == 0 and "ThreadSanitizer" not in done.stderr, done.stderr
