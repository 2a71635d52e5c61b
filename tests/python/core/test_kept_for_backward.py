"""What a derivative does not read is not kept: a write to it is no error (PyTorch allows these)."""

import numpy as np
import pytest

import lathe as lt

CASES = {
    "the result of abs": lambda x: x / x.abs().add_(1),
    "the result of abs, cut": lambda x: x.abs().clamp_(min=0.5),
    "the modulus of a complex number": lambda x: lt.fft.rfft(x).abs().clamp_(min=0.1),
}
READS = {
    "lerp by a number": lambda h: lt.lerp(h, h * 2, 0.1),
    "a remainder": lambda h: h % 1.0,
    "lerp by a tensor without a gradient": lambda h: lt.lerp(h, h * 3, lt.full((4,), 0.25)),
}


def gradient_without_writes(f, x, eps=1e-6):
    x = x.double()
    g = np.zeros(x.shape)
    for i in range(x.numel()):
        step = lt.zeros(x.shape, dtype=lt.float64)
        step[i] = eps
        g[i] = ((f(x + step).sum() - f(x - step).sum()) / (2 * eps)).item()
    return g


@pytest.mark.parametrize("name", CASES)
def test_results_that_are_written_to(name):
    values = lt.tensor([-1.5, 0.25, 2.0, -0.75])
    x = values.clone().requires_grad_()
    CASES[name](x).sum().backward()
    np.testing.assert_allclose(
        x.grad.numpy(), gradient_without_writes(CASES[name], values), rtol=1e-4
    )


@pytest.mark.parametrize("name", READS)
def test_operands_that_are_written_to(name):
    values = lt.tensor([-1.5, 0.25, 2.0, -0.75])
    x = values.clone().requires_grad_()
    h = x * 1.25
    y = READS[name](h)
    h.mul_(0.5)
    (y + h).sum().backward()
    want = gradient_without_writes(lambda v: READS[name](v * 1.25) + v * 0.625, values)
    np.testing.assert_allclose(x.grad.numpy(), want, rtol=1e-4)


def test_where_the_weight_is_trained_both_ends_are_kept():
    a, b = lt.ones(2).requires_grad_() * 1, lt.zeros(2)
    w = lt.tensor(0.5, requires_grad=True)
    y = lt.lerp(a, b, w)
    b.add_(1)
    with pytest.raises(lt.AutogradError, match="written to since"):
        y.sum().backward()


def test_a_pass_of_a_loader_has_a_length():
    data = lt.utils.data.TensorDataset(lt.arange(10))
    for workers in (0, 1):
        batches = iter(lt.utils.data.DataLoader(data, batch_size=4, num_workers=workers))
        assert len(batches) == 3 and [len(x) for (x,) in batches] == [4, 4, 2]


def test_hooks_of_several_gradients_count_each_backward_anew():
    from lathe.autograd import graph

    a, b = (lt.ones(2).requires_grad_() for _ in range(2))
    every, first = [], []
    hooks = [
        graph.register_multi_grad_hook((a, b), every.append),
        graph.register_multi_grad_hook((a, b), first.append, mode="any"),
    ]
    (a * 2).sum().backward()  # reaches one of them
    (a * b).sum().backward()
    (b * 3).sum().backward()
    got = [[None if g is None else g.tolist() for g in gs] for gs in every]
    assert got == [[[2, 2], None], [[1, 1], [1, 1]], [None, [3, 3]]]
    assert [g.tolist() for g in first] == [[2, 2], [1, 1], [3, 3]]
    for hook in hooks:
        hook.remove()
    (a * b).sum().backward()
    assert len(every) == len(first) == 3
