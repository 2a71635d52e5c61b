"""./dev prove: `--resume` takes as shown what has passed at this commit, and nothing else."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def spine(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "path", [str(ROOT / "tests/prove"), *sys.path])
    import spine

    monkeypatch.setattr(spine, "LOGS", tmp_path)
    return spine


@pytest.fixture
def line(spine):
    from parts.proof import Line, Missing

    line = Line(1, "two parts")
    line.ran = ran = []

    @line.part("good")
    def good():
        ran.append("good")
        return "7"

    @line.part("bad")
    def bad():
        ran.append("bad")
        raise Missing("no")

    return line


def show(spine, line, at, resume=True):
    line.ran.clear()
    outcome = spine.show_line(line, SimpleNamespace(resume=resume, quick=False), at)
    assert not outcome["passed"]
    return line.ran, [part["figure"] for part in outcome["parts"]]


def test_resume_runs_what_has_not_passed(spine, line):
    assert show(spine, line, "abc") == (["good", "bad"], ["7", "no"])
    assert show(spine, line, "abc") == (["bad"], ["7 (shown before)", "no"])
    assert show(spine, line, "abc", resume=False) == (["good", "bad"], ["7", "no"])


@pytest.mark.parametrize("at", ["other", "abc-dirty"])
def test_another_tree_is_shown_anew(spine, line, at):
    show(spine, line, "abc")
    show(spine, line, "abc-dirty")
    assert show(spine, line, at)[0] == ["good", "bad"]


def test_parts_that_share_figures_are_all_run_again(spine, line):
    line.shares_figures = True
    show(spine, line, "abc")
    assert show(spine, line, "abc")[0] == ["good", "bad"]
