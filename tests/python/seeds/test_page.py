"""docs/seeds.md says what the tests show, and nothing else."""

import pytest
import rows


def test_the_page_is_up_to_date():
    said = rows.page()
    assert rows.PAGE.read_text() == said, "./dev python tests/python/seeds/rows.py writes it"


PAGE = """| row | what works | shown by |
|---|---|---|
| EA-01 | one | `seeds/test_a.py::test_one`, `test_two` |
| EA-02 | two | `Suite.Case`, `tests/prove/it.py` |
"""
PASSED = {
    "tests/python/seeds/test_a.py::test_one[x]": "passed",
    "tests/python/seeds/test_a.py::test_one[y]": "passed",
    "tests/python/jit/test_b.py::test_two": "passed",
    "Rows/Suite.Case/relu": "passed",
}


def not_shown(changed, full=False):
    return rows.not_shown(PAGE, {"full": full, "tests": {**PASSED, **changed}})


def test_a_row_is_shown_by_tests_that_ran_and_passed():
    assert not_shown({}) == {}
    assert not_shown({"tests/prove/it.py": "passed"}, full=True) == {}


@pytest.mark.parametrize("status", ["failed", "skipped"])
@pytest.mark.parametrize("test", PASSED)
def test_a_row_whose_test_did_not_pass_is_not_shown(test, status):
    (why,) = not_shown({test: status}).values()
    assert why.endswith(f": {status}")


def test_a_row_whose_test_did_not_run_is_not_shown():
    run = {"full": False, "tests": {}}
    assert sorted(rows.not_shown(PAGE, run)) == ["EA-01", "EA-02"]
    assert not_shown({}, full=True) == {"EA-02": "tests/prove/it.py did not run"}
    others = {"tests/python/test_c.py::test_one": "passed", "Suite.CaseOf": "passed"}
    assert len(rows.not_shown(PAGE, {"full": False, "tests": others})) == 2


def test_every_test_that_it_names_is_there():
    rows.page()
    assert rows.missing_tests() == []
