"""vmap and jvp of every definition, on its samples (transforms.py)."""

import pytest
import transforms
from samples import SAMPLES

import lathe as lt

ROWS = {row["name"]: row for row in lt._lathe._definitions()}
# composites of what reads data: the size of their results depends on it
READS = ("repeat_interleave.each", "repeat_interleave.places")
MAPPED = [s for s in SAMPLES if s.op not in READS]


@pytest.mark.parametrize("sample", MAPPED, ids=str)
def test_a_pair_is_each_alone(sample):
    assert transforms.vmapped(ROWS[sample.op], sample) in (True, None)


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_forward_is_the_transposed_reverse(sample):
    assert transforms.forward(ROWS[sample.op], sample) in (True, None)
