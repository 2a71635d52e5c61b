"""docs/ops.md: which of PyTorch's public names the module has, and why the rest is missing."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))
import ops  # noqa: E402


def test_the_page_is_up_to_date():
    command = [sys.executable, str(ROOT / "docs/ops.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_missing_name_needs_a_reason(monkeypatch):
    monkeypatch.setattr(ops, "reasons", list)
    with pytest.raises(LookupError, match="is missing and"):
        ops.table()


def test_what_is_there_is_had_without_a_line():
    found = ops.table()
    assert found["torch.relu"] == found["Tensor.relu_"] == ("have", "")
    assert found["torch.trace"][0] == "other"


def test_a_line_that_no_name_needs_is_found(monkeypatch):
    had = (ops.re.compile(r"torch\.relu"), "later", "it is there")
    known = ops.reasons()
    monkeypatch.setattr(ops, "reasons", lambda: [had, *known])
    assert ops.idle() == [r"torch\.relu"]
