"""An installed Lathe is found, compiled against and loaded by a project that knows nothing else."""

import subprocess

import pytest
from built import BUILD, ROOT

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
    lower = tmp_path / "lower"  # either spelling finds it
    lower.mkdir()
    (lower / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(Lower LANGUAGES CXX)\n"
        "find_package(lathe 0.1 REQUIRED)\nadd_library(uses INTERFACE)\n"
        "target_link_libraries(uses INTERFACE Lathe::lathe)\n"
    )
    run("cmake", "-S", lower, "-B", lower / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    assert run(build / "consumer_c", cwd=tmp_path) == "ok\n"
    run(build / "consumer_cpp", cwd=tmp_path)
    for program in ("consumer_c", "consumer_cpp"):
        assert str(prefix) in run("ldd", build / program)


def test_a_build_without_abseil_names_the_command(tmp_path):
    for name in ("CMakeLists.txt", "cmake"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "dev").write_text("#!/bin/sh\necho asked for: $*\nexit 1\n")
    (tmp_path / "dev").chmod(0o755)
    done = subprocess.run(
        ["cmake", "-S", tmp_path, "-B", tmp_path / "build", "-DCMAKE_DISABLE_FIND_PACKAGE_absl=ON"],
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    assert "asked for: setup sources" in done.stdout
    assert "Run ./dev setup in" in done.stderr


def test_installed_plugins_need_nothing_of_the_build(tmp_path):
    run("cmake", "--install", BUILD, "--prefix", tmp_path)
    for library in sorted((tmp_path / "lib").glob("liblathe*.so")):
        needed = run("ldd", library)
        assert "not found" not in needed
        assert str(BUILD) not in needed
        assert "site-packages" not in needed
