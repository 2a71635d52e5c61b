"""What tests/run.py makes of its programs: folders, skips and their budget, logs and reports."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TESTS))

import run_cpp  # noqa: E402
import run_python  # noqa: E402
from outcomes import Outcome, budget, folders_of_tests, over_budget  # noqa: E402

SKIPS = "# a comment\n2  no LLVM: .*\n1  by hand\n"


def skipped(*reasons):
    return [Outcome(f"t{i}", "skipped", reason) for i, reason in enumerate(reasons)]


def test_skips_within_the_budget_pass():
    assert (
        over_budget(
            [*skipped("no LLVM: a", "no LLVM: b", "by hand"), Outcome("x", "passed")], SKIPS
        )
        == []
    )


@pytest.mark.parametrize(
    ("reasons", "said"),
    [
        (["no LLVM: a"] * 3, "3 tests, at most 2: no LLVM: .*"),
        (["by hand, too"], "t0: this reason is not in skips.txt: by hand, too"),
        ([""], "t0: this reason is not in skips.txt: (no reason)"),
    ],
)
def test_one_skip_too_many_is_a_complaint(reasons, said):
    assert over_budget(skipped(*reasons), SKIPS) == [said]


def test_the_budget_of_this_tree_can_be_read():
    assert all(most > 0 for most, _ in budget((TESTS / "skips.txt").read_text()))


LOG = """[ RUN      ] A.Good
[       OK ] A.Good (0 ms)
[ RUN      ] A.Skipped
../../tests/a_test.cpp:74: Skipped
for one seed
by hand

[  SKIPPED ] A.Skipped (0 ms)
[ RUN      ] B/A.Bad/x
a_test.cpp:5: Failure
[  FAILED  ] B/A.Bad/x, where GetParam() = 1 (3 ms)
"""


def test_a_log_of_googletest_is_read():
    good, skipped, bad = run_cpp.read_log(LOG, 1, "log")
    assert good == Outcome("A.Good", "passed")
    assert skipped == Outcome("A.Skipped", "skipped", "for one seed by hand")
    assert (bad.name, bad.status) == ("B/A.Bad/x", "failed") and "a_test.cpp:5" in bad.text


@pytest.mark.parametrize(
    ("log", "name"), [("[ RUN      ] A.Dies\n", "A.Dies"), ("", "outside any test")]
)
def test_a_program_that_dies_is_a_failure(log, name):
    (died,) = run_cpp.read_log(log, -6, "log")
    assert (died.name, died.status) == (name, "failed") and "ended with -6" in died.text


def test_a_report_of_pytest_is_read(tmp_path):
    report = tmp_path / "report.xml"
    report.write_text(
        '<testsuites><testsuite><testcase file="tests/a.py" name="a"/>'
        '<testcase file="tests/a.py" name="b"><skipped message="not\n here"/></testcase>'
        '<testcase file="tests/a.py" name="c"><failure message="no"/></testcase>'
        "</testsuite></testsuites>"
    )
    assert run_python.read_report(report) == [
        Outcome("tests/a.py::a", "passed"),
        Outcome("tests/a.py::b", "skipped", "not here"),
        Outcome("tests/a.py::c", "failed", "no"),
    ]


STUCK = """
import ctypes

def test_before(): pass
def test_stuck(): ctypes.PyDLL(None).pause()  # with Python's lock: no handler of a signal runs
def test_after(): pass
"""


def test_a_test_that_takes_no_signal_ends_and_says_where_it_was(tmp_path):
    (tmp_path / "test_a.py").write_text(STUCK)
    (tmp_path / "test_b.py").write_text("def test_before(): pass\ndef test_after(): pass\n")
    words = [sys.executable, "-m", "pytest", "-c", TESTS.parent / "pyproject.toml"]
    words += ["--rootdir", tmp_path, "-o", "faulthandler_timeout=1", *run_python.side_by_side(2)]
    done = subprocess.run([*words, tmp_path], capture_output=True, text=True)
    assert done.returncode not in (0, run_python.NOTHING_MATCHED)
    assert "crashed while running 'test_a.py::test_stuck'" in done.stdout
    assert 'test_a.py", line 5 in test_stuck' in done.stderr


def test_a_run_that_does_not_end_is_stopped(capfd):
    lines = ["import faulthandler, time", "faulthandler.enable()", "print('ready', flush=True)"]
    program = "\n".join([*lines, "time.sleep(99)"])
    code = run_python.run_bounded([sys.executable, "-c", program], os.environ, seconds=1)
    said = capfd.readouterr()
    assert code == -signal.SIGABRT and "has not ended after 1 s" in said.out
    if said.out.startswith("ready"):  # it had the time to start
        assert 'File "<string>", line 4' in said.err


def test_folders_of_tests_are_known_by_their_name():
    assert folders_of_tests("jit") == ["cpp/jit", "python/jit"]
    assert folders_of_tests("checks") == ["python/checks"]
    assert folders_of_tests("bits") == ["bits"] and folders_of_tests("python") == ["python"]
    assert (
        folders_of_tests("softmax") == folders_of_tests("samples") == folders_of_tests("..") == []
    )


def test_every_cpp_test_has_a_home():
    """./dev test core is what stands in cpp/core: a test beside the folders would be in no tier."""
    assert list((TESTS / "cpp").glob("*_test.cpp")) == []
