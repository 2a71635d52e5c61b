"""The runner of tests/traps finds what it is there for: programs that a capture gets wrong."""

import subprocess
import sys
from pathlib import Path

import lathe as lt

TRAPS = Path(__file__).resolve().parents[2] / "traps"

PROGRAM = """\"\"\"T900 A planted one.

trace: equal
script: equal
\"\"\"

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    return x * 2


out = [f(lt.ones(4)), f(lt.ones(2))]
"""


def verdicts(folder, program, *words, listed=""):
    """What the runner says of one program, in a copy of its folder, with this list of verdicts."""
    for name in ("run.py", "trap_runner.py", "variants.py"):
        (folder / name).write_text((TRAPS / name).read_text())
    (folder / "t900_planted.py").write_text(program)
    (folder / "verdicts.txt").write_text(listed)
    done = subprocess.run(
        [sys.executable, folder / "run.py", *words], capture_output=True, text=True
    )
    return done.returncode, done.stdout


def test_a_right_program_is_equal_in_every_variant(tmp_path):
    code, text = verdicts(tmp_path, PROGRAM)
    assert code == 0 and text.count("1 equal, 0 wrong") == 8, text


def test_a_wrong_capture_is_found(tmp_path):
    wrong = PROGRAM.replace("x * 2", "x * MODE")
    wrong = wrong.replace("@capture\n", "MODE = 1 if capture(len) is len else 2\n\n\n@capture\n")
    code, text = verdicts(tmp_path, wrong, "--variant", "plain")
    assert code == 1 and text.count("out differs") == 2, text


REFUSED = "t900 all all refused a branch on data\n"


def test_a_verdict_that_is_not_listed_fails_better_or_worse(tmp_path):
    refused = PROGRAM.replace("return x * 2", "return x * 2 if x.sum() > 0 else x")
    plain = ("--variant", "plain", "--mode", "trace")
    code, text = verdicts(tmp_path, refused, *plain)
    assert code == 1 and "equal is wanted, it is refused" in text and "0 passed, 1 failed" in text
    assert verdicts(tmp_path, refused, *plain, listed=REFUSED)[0] == 0
    code, text = verdicts(tmp_path, PROGRAM, *plain, listed=REFUSED)
    assert code == 1 and "refused is listed, it is equal" in text
    code, text = verdicts(tmp_path, PROGRAM, *plain, listed=REFUSED.replace("refused", "equal"))
    assert code == 1 and "take the line out" in text
    code, text = verdicts(tmp_path, PROGRAM, *plain, listed=REFUSED.replace("t900", "t901"))
    assert code == 1 and "there is no program t901" in text


def test_the_first_call_is_another_one(tmp_path):
    sys.path.insert(0, str(TRAPS))
    try:
        import variants
    finally:
        sys.path.pop(0)
    calls, seen = variants.Calls(), []

    def f(x, k=0):
        seen.append((x.tolist(), k))
        return x + k

    def program(capture):
        captured = capture(f)
        x = lt.ones(1)
        captured(x)
        x.fill_(7)
        captured(lt.zeros(2), k=3)
        captured(x)

    program(calls.recorder())
    seen.clear()
    program(calls.warmed("eager"))
    assert seen == [([7], 0), ([1], 0), ([0, 0], 3), ([7], 0)], "the last one comes first"
