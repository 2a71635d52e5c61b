"""Tests that promise equal bits compare bits: no tolerance under tests/bits."""

import re

from tree import Result, line_of

NAME = "tolerances"

LOOSE = re.compile(
    r"\b(rtol|atol|allclose|isclose|assert_allclose|approx|EXPECT_NEAR|ASSERT_NEAR|DoubleNear|FloatNear"
    r"|(EXPECT|ASSERT)_(FLOAT|DOUBLE)_EQ|assert_almost_equal|assertAlmostEqual)\b"
)


def check(tree):
    result = Result()
    paths = tree.sources("tests/bits", "tests/python/bits", suffixes=(".cpp", ".h", ".py"))
    for path in paths:
        text = tree.text(path)
        for match in LOOSE.finditer(text):
            line = line_of(text, match.start())
            result.problems.append(f"{path}:{line}: compares with a tolerance ({match.group(0)})")
    result.figure = f"{len(paths)} files"
    return result
