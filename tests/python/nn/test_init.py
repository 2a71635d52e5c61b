"""nn.init: what starting values are, where they are written, and what is refused."""

import math

import numpy as np
import pytest

import lathe as lt
from lathe.nn import init


def test_starting_values():
    x = lt.empty(200, 100)
    assert abs(init.normal_(x, 1, 2).mean().item() - 1) < 0.1
    assert init.uniform_(x, -1, 1).min().item() >= -1 and init.ones_(x).sum().item() == 20000
    bound = (6 / 300) ** 0.5
    assert 0.9 * bound < init.xavier_uniform_(x).max().item() <= bound
    assert abs(init.xavier_normal_(x).std().item() - (2 / 300) ** 0.5) < 0.002
    assert abs(init.kaiming_normal_(x, nonlinearity="relu").std().item() - 0.02**0.5) < 0.005
    assert init.kaiming_uniform_(x, mode="fan_out").max().item() <= (6 / 200) ** 0.5
    assert init.eye_(lt.empty(2, 3)).tolist() == [[1, 0, 0], [0, 1, 0]]
    p = lt.nn.Parameter(lt.ones(2))
    assert init.zeros_(p) is p and p.requires_grad and p.is_leaf


def test_gains_and_fans():
    assert init.calculate_gain("conv_transpose2d") == 1 and init.calculate_gain("selu") == 0.75
    assert init.calculate_gain("leaky_relu", 1) == 1
    assert init._calculate_fan_in_and_fan_out(lt.empty(5, 3, 2, 4)) == (24, 40)
    assert init._calculate_correct_fan(lt.empty(5, 3), "fan_out") == 5


def share(x):
    return (1 + math.erf(x / math.sqrt(2))) / 2


def test_truncated_normal():
    mean, std, a, b = 0.5, 2.0, -1.0, 3.0
    x = init.trunc_normal_(lt.empty(400, 500), mean, std, a, b)
    assert x.min().item() >= a and x.max().item() <= b
    low, high = share((a - mean) / std), share((b - mean) / std)
    for at in (-0.5, 0.0, 0.5, 1.5, 2.5):  # the distribution function, at points of it
        expected = (share((at - mean) / std) - low) / (high - low)
        assert abs((x < at).float().mean().item() - expected) < 0.006
    far = init.trunc_normal_(lt.empty(1000), mean=0.0, std=1.0, a=5.0, b=6.0)
    assert far.min().item() >= 5 and far.max().item() <= 6


@pytest.mark.parametrize("shape", [(5, 5), (3, 7), (7, 3), (4, 2, 3), (6, 2, 2)])
def test_orthogonal(shape):
    x = init.orthogonal_(lt.empty(shape, dtype=lt.float64), gain=2).flatten(1).numpy()
    gram = x @ x.T if x.shape[0] <= x.shape[1] else x.T @ x
    np.testing.assert_allclose(gram, 4 * np.eye(len(gram)), atol=1e-12)


def test_orthogonal_is_as_likely_to_turn_either_way():
    signs = [init.orthogonal_(lt.empty(1, 1)).item() for _ in range(200)]
    assert 60 < sum(s > 0 for s in signs) < 140
    assert init.orthogonal_(lt.empty(0, 3)).shape == (0, 3)


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("groups", [1, 2])
def test_dirac_hands_channels_on(axes, groups):
    x = lt.randn(2, 4, *[5] * axes)
    w = init.dirac_(lt.empty(4, 4 // groups, *[3] * axes), groups)
    convolve = getattr(lt.nn.functional, f"conv{axes}d")
    assert lt.equal(convolve(x, w, padding=1, groups=groups), x)
    assert w.sum().item() == 4


def test_dirac_of_more_channels_than_inputs():
    assert init.dirac_(lt.ones(3, 2, 3)).sum([1, 2]).tolist() == [1, 1, 0]
    assert init.dirac_(lt.ones(2, 3, 2))[1].tolist() == [[0, 0], [0, 1], [0, 0]]


def test_sparse():
    x = init.sparse_(lt.empty(10, 300), sparsity=0.25, std=2.0)
    zeros = lt.eq(x, 0)
    assert zeros.sum(0).tolist() == [3] * 300
    assert all(n > 30 for n in zeros.sum(1).tolist())  # 90 on average: no row is spared
    assert abs(x[x.ne(0)].std().item() - 2) < 0.15


RANDOM = [
    "uniform_", "normal_", "trunc_normal_", "xavier_uniform_", "xavier_normal_",
    "kaiming_uniform_", "kaiming_normal_", "orthogonal_", "sparse_",
]  # fmt: skip


@pytest.mark.parametrize("name", RANDOM)
def test_a_generator_decides(name):
    more = {"sparsity": 0.5} if name == "sparse_" else {}

    def draw(seed):
        generator = lt.Generator().manual_seed(seed)
        return getattr(init, name)(lt.empty(4, 3), generator=generator, **more)

    before = lt.get_rng_state()
    assert lt.equal(draw(1), draw(1)) and not lt.equal(draw(1), draw(2))
    assert lt.equal(lt.get_rng_state(), before)


def test_older_names():
    for name in (*RANDOM, "constant_", "eye_", "dirac_"):
        assert hasattr(init, name[:-1]) == (name != "trunc_normal_")
    x = lt.empty(2)
    with pytest.warns(FutureWarning, match="constant_"):
        assert init.constant(x, 3) is x
    assert x.tolist() == [3, 3]


@pytest.mark.parametrize(
    ("call", "kind", "op"),
    [
        (lambda: init.xavier_uniform_(lt.empty(3)), lt.ShapeError, "init"),
        (lambda: init.calculate_gain("x"), lt.ValueError, "calculate_gain"),
        (lambda: init.kaiming_normal_(lt.empty(3, 3), mode="x"), lt.ValueError, "kaiming"),
        (lambda: init.eye_(lt.empty(3)), lt.ShapeError, "eye_"),
        (lambda: init.dirac_(lt.empty(3, 3)), lt.ShapeError, "dirac_"),
        (lambda: init.dirac_(lt.empty(3, 3, 3), 2), lt.ValueError, "dirac_"),
        (lambda: init.orthogonal_(lt.empty(3)), lt.ShapeError, "orthogonal_"),
        (lambda: init.sparse_(lt.empty(3, 3, 3), 0.1), lt.ShapeError, "sparse_"),
        (lambda: init.trunc_normal_(lt.empty(3), a=1, b=0), lt.ValueError, "trunc_normal_"),
        (lambda: init.trunc_normal_(lt.empty(3), std=0), lt.ValueError, "trunc_normal_"),
        (lambda: init.normal_("x"), lt.TypeError, "normal_"),
    ],
)
def test_what_is_refused(call, kind, op):
    with pytest.raises(kind) as caught:
        call()
    assert caught.value.op == op and caught.value.expected and caught.value.next
