"""Where programs place their intermediates: never over one another while both live, and hardly any
gaps between them."""

import random
import re

import pytest

import lathe as lt
from lathe import nn


class Scans(nn.Module):
    """Running sums of random lengths that live for random spans."""

    def __init__(self, seed):
        super().__init__()
        chance, self.plan = random.Random(seed), []
        for live in range(1, 15):
            ends = chance.randrange(live) if live > 2 and chance.random() < 0.6 else None
            self.plan.append((chance.choice([3, 5, 7, 11, 16, 25]) * 64, ends))

    def forward(self, x):
        live = []
        for n, ends in self.plan:
            live.append(lt.cumsum(lt.cumsum(x[:n], 0) * 0.01, 0))
            if ends is not None:
                live.append(lt.cumsum(live.pop(ends)[: 3 * 64], 0))
        return lt.cat(live)


@pytest.mark.parametrize("seed", range(40))
def test_what_lives_at_once_is_apart(seed):
    model, x = Scans(seed), lt.randn(2000)
    program = lt.freeze(model, x)
    assert program.counts["peak_bytes"] == program.counts["least_bytes"] == 0  # it has not run
    assert lt.equal(program(x), model(x))
    placed, least = program.counts["peak_bytes"], program.counts["least_bytes"]
    assert 0 < least <= placed <= 1.12 * least
    said = re.search(
        r"intermediates: (\d+) bytes .* (\d+) live at one step", program.explain(verbose=True)
    )
    assert [int(n) for n in said.groups()] == [placed, least]


def test_gaps_are_rare():
    ratios = []
    for seed in range(40):
        program = lt.freeze(Scans(seed), lt.ones(2000))
        program(lt.ones(2000))
        ratios.append(program.counts["peak_bytes"] / program.counts["least_bytes"])
    assert sum(ratios) / len(ratios) < 1.01
