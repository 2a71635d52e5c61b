"""./dev prove: what `--resume` takes as shown, what `--quick` runs, and how they are counted."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def driver(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "path", [str(ROOT / "tests/prove"), *sys.path])
    from parts import driver

    monkeypatch.setattr(driver, "LOGS", tmp_path)
    return driver


@pytest.fixture
def line(driver):
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


def show(driver, line, at, resume=True):
    line.ran.clear()
    outcome = driver.show_line(line, SimpleNamespace(resume=resume, quick=False), at)
    assert outcome["passed"] is False
    return line.ran, [part["figure"] for part in outcome["parts"]]


def test_resume_runs_what_has_not_passed(driver, line):
    assert show(driver, line, "abc") == (["good", "bad"], ["7", "no"])
    assert show(driver, line, "abc") == (["bad"], ["7 (shown before)", "no"])
    assert show(driver, line, "abc", resume=False) == (["good", "bad"], ["7", "no"])


@pytest.mark.parametrize("at", ["other", "abc-dirty"])
def test_another_tree_is_shown_anew(driver, line, at):
    show(driver, line, "abc")
    show(driver, line, "abc-dirty")
    assert show(driver, line, at)[0] == ["good", "bad"]


def test_parts_that_share_figures_are_all_run_again(driver, line):
    line.shares_figures = True
    show(driver, line, "abc")
    assert show(driver, line, "abc")[0] == ["good", "bad"]


def test_proofs_do_not_share_what_has_passed(driver, line):
    show(driver, line, "abc")
    line.proof = "frame"
    assert show(driver, line, "abc")[0] == ["good", "bad"]


# ── the short form ──────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def long_line(driver):
    from parts.proof import Line

    line = Line(2, "parts that take long")
    line.part("sampled", minutes=60, quick=lambda: "10")(lambda: "1000")
    line.part("short")(lambda: "3")
    line.part("whole", minutes=60)(lambda: "2000")
    return line


def outcome_of(driver, line, quick):
    outcome = driver.show_line(line, SimpleNamespace(resume=True, quick=quick), "abc")
    return outcome["passed"], [part["figure"] for part in outcome["parts"]]


def test_quick_runs_short_forms_and_leaves_the_rest(driver, long_line):
    left = "left to the long form, where it takes about 60 minutes"
    assert outcome_of(driver, long_line, True) == (True, ["10 (short form)", "3", left])
    # A short form is no proof of the long one.
    whole = ["1000", "3 (shown before)", "2000"]
    assert outcome_of(driver, long_line, False) == (True, whole)


def run_main(driver, monkeypatch, capsys, lines, *arguments):
    monkeypatch.setattr(sys, "argv", ["x.py", *arguments])
    with pytest.raises(SystemExit) as end:
        driver.main(lines, "A proof.")
    return end.value.code, capsys.readouterr()


def test_what_is_left_is_counted_apart(driver, line, long_line, monkeypatch, capsys, tmp_path):
    file = tmp_path / "told.json"
    arguments = ("--quick", "--json", str(file))
    code, told = run_main(driver, monkeypatch, capsys, [line, long_line], *arguments)
    assert code == 1 and "1 passed, 1 failed\n" in told.out
    assert "parts: 3 passed, 1 failed, 1 left to the long form" in told.out
    assert [o["passed"] for o in json.loads(file.read_text())["lines"]] == [False, True]
    code, told = run_main(driver, monkeypatch, capsys, [line, long_line], "--quick", "--only=2")
    assert code == 0 and "PASS line 2: 2 of 3 parts, 1 left to the long form" in told.out


def test_nothing_shown_is_no_success(driver, monkeypatch, capsys):
    from parts.proof import Line

    line = Line(1, "heavy")
    line.part("whole", minutes=60)(lambda: "2000")
    code, told = run_main(driver, monkeypatch, capsys, [line], "--quick")
    assert code == 1 and "0 passed, 0 failed, 1 left to the long form" in told.out


def test_a_line_that_is_not_there(driver, line, monkeypatch, capsys):
    code, told = run_main(driver, monkeypatch, capsys, [line], "--only", "1,9")
    assert code == 2 and "no line 9; there are 1..1" in told.err


# ── the lines ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("proof, lines", [("spine", 10), ("frame", 7)])
def test_lines_are_numbered_and_their_parts_have_names_of_their_own(driver, proof, lines):
    import importlib

    found = importlib.import_module(f"parts.{proof}").LINES
    assert [line.number for line in found] == list(range(1, lines + 1))
    for line in found:
        assert line.proof == proof and line.parts
        files = [driver.outcome_file(line, part, "abc") for part in line.parts]
        assert len(set(files)) == len(files), f"line {line.number}"


# ── the items of the frame ──────────────────────────────────────────────────────────────────────


@pytest.fixture
def items(driver):
    from parts.frame import items

    return items


def outcome(name, status="passed"):
    return SimpleNamespace(name=name, status=status, text="why")


def test_the_list_of_items_is_read(items):
    text = "# a remark\na, b: x.py::test_a[c d] | S.*\nwithout a test:\n"
    assert items.items(text) == {"a, b": ["x.py::test_a[c d]", "S.*"], "without a test": []}


@pytest.mark.parametrize(
    "tests, ran, reason",
    [
        ([], [], "no test of it is listed"),
        (["x.py::test_a"], [outcome("tests/python/x.py::test_ab")], "no such test"),
        (["x.py::test_a"], [outcome("tests/python/x.py::test_a", "failed")], "failed: why"),
        (["x.py::test_a"], [outcome("tests/python/x.py::test_a[1]", "skipped")], "skipped: why"),
        (["S.*"], [outcome("S.A"), outcome("S.B", "failed")], "S.B failed"),
    ],
)
def test_an_item_without_a_passed_test_is_not_shown(items, tests, ran, reason):
    from parts.proof import Missing

    with pytest.raises(Missing, match=reason):
        items.shown(tests, ran)


def test_an_item_is_shown_by_all_cases_of_its_tests(items):
    names = ("S.A", "S.B", "T.A", "tests/python/x.py::test_a[1]", "tests/python/x.py::test_a[2]")
    assert items.shown(["S.*", "x.py::test_a"], [outcome(n) for n in names]) == "4 tests"


def test_lines_of_definitions_are_counted(driver):
    from parts.frame.definitions import lines_of_definitions

    text = (
        'void f() {\n  r.contract("a(Tensor x)",\n             "O");\n  r.contract("b()", 1);\n}\n'
    )
    assert lines_of_definitions(text) == {"a": 2, "b": 1}
