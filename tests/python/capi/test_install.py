"""An installed Lathe is found, compiled against and loaded by a project that knows nothing else."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("LATHE_BUILD_DIR", ROOT / "build/release"))

pytestmark = pytest.mark.skipif(
    not (BUILD / "lib/liblathe.so").exists(), reason="liblathe.so is not built"
)


def run(*command, **kwargs):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **kwargs)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_project_finds_and_runs_it(tmp_path):
    first = tmp_path / "first"
    run("cmake", "--install", BUILD, "--prefix", first)
    prefix = first.rename(tmp_path / "moved")  # an installation may be moved
    build = tmp_path / "consumer"
    run("cmake", "-S", ROOT / "tests/consumer", "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", build)
    assert run(build / "consumer_c", cwd=tmp_path) == "ok\n"
    run(build / "consumer_cpp", cwd=tmp_path)
    for program in ("consumer_c", "consumer_cpp"):
        assert str(prefix) in run("ldd", build / program)


def test_installed_plugins_need_nothing_of_the_build(tmp_path):
    run("cmake", "--install", BUILD, "--prefix", tmp_path)
    for library in sorted((tmp_path / "lib").glob("liblathe*.so")):
        needed = run("ldd", library)
        assert "not found" not in needed
        assert str(BUILD) not in needed
        assert "site-packages" not in needed
