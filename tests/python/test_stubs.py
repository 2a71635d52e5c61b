"""The type stubs are what the rows say, and a type checker can use them."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_stubs_are_up_to_date():
    command = [sys.executable, str(ROOT / "python/stubs/print_stubs.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


PROGRAM = """
import lathe as lt
from lathe import nn

x: lt.Tensor = lt.tensor([1.0], requires_grad=True)
y: lt.Tensor = (x * 2 + 1).sum(0).relu() @ lt.zeros(2, 3, dtype=lt.float32).view(3, 2)
y.backward()
values, indices = lt.sort(x)
first: lt.Tensor = lt.topk(x, 1).values
with lt.no_grad():
    x.add_(1)
n: int = x.numel()
layer = nn.Linear(2, 3)
wrong: int = x.sum()
also: str = x.dtype
"""


@pytest.mark.slow
def test_a_type_checker_reads_them(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--follow-imports=silent",
        "--cache-dir",
        str(tmp_path),
    ]
    done = subprocess.run(
        [*command, str(program)],
        capture_output=True,
        text=True,
        env={"MYPYPATH": str(ROOT / "python")},
    )
    found = [line.split(": ", 2)[0].split(":")[-1] for line in done.stdout.splitlines()[:-1]]
    assert found == ["14", "15"], done.stdout + done.stderr
