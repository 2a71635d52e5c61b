"""The runner of tests/traps finds what it is there for: programs that a capture gets wrong."""

import subprocess
import sys
from pathlib import Path

import lathe as lt

TRAPS = Path(__file__).resolve().parents[1] / "traps"

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


def verdicts(folder, program, *words):
    """What the runner says of one program, in a copy of its folder."""
    for name in ("run.py", "trap_runner.py", "variants.py"):
        (folder / name).write_text((TRAPS / name).read_text())
    (folder / "t900_planted.py").write_text(program)
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
