"""The demo, with little training: everything it says must hold, and what it makes must be there."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from built import BUILD, ROOT

pytestmark = pytest.mark.skipif(
    not (BUILD / "bin/digits_classify").exists(), reason="the C++ examples are not built"
)


def test_the_demo_runs_and_every_way_gives_the_same_bits(tmp_path):
    figures = tmp_path / "figures.json"
    done = subprocess.run(
        [sys.executable, ROOT / "examples/digits/train.py", "--quiet", "--epochs=1", "--images=320",
         "--no-torch", f"--out={tmp_path}", f"--json={figures}"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(figures.read_text())
    assert len(result["eager_losses"]) == 10
    assert result["eager_losses"] == result["traced_losses"] == result["model_traced_losses"]
    assert result["careful_losses"] == result["scripted_losses"]
    assert result["cpp_logits_equal"] is True
    table = result["table"]
    for way in ("eager", "traced", "model_traced", "careful", "scripted", "cpp"):
        assert set(table[way]["us_per_image"]) == {"1", "32"}
        assert table[way]["peak_mib"] > 0 and table[way]["compile_ms"] >= 0
    for picture in result["pictures"]:
        assert Path(picture).read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "digits.lathe").stat().st_size > 1000
