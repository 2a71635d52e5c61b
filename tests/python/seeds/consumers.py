"""Programs in C++ that tests compile and run: the sources are in tests/consumer."""

import os
import subprocess

import pytest
from built import LIBRARY, ROOT, SANITIZED

CONSUMER = ROOT / "tests/consumer"

needs_library = pytest.mark.skipif(
    SANITIZED or not (LIBRARY / "liblathe.so").exists(),
    reason="liblathe.so is not built, or instrumented and the program is not",
)


def compiled(folder, name):
    program = folder / name
    subprocess.run(
        ["g++", "-std=c++17", "-I", ROOT / "include", CONSUMER / f"{name}.cpp", "-o", program,
         f"-L{LIBRARY}", "-llathe", "-pthread"],
        check=True,
    )  # fmt: skip
    return program


def runner(program):
    """Runs it with these words; gives its output as bytes."""

    def run(*words, library=LIBRARY, **variables):
        env = os.environ | {"LD_LIBRARY_PATH": str(library)} | variables
        done = subprocess.run([program, *map(str, words)], capture_output=True, env=env)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout

    run.program = program
    return run
