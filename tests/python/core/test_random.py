"""Samplers and generators: distributions by their moments, streams by their numbers."""

import copy
import math
import pickle

import pytest

import lathe as lt

N = 40_000
# In place: what fills it, mean, variance.
FILLS = {
    "uniform_": ((2, 4), 3, 1 / 3), "normal_": ((1, 2), 1, 4), "exponential_": ((2,), 0.5, 0.25),
    "log_normal_": ((0, 0.5), math.exp(1 / 8), math.exp(0.25) * (math.exp(0.25) - 1)),
    "geometric_": ((0.25,), 4, 12), "bernoulli_": ((0.3,), 0.3, 0.21),
    "random_": ((0, 10), 4.5, 8.25),
}  # fmt: skip


def near(x, mean, variance):
    x = x.double()
    assert abs(x.mean().item() - mean) < 5 * math.sqrt(variance / N)
    assert abs(x.var().item() - variance) < 0.1 * variance


@pytest.mark.parametrize("name", FILLS)
def test_fills(name):
    arguments, mean, variance = FILLS[name]
    for dtype in (lt.float32, lt.float64):
        x = lt.empty(N, dtype=dtype)
        assert getattr(x, name)(*arguments) is x
        near(x, mean, variance)
    assert getattr(lt.empty(3, dtype=lt.float16), name)(*arguments).dtype is lt.float16
    assert getattr(lt.empty(0), name)(*arguments).numel() == 0


def test_other_fills():
    x = lt.empty(N).cauchy_(1, 2)
    near((lt.atan((x - 1) / 2) / math.pi + 0.5), 0.5, 1 / 12)
    near(lt.empty(N).bernoulli_(lt.full((N,), 0.25)), 0.25, 0.1875)
    assert set(lt.empty(100, dtype=lt.int64).random_(3).tolist()) == {0, 1, 2}
    assert lt.empty(1000, dtype=lt.uint8).random_().max().item() > 200
    assert lt.empty(1000, dtype=lt.int64).random_().max().item() > 1 << 60
    assert lt.empty(1000, dtype=lt.bool).bernoulli_().float().mean().item() > 0.4
    for dtype in (lt.float16, lt.bfloat16, lt.float32, lt.float64, lt.int8, lt.int32):
        drawn = lt.empty(100, dtype=dtype).random_()
        assert drawn.min().item() >= 0 and (drawn == drawn.long().to(dtype)).all()
    for dtype, most in ((lt.float16, 2048), (lt.bfloat16, 256)):
        assert most / 2 < lt.empty(1000, dtype=dtype).random_().max().item() <= most


DRAWN = {
    "poisson 4": (lambda: lt.poisson(lt.full((N,), 4.0)), 4, 4),
    "poisson 300": (lambda: lt.poisson(lt.full((N,), 300.0)), 300, 300),
    "binomial 5": (lambda: lt.binomial(lt.full((N,), 5.0), lt.full((N,), 0.8)), 4, 0.8),
    "binomial 200": (lambda: lt.binomial(lt.full((N,), 200.0), lt.full((N,), 0.7)), 140, 42),
    "gamma 0.3": (lambda: lt.ops.standard_gamma(lt.full((N,), 0.3)), 0.3, 0.3),
    "gamma 7": (lambda: lt.ops.standard_gamma(lt.full((N,), 7.0)), 7, 7),
    "normal": (lambda: lt.normal(1.0, 2.0, (N,)), 1, 4),
    "normal of tensors": (lambda: lt.normal(lt.ones(N), lt.full((N,), 2.0)), 1, 4),
    "normal of a mean": (lambda: lt.normal(lt.ones(N), 2.0), 1, 4),
    "normal of a spread": (lambda: lt.normal(1.0, lt.full((N,), 2.0)), 1, 4),
    "randperm": (lambda: lt.randperm(N), (N - 1) / 2, (N * N - 1) / 12),
}


@pytest.mark.parametrize("name", DRAWN)
def test_draws(name):
    draw, mean, variance = DRAWN[name]
    near(draw(), mean, variance)
    lt.manual_seed(3)
    first = draw()
    lt.manual_seed(3)
    assert lt.equal(lt.trace(draw)(), first)


def test_edges_of_counts():
    assert lt.poisson(lt.zeros(3)).tolist() == [0, 0, 0]
    assert lt.binomial(lt.tensor([0.0, 4.0, 4.0]), lt.tensor([0.5, 0.0, 1.0])).tolist() == [0, 0, 4]
    k = lt.binomial(lt.full((1000,), 30.0), lt.full((1000,), 0.5))
    assert k.min().item() >= 0 and k.max().item() <= 30


def test_permutations_and_choices():
    assert sorted(lt.randperm(100).tolist()) == list(range(100)) and lt.randperm(0).numel() == 0
    assert lt.randperm(3, dtype=lt.int32).dtype is lt.int32
    weights = lt.tensor([1.0, 0.0, 3.0])
    drawn = lt.multinomial(weights, N, replacement=True)
    counts = [(drawn == k).sum().item() / N for k in range(3)]
    assert abs(counts[0] - 0.25) < 0.02 and counts[1] == 0
    rows = lt.multinomial(weights.expand(N, 3), 2)
    assert rows.shape == (N, 2) and not (rows == 1).any() and (rows.sum(1) == 2).all()
    assert abs((rows[:, 0] == 2).float().mean().item() - 0.75) < 0.02
    pairs = lt.multinomial(weights.expand(4, 3), 5, True)
    assert pairs.shape == (4, 5)


WRONG = {
    "few categories": lambda: lt.multinomial(lt.tensor([0.0, 1.0]), 2),
    "more than there are": lambda: lt.multinomial(lt.tensor([0.5, 1.0]), 3),
    "a weight below 0": lambda: lt.multinomial(lt.tensor([0.5, -1.0]), 1),
    "no sample": lambda: lt.multinomial(lt.tensor([0.5, 1.0]), 0),
    "a rate below 0": lambda: lt.poisson(lt.tensor([-1.0])),
    "a spread below 0": lambda: lt.normal(lt.zeros(2), lt.tensor([1.0, -1.0])),
    "a number below 0": lambda: lt.normal(0.0, -1.0, (2,)),
    "turned bounds": lambda: lt.zeros(2).uniform_(3, 1),
    "no probability": lambda: lt.zeros(2).geometric_(1.5),
    "no elements": lambda: lt.randperm(-1),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name):
    with pytest.raises(lt.ValueError) as caught:
        WRONG[name]()
    assert caught.value.next and caught.value.expected


def test_a_generator_is_a_stream_of_its_own():
    g = lt.Generator().manual_seed(5)
    lt.manual_seed(1)
    before = lt.get_rng_state()
    draws = [
        lambda g: lt.rand(3, generator=g), lambda g: lt.randn(2, 2, generator=g),
        lambda g: lt.empty(4).normal_(generator=g), lambda g: lt.randint(9, (5,), generator=g),
        lambda g: lt.bernoulli(lt.full((9,), 0.5), generator=g), lambda g: lt.randperm(6,
        generator=g),
        lambda g: lt.multinomial(lt.ones(4), 2, generator=g),
        lambda g: lt.normal(lt.zeros(3), 1.0, generator=g), lambda g: lt.poisson(lt.ones(3),
        generator=g),
    ]  # fmt: skip
    first = [draw(g).tolist() for draw in draws]
    assert lt.equal(lt.get_rng_state(), before)
    g.manual_seed(5)
    state = g.get_state()
    assert [draw(g).tolist() for draw in draws] == first and g.initial_seed() == 5
    for other in (g.set_state(state).clone_state(), pickle.loads(pickle.dumps(g)), copy.copy(g)):
        assert draws[0](other).tolist() == first[0]
    lt.manual_seed(5)
    assert draws[0](None).tolist() == first[0]
    with pytest.raises(lt.TypeError, match="generator"):
        lt.rand(3, generator=7)
    with pytest.raises(lt.TraceError, match="generator"):
        lt.trace(lambda: lt.rand(3, generator=g))()


def test_the_state_of_the_process():
    lt.manual_seed(7)
    assert lt.initial_seed() == 7
    state = lt.get_rng_state()
    first = lt.rand(3)
    lt.set_rng_state(state)
    assert lt.equal(lt.rand(3), first)
    lt.default_generator.set_state(state)
    with lt.random.fork_rng():
        assert lt.equal(lt.rand(3), first)
    assert lt.equal(lt.rand(3), first)
    assert lt.seed() == lt.initial_seed() != 7
    with pytest.raises(lt.TypeError, match="no state"):
        lt.set_rng_state(lt.zeros(3))
    lt.manual_seed(-1)


@pytest.mark.parametrize("dtype", [lt.float16, lt.bfloat16])
def test_halves_are_drawn_below_one(dtype):
    """None of the uniform numbers is rounded up to 1, and what is made of them is finite."""
    lt.manual_seed(1)
    u = lt.rand(200_000, dtype=dtype)
    assert u.max() < 1 and u.max() > 0.99 and abs(u.double().mean() - 0.5) < 0.003
    assert lt.rand_like(u).max() < 1
    assert lt.bernoulli(lt.ones(200_000, dtype=dtype)).all()
    assert lt.zeros(200_000, dtype=dtype).bernoulli_(lt.ones((), dtype=dtype)).all()
    e = lt.empty(200_000, dtype=dtype).exponential_()
    assert e.min() > 0 and e.isfinite().all() and abs(e.double().mean() - 1) < 0.02
    one = lt.ones((), dtype=dtype)
    assert lt.distributions.Exponential(one).sample((200_000,)).isfinite().all()
    assert lt.distributions.Gumbel(one, one).sample((200_000,)).isfinite().all()


def test_halves_are_drawn_alike_in_a_trace():
    def draw():
        return lt.rand(1000, dtype=lt.float16) * 2, lt.rand(1000, dtype=lt.bfloat16)

    lt.manual_seed(5)
    eager = draw()
    lt.manual_seed(5)
    for a, b in zip(eager, lt.trace(draw)()):
        assert lt.equal(a, b)


def test_no_exponential_number_is_zero():
    """Where the uniform number is 0, which one in 2^24 is."""
    lt.manual_seed(1)
    smallest = min(lt.empty(1 << 23).exponential_().min().item() for _ in range(6))
    assert 0 < smallest < 1e-6


def test_both_parts_of_complex_numbers_are_uniform():
    lt.manual_seed(1)
    z = lt.zeros(N, dtype=lt.complex64).uniform_(2, 4)
    for part in (z.real, z.imag):
        assert part.min() >= 2 and part.max() < 4
        near(part, 3, 1 / 3)
    assert not lt.equal(z.real, z.imag)


WIDE = [3 * 2**33, 2**33 - 1, 2**32 + 5, 5**26, 2**61 + 1]


@pytest.mark.parametrize("span", WIDE)
def test_whole_numbers_of_more_than_32_bits(span):
    """As evenly as 200,000 of them can tell: as a whole, by remainders, and in their low bits."""
    lt.manual_seed(5)
    x = lt.randint(-7, span - 7, (200_000,)) + 7
    assert (x >= 0).all() and (x < span).all() and x.unique().numel() > 199_900
    shares = [(x < span // 3)] + [x % n == k for n in (2, 3, 7) for k in range(n)]
    shares.append((x // 2) % 2 == 0)
    for share, chance in zip(
        shares, [1 / 3] + [1 / n for n in (2, 3, 7) for _ in range(n)] + [0.5]
    ):
        spread = (chance * (1 - chance) / 200_000) ** 0.5
        assert abs(share.double().mean().item() - chance) < 5 * spread


def test_wide_numbers_begin_as_narrow_ones():
    """The first 32 bits are those of a range of 2^32, which stands for itself; traced alike."""

    def drawn(high):
        lt.manual_seed(3)
        return lt.randint(0, high, (500,))

    narrow = drawn(2**32)
    assert lt.equal(drawn(2**40) // 2**8, narrow) and lt.equal(drawn(2**61) // 2**29, narrow)
    traced = lt.trace(lambda high: lt.randint(0, high, (500,)))
    for high in (9, 2**32, 2**40 + 1, 2**61):
        lt.manual_seed(3)
        assert lt.equal(traced(high), drawn(high))
    assert lt.randint(2**40, 2**41, (3,), dtype=lt.float64).min() >= 2**40
    with pytest.raises(lt.ValueError, match="low must be below high"):
        lt.randint(2**40, 2**40, (3,))
