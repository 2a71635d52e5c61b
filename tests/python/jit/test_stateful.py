"""Stateful programs captured: what is quick of tests/stateful, and tests of its runner."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[2]
# The SIMD interpreter gives the same bits, and no process has to open a compiler.
ENVIRONMENT = {**os.environ, "LATHE_ENGINE": "simd", "PYTHONHASHSEED": "0"}


def stateful(*words):
    """The exit status of the runner and what it printed."""
    command = [sys.executable, TESTS / "stateful/run.py", "--jobs", "1", *words]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT)
    return done.returncode, done.stdout + done.stderr


def test_classes_are_as_their_verdicts_say():
    code, text = stateful("classes", "--quiet")
    assert code == 0 and "crash" not in text, text


def test_ordinary_programs_are_as_their_verdicts_say():
    code, text = stateful("ordinary", "--quiet")
    assert code == 0 and "crash" not in text, text


def test_200_generated_programs_traced():
    code, text = stateful("--quiet", "--mode", "trace", "--count", "200")
    assert code == 0 and "crash" not in text, text


def test_40_generated_programs_scripted():
    code, text = stateful("--quiet", "--mode", "script", "--count", "40")
    assert code == 0 and "crash" not in text, text


def test_a_program_is_equal_to_itself():
    code, text = stateful("--mode", "plain", "--first", "300", "--count", "30")
    assert code == 0 and "plain: 30 equal, 0 refused, 0 wrong" in text, text


def test_a_program_is_shown_and_always_the_same():
    _, text = stateful("--show", "17", "--mode", "plain")
    assert "def step(" in text and "schedule = [" in text and "plain: equal" in text
    assert stateful("--show", "17", "--mode", "plain")[1] == text


def test_a_program_is_made_smaller():
    code, text = stateful("--shrink", "w02_attributes.name_that_changes", "--mode", "plain")
    assert code == 0 and len(text.splitlines()) < 12, text


# ── the runner finds what it is there for ───────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def found():
    """What is made of each wrong capture: {name: "verdict | reason | counts"}."""
    command = [sys.executable, TESTS / "stateful/wrong_captures.py"]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    return dict(line.split(" | ", 1) for line in done.stdout.splitlines())


@pytest.mark.parametrize(
    "name, verdict",
    [
        ("nothing", "equal |  | 3 calls"),
        ("another_element", "wrong | call 1: result[0]: Tensor"),
        ("copied_tensor", "wrong | call 1: world.t: Tensor"),
        ("copied_list", "wrong | call 1: world.log: builtins.list"),
        ("another_dtype", "wrong | call 1: result[0]: Tensor lathe.float64"),
        ("another_type", "wrong | call 1: result: builtins.list"),
        ("written_dict", "wrong | call 3: world.d: builtins.dict of 1"),
        ("another_random_number", "wrong | call 1: random stream of lathe"),
        ("printed_nothing", "wrong | call 1: printed[0]: str ''"),
        ("another_gradient", "wrong | call 1: world.one.grad"),
        ("requires_gradient", "wrong | call 1: world.one: Tensor"),
        ("written_global", "wrong | call 1: module.KEPT: builtins.list of 3"),
        ("raised_nothing", "wrong | call 3 raised None; eager: KeyError"),
        ("another_mode", "wrong | call 1: modes: grad False"),
        ("refusal", "refused | no  [program.py:7]"),
        ("refusal_without_line", "unplaced | no line"),
        ("refusal_that_leaves_a_trace", "wrong | call 1: a refusal that left a trace: world.n"),
        ("died", "crash | the captured process ended with -6"),
        ("hung", "crash | the captured process did not end"),
        ("a_trace_each", "costly | 3 traces, at most 2 wanted | 3 calls, 3 traces, 0 served"),
        ("pure", "equal |  | 3 calls, 1 traces, 2 served"),
    ],
)
def test_a_capture_that_is_wrong_is_found(found, name, verdict):
    assert found[name].startswith(verdict)


@pytest.mark.parametrize(
    "name, why",
    [
        ("raises", "KeyError"),
        ("changes", "calls(): AttributeError"),
        ("no_world", "NameError"),
        ("no_call", "it makes no call"),
    ],
)
def test_a_program_that_does_not_run_proves_nothing(found, name, why):
    assert found[name].startswith("broken | ") and why in found[name]


PURE = """
import lathe as lt


def step(x):
    return x * 2


def calls(w):
    yield (lt.ones(2),)
    yield (lt.ones(2),)
    yield (lt.ones(3),)
"""


def test_a_variable_is_passed_on(tmp_path):
    table = "# %% one: equal\nimport os\n" + PURE
    (tmp_path / "planted.py").write_text(table + '    assert os.environ["PLANTED"] == "a=b"\n')
    code, text = stateful(tmp_path, "--mode", "plain")
    assert code == 1 and "broken: calls(): KeyError: 'PLANTED'" in text, text
    code, text = stateful(tmp_path, "--mode", "plain", "--env", "PLANTED=a=b")
    assert code == 0 and "1 passed, 0 failed" in text, text


def test_a_list_of_verdicts_excuses_and_none_does_not(tmp_path):
    (tmp_path / "planted.py").write_text("# %% one: refused\n" + PURE)
    listed = tmp_path / "verdicts.txt"
    listed.write_text("planted.one trace equal why\n")
    words = (tmp_path, "--mode", "trace", "--verdicts")
    assert stateful(*words, listed)[0] == 0
    code, text = stateful(*words, "/dev/null")
    assert code == 1 and "refused is wanted, it is equal" in text, text
    listed.write_text("planted.two trace equal why\n")
    assert "there is no program planted.two" in stateful(*words, listed)[1]
    assert "no programs in" in stateful(tmp_path / "none")[1]


# ── tables and verdicts ─────────────────────────────────────────────────────────────────────────


@pytest.fixture
def package():
    sys.path.insert(0, str(TESTS))
    try:
        import stateful.judge
        import stateful.tables

        yield stateful
    finally:
        sys.path.remove(str(TESTS))


def test_verdicts_that_change_fail(package, tmp_path):
    judge = package.judge
    (tmp_path / "v.txt").write_text(
        "# why\n\na.b all wrong reads are missed\na.c trace refused x\n"
    )
    known = judge.listed(tmp_path / "v.txt")
    assert set(known) == {("a.b", "trace"), ("a.b", "script"), ("a.c", "trace")}
    both = ("equal", "refused")

    def said(program, verdict, wanted=both):
        return judge.complaint(program, "trace", wanted, judge.Judged(verdict), known)

    assert said("a.b", "wrong") is None and said("x", "equal") is None
    assert said("a.b", "equal") == "wrong is listed"
    assert said("x", "wrong") == "equal or refused is wanted"
    assert said("a.c", "refused", ("equal",)) is None
    assert said("a.c", "refused").endswith("take the line out")


@pytest.mark.parametrize(
    "line, why",
    [
        ("a.b all wrong", "program, mode, verdict, reason"),
        ("a.b all odd why", "no verdict of a program is odd"),
        ("a.b all broken why", "no verdict of a program is broken"),
        ("a.b plain wrong why", "twice, or unknown"),
        ("a.b all wrong why\na.b trace wrong why", "twice, or unknown"),
    ],
)
def test_bad_lines_of_verdicts(package, tmp_path, line, why):
    (tmp_path / "v.txt").write_text(line + "\n")
    with pytest.raises(ValueError, match=why):
        package.judge.listed(tmp_path / "v.txt")


def test_a_table_is_taken_apart(package, tmp_path):
    path = tmp_path / "t.py"
    path.write_text("import a\n\n# %% one: equal, traces 2\nx\n# %% two: either\ny\n")
    one, two = package.tables.entries_of(path)
    assert one == package.tables.Entry("t.one", "import a\n\n# %% one: equal, traces 2\nx\n",
                                       ("equal",), 2)  # fmt: skip
    assert two.source.split("\n")[4:] == ["# %% two: either", "y", "", ""]
    assert two.wanted == ("equal", "refused")
    for bad in ("# %% one: maybe\n", "# %% one: equal\n# %% one: equal\n", "x\n"):
        path.write_text(bad)
        with pytest.raises(ValueError, match="no head|no program"):
            package.tables.entries_of(path)


def test_every_feature_has_a_part_and_is_dealt(package):
    from stateful.generate import FEATURES, entry

    programs = [entry(seed) for seed in range(300)]
    for feature in FEATURES:
        share = sum(feature in p.features for p in programs) / len(programs)
        assert share >= 0.05, feature
    lengths = sorted(len(p.source.splitlines()) for p in programs)
    assert lengths[0] > 30 and len({p.source for p in programs}) == 300


def test_reasons_are_generalised(package):
    general = package.judge.general
    assert general("trace: np (numpy) may answer anew\n at: x") == "trace: NAME may answer anew"
    assert general("script: 'try' cannot be in 'f'") == "script: 'try' cannot be in '...'"
    assert re.search(r"N", general("index 17 of a.b.c"))
