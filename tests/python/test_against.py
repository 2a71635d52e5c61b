"""What two builds' rounds show (tests/bench/ratios.py): noise and missing ways show nothing."""

import importlib.util
from pathlib import Path

PATH = Path(__file__).parents[1] / "bench/ratios.py"
spec = importlib.util.spec_from_file_location("ratios", PATH)
ratios = importlib.util.module_from_spec(spec)
spec.loader.exec_module(ratios)

BEFORE = [1.0] * 40


def found(now, before=BEFORE, most=1.0):
    return ratios.problems({"": now}, {"": before}, most)


def test_as_fast_or_faster_passes():
    assert found([1.0] * 40) == found([0.5] * 40) == found([1.019] * 40) == []
    assert found([1.15] * 40, most=1.2) == []


def test_slower_fails():
    assert found([1.021] * 40) == ["it takes 1.021 of the time, at most 1.0"]


def test_noise_shows_nothing():
    """1.15 +- 0.16 was no slower; neither is 0.9 +- 0.16 shown to be."""
    for middle in (1.15, 0.9):
        (problem,) = found([middle - 0.08, middle + 0.08] * 20)
        assert "is not shown: noise 0.160 after 40 rounds" in problem
    assert "is not shown" in found([1.0], [1.0])[0]


def test_a_way_on_one_side_only_fails():
    now, before = {"traced": BEFORE}, {"traced": BEFORE, "eager": BEFORE}
    assert ratios.problems(now, before, 1.0) == ["timed on one side only: eager"]
    assert ratios.problems(before, now, 1.0) == ["timed on one side only: eager"]
    assert ratios.problems({}, {}, 1.0) == ["nothing was timed on both sides"]
    assert "nothing was timed on both sides" in ratios.problems({"a": BEFORE}, {"b": BEFORE}, 1.0)
