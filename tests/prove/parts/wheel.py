"""The wheel: made from a clean clone as `pip install .` does, and used where the tree is not."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from .proof import LOGS, ROOT, Missing, require, run

PROGRAM = """
import pathlib, sys
import lathe as lt

assert "site-packages" in lt.__file__, lt.__file__
x = lt.arange(6, dtype=lt.float32).reshape(2, 3).requires_grad_()
(x * x).sum().backward()
assert x.grad.tolist() == [[0, 2, 4], [6, 8, 10]]
f = lt.trace(lambda a: lt.exp(a) * 2 + a)
assert f(x.detach()).tolist() == (lt.exp(x.detach()) * 2 + x.detach()).tolist()
assert f.counts["generated_runs"] == 1, f.counts
# A vendor that was not found stands in the table's answer with its reason, or is no entry at all.
a, b = lt.rand(256, 256), lt.rand(256, 256)
said = lt.table("mm", a, b)
for vendor in ("onednn", "openblas"):
    assert vendor in said, said
    assert not any(vendor in line and "cannot be opened" in line for line in said.splitlines())
(a @ b), lt.nn.functional.conv2d(lt.rand(8, 16, 32, 32), lt.rand(16, 16, 3, 3))
maps = pathlib.Path("/proc/self/maps").read_text()
opened = [n for n in ("liblathe.so", "liblathe_llvm", "libdnnl", "openblas") if n in maps]
# One library, though the module and the C++ library are two files.
libraries = {line.split()[-1] for line in maps.splitlines() if line.endswith("/liblathe.so")}
assert len(libraries) == 1, libraries
print(*opened)
print(lt.cmake_prefix_path)
"""


def wheel():
    """The figure: time to build, size, and what was used from Python and C++."""
    LOGS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        return _shown(Path(folder))


def _shown(folder):
    clone, fresh, dist = folder / "clone", folder / "fresh", folder / "dist"
    _step("wheel-clone", "git", "clone", "-q", ROOT, clone)
    _step("wheel-venv", sys.executable, "-m", "venv", fresh)
    python = fresh / "bin/python"
    began = time.time()
    # The compiler by the name that ./dev build knows it by: ccache then has the objects.
    make = (python, "-m", "pip", "wheel", "-q", clone, "--no-deps", "-w", dist)
    _step("wheel-build", *make, CXX="c++")
    minutes = (time.time() - began) / 60
    (built,) = dist.glob("lathe-*.whl")
    size = built.stat().st_size / 1e6
    _step("wheel-install", python, "-m", "pip", "install", "-q", built)
    shutil.rmtree(clone)  # nothing of what was built may be read from here on
    used = _step("wheel-python", python, "-I", "-c", PROGRAM, folder=folder).splitlines()
    require(len(used[0].split()) == 4, f"opened only {used[0]}")
    built_against = _cpp(folder, used[1])
    return (
        f"built in {minutes:.1f} min, {size:.1f} MB; Python: eager, trace, {used[0]}; "
        f"C++ against it: {built_against}"
    )


def _cpp(folder, prefix):
    """Builds tests/consumer, a project that knows nothing but the wheel, and runs it."""
    source, build = folder / "consumer", folder / "consumer-build"
    shutil.copytree(ROOT / "tests/consumer", source)
    _step("wheel-configure", "cmake", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}")
    _step("wheel-compile", "cmake", "--build", build)
    programs = ("consumer_c", "consumer_cpp")
    for program in programs:
        _step(f"wheel-{program}", build / program, folder=folder)
        linked = _step("wheel-ldd", "ldd", build / program)
        require(f"{prefix}/lib/liblathe.so" in linked, f"{program} is linked to another: {linked}")
        require("python" not in linked.replace(prefix, ""), f"{program} needs Python: {linked}")
    return " and ".join(programs) + " run"


def _step(name, *command, folder=None, **environment):
    """The output of a command that must not see this tree; Missing with its last lines."""
    if folder is None:
        done = run(name, *command, PYTHONPATH="", **environment)
        code, text, log = done.code, done.text, done.log
    else:
        ours = ("PYTHON", "LATHE", "LD_")
        clean = {n: v for n, v in os.environ.items() if not n.startswith(ours)}
        done = subprocess.run(
            [str(c) for c in command], cwd=folder, env=clean, capture_output=True, text=True
        )
        code, text, log = done.returncode, done.stdout + done.stderr, "none"
    if code != 0:
        last = " / ".join(text.strip().splitlines()[-3:])
        raise Missing(f"{name} ended with {code}: {last}; whole log: {log}")
    return text
