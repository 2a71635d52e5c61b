"""docs/seeds.md says what the tests show, and nothing else."""

import rows


def test_the_page_is_up_to_date():
    said = rows.page()
    assert rows.PAGE.read_text() == said, "./dev python tests/python/seeds/rows.py writes it"


def test_every_test_that_it_names_is_there():
    rows.page()
    assert rows.missing_tests() == []
