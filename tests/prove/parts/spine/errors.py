"""Line 9: bad programs and bad files."""

import re

from ..proof import ROOT, Line, cpp_tests, python_tests, require

LINE = Line(9, "Errors with golden text and the user's line; damaged and hostile files")


@LINE.part(">= 60 wrong programs of >= 25 kinds, word for word")
def texts():
    python_tests("errors", "tests/python/test_errors.py")
    golden = (ROOT / "tests/python/errors.txt").read_text()
    programs = re.findall(r"^>>> ", golden, re.M)
    kinds = set(re.findall(r"^>>> .*\n(lathe\.\w+ .*\n.*)", golden, re.M))
    require(len(programs) >= 60 and len(kinds) >= 25, f"{len(programs)} of {len(kinds)} kinds")
    return f"{len(programs)} programs, {len(kinds)} kinds"


@LINE.part("every byte of a model file flipped, every length cut")
def bytes_flipped():
    return cpp_tests("files", "File.EveryByte*:File.EveryLength*")


@LINE.part("50 hostile files and a hostile world")
def hostile():
    return cpp_tests("hostile", "Hostiles.*:File.Hostile*:File.WhatIsRefused*")


def add(what, words):
    @LINE.part(what)
    def show():
        done = python_tests(f"bad-{words.split()[0]}", "tests/python", "-k", words)
        return done.last(r"\d+ passed.*")


for _what, _words in {
    "damaged weight files": "damaged",
    "out of memory": "memory_left or max_memory or out_of_memory",
    "Ctrl-C during training": "ctrl_c_during_training",
    "a read-only cache": "cache_that_cannot_be_written",
    "a missing LLVM": "without_llvm",
    "a missing vendor library": "without_a_vendor or missing_library",
    "a full disk": "full_disk",
}.items():
    add(_what, _words)
