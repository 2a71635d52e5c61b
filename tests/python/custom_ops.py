"""docs/custom-ops.md as tests run it: its blocks of code, and its shared object."""

import re
import subprocess
import sys

from built import ROOT

PAGE = (ROOT / "docs/custom-ops.md").read_text()
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", PAGE, re.S)


def run(code, cwd, ok=True):
    """In a process of its own, for whose life the ops stay; gives what it prints."""
    done = subprocess.run([sys.executable, "-c", code], cwd=cwd, capture_output=True, text=True)
    assert (done.returncode == 0) == ok, done.stdout + done.stderr
    return done.stdout + done.stderr


def zero_out_library(folder):
    """libzero_out.so, made in this folder of the page's C++ by the page's command."""
    (folder / "include").symlink_to(ROOT / "include")
    (folder / "zero_out.cpp").write_text(next(code for kind, code in BLOCKS if kind == "cpp"))
    command = next(code for kind, code in BLOCKS if kind == "sh")
    built = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return folder / "libzero_out.so"
