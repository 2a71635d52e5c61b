"""./dev bench: every case is known to Lathe's adapter, and what the summary says of lines."""

import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[1] / "bench"


def taken_away():
    """Modules of the bench's names, which other tests have of their own, out of sys.modules."""
    names = [n for n in sys.modules if n.split(".")[0] in ("peers", "rows", "table")]
    return {name: sys.modules.pop(name) for name in names}


@pytest.fixture(scope="module")
def bench():
    """The modules `rows`, `table` and `peers.lathe` of the bench."""
    others = taken_away()
    sys.path.insert(0, str(BENCH))
    try:
        import peers.lathe
        import rows
        import table

        yield rows, table, peers.lathe
    finally:
        sys.path.remove(str(BENCH))
        taken_away()
        sys.modules.update(others)


def test_every_case_is_known(bench):
    rows, _, lathe = bench
    assert len({case.id for case in rows.CASES}) == len(rows.CASES)
    for case in rows.CASES:
        assert callable(lathe.find(case.kind)), case.id


def line(name, group, ratio):
    found = {"unit": "ratio", "name": name, "group": group}
    return found if ratio is None else found | {"ratio": ratio}


def test_summary(bench):
    lines = [
        line("a", "one", 2.0),
        line("b", "two", 0.5),
        line("c", "one", 0.5),
        line("d", "two", None),
        {"unit": "ms", "name": "e"},
    ]
    found = bench[1].summary(lines)
    assert list(found) == ["one", "two", "all"]
    assert found["one"] == {
        "cases": 2, "without_ratio": 0, "mean": 1.0, "share": 0.5, "least": 0.5, "least_name": "c",
    }  # fmt: skip
    assert found["two"]["without_ratio"] == 1 and found["two"]["share"] == 0
    assert found["all"]["cases"] == 4 and found["all"]["mean"] == pytest.approx(0.5 ** (1 / 3))
    assert bench[1].summary([]) == {}
