"""Line 8: checks that can fail, sanitizers, sim."""

import re

from ..proof import Line, Missing, cpp_tests, green, python_tests, run

LINE = Line(8, "Checks that can fail, each proven; sanitizers; sim")


def quick_checks():
    return green(run("checks", "./dev", "check"))


@LINE.part("./dev check --full", minutes=6, quick=quick_checks)
def checks():
    return green(run("checks", "./dev", "check", "--full"))


@LINE.part("each check fails on its seeded violation", minutes=3)
def seeded():
    return python_tests("checks-seeded", "tests/python/checks").last(r"\d+ passed.*")


@LINE.part("definitions are complete: shape rule, body, derivative or none, sample, doc")
def definitions():
    return cpp_tests("definitions", "Definitions.*")


@LINE.part("golden IR")
def golden():
    return cpp_tests("golden", "*Golden*:Pipeline*:Rules*")


@LINE.part("the ops on sim; one wait removed is caught")
def sim():
    for name in ("KernelsSim.*", "*RemovedWait*"):
        found = cpp_tests("sim", name)
    return f"{cpp_tests('sim', 'KernelsSim.*:Sim*')}, a removed wait among them ({found})"


def sanitized(preset, *arguments):
    done = run(preset, "./dev", "test", "--cpp", *arguments, timeout=3 * 3600, LATHE_PRESET=preset)
    if found := re.search(r"WARNING: ThreadSanitizer.*|ERROR: AddressSanitizer.*", done.text):
        raise Missing(f"{found.group(0)}; whole log: {done.log}")
    return green(done)


@LINE.part("C++ tests under ASan and UBSan", minutes=40)
def asan():
    return sanitized("asan")


@LINE.part("pool, tape, executor and caches under TSan", minutes=40)
def tsan():
    wanted = ("Pool", "Threads", "Cache", "KernelsSim")
    return "; ".join(f"{name}: {sanitized('tsan', name)}" for name in wanted)
