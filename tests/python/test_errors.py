"""What Lathe says to wrong programs, word for word: errors.txt, written by error_cases.py."""

import re
from pathlib import Path

import pytest
from error_cases import LINE, PROGRAMS, all_said, golden

import lathe as lt

TEXT = Path(__file__).read_text().splitlines()
SAID = all_said()
EXPECTED = golden()


def line_of(mark):
    return f"{__file__}:{next(n for n, line in enumerate(TEXT, 1) if line.endswith(mark))}"


@pytest.mark.parametrize("program", PROGRAMS)
def test_text(program):
    assert SAID[program] == EXPECTED.get(program)


def test_nothing_is_left_over():
    assert set(EXPECTED) == set(PROGRAMS)


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_error_has_all_its_parts(program):
    kind, problem, *parts = SAID[program].split("\n")
    assert kind.startswith("lathe."), "an error of Lathe's own"
    assert re.match(r"[\w. ]+: ", problem), "the op"
    assert f"  at:       user.py:{LINE}" in parts, "the user's own line"
    for label in ("got", "expected", "next"):
        assert any(re.match(rf"  {label}: +\S", part) for part in parts), label


def test_there_are_many_kinds():
    kinds = {tuple(text.split("\n")[:2]) for text in SAID.values()}
    sentences = {problem.split(": ", 1)[1] for _, problem in kinds}
    assert len(PROGRAMS) >= 120 and len(sentences) >= 90
    assert len({kind for kind, _ in kinds}) >= 13, "classes"


def test_parts_are_attributes():
    with pytest.raises(lt.ShapeError) as caught:
        lt.ones(2, 3) + lt.ones(4)  # the first
    error = caught.value
    assert error.op == "add" and error.got == "[2, 3] and [4]" and "broadcast" in error.problem
    assert error.next and error.expected and error.site == line_of("# the first")
    assert isinstance(error, (lt.Error, RuntimeError, ValueError))


def test_the_line_is_the_users_own():
    def helper(x):
        return lt.nn.functional.nll_loss(x, x)  # the second

    with pytest.raises(lt.Error) as caught:
        helper(lt.ones(2, 3))
    assert caught.value.site == line_of("# the second")


def test_out_of_memory_is_an_error_like_others():
    before = lt.get_flag("max_memory")
    lt.set_flag("max_memory", "64M")
    try:
        with pytest.raises(MemoryError) as caught:
            lt.ones(64 << 20)
        assert isinstance(caught.value, lt.MemoryError) and "max_memory" in str(caught.value)
        assert lt.ones(4).sum().item() == 4
    finally:
        lt.set_flag("max_memory", before)
