"""Checkpoints of what begins to run as programs in the meantime: a composite's program saves other
tensors than its expansion, and the second run of a part has to save what the first did."""

import pytest

import lathe as lt
from lathe.utils.checkpoint import CheckpointError, checkpoint

nn = lt.nn


def gradients(layers, x, through):
    layers.zero_grad()
    x.grad = None
    lt.manual_seed(3)
    h = x
    for layer in layers:
        h = through(layer, h).tanh()
    h.sum().backward()
    return [p.grad.numpy().tobytes() for p in layers.parameters()] + [x.grad.numpy().tobytes()]


# Each eps is a kind of call that no other test has made: it is counted from 0.
BLOCKS = {
    "layer norm": lambda n: [nn.LayerNorm(6, eps=0.0101 + n), nn.Linear(6, 6)],
    "rms norm": lambda n: [nn.Linear(6, 6), nn.RMSNorm(6, eps=0.0202 + n), nn.Dropout(0.3)],
    "two": lambda n: [nn.LayerNorm(6, eps=0.0303 + n), nn.Softmax(-1), nn.RMSNorm(6, eps=0.03)],
}


@pytest.mark.parametrize("name", BLOCKS)
@pytest.mark.parametrize("layers", [1, 3, 6, 12])
def test_gradients_are_those_without(name, layers):
    blocks = nn.ModuleList([nn.Sequential(*BLOCKS[name](layers)) for _ in range(layers)])
    x = lt.randn(4, 6, requires_grad=True)
    kept = [gradients(blocks, x, checkpoint) for _ in range(20)]
    plain = gradients(blocks, x, lambda layer, h: layer(h))
    assert all(one == plain for one in kept)


def test_one_inside_of_another():
    norms = nn.ModuleList([nn.LayerNorm(6, eps=0.0404) for _ in range(4)])
    x = lt.randn(4, 6, requires_grad=True)

    def outer(layer, h):
        return checkpoint(lambda u: checkpoint(layer, u * 2) + layer(u), h)

    kept = [gradients(norms, x, outer) for _ in range(12)]
    plain = gradients(norms, x, lambda layer, h: layer(h * 2) + layer(h))
    assert all(one == plain for one in kept)


def test_other_sizes_are_noticed():
    x = lt.randn(4, requires_grad=True)

    def program(determinism_check):
        sizes = iter([4, 2])

        def part(u):
            return (u[: next(sizes)] * 2).exp().sum()

        return checkpoint(part, x, determinism_check=determinism_check)

    with pytest.raises(CheckpointError, match=r"computes something else.*\n.*\(2,\) of"):
        program("default").backward()
    assert program("none") is not None
    with pytest.raises(lt.Error, match="no such check"):
        program("strict")
