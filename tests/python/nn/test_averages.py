"""Averages of models, what batch norms measure for them, and the norm of gradients."""

import pytest

import lathe as lt
from lathe import nn
from lathe.optim import swa_utils


class Mixed(nn.Module):
    """Tensors of several dtypes: the k-th time k times as large."""

    def __init__(self, k):
        super().__init__()
        self.real = nn.Parameter(lt.tensor([1.0, 2.0]) * k)
        self.pair = nn.Parameter(lt.tensor([1.0 + 2.0j]) * k)
        self.register_buffer("count", lt.tensor([5, -7]) * k * k)
        self.register_buffer("share", lt.tensor([0.5]) * k)
        self.register_buffer("mask", lt.tensor([k != 2]))


def averaged(use_buffers, **settings):
    model = swa_utils.AveragedModel(Mixed(0), use_buffers=use_buffers, **settings)
    for k in (1, 2, 3):
        model.update_parameters(Mixed(k))
    module = model.module
    assert module.real.tolist() == pytest.approx([2.0, 4.0])  # f32
    assert lt.view_as_real(module.pair.detach()).tolist() == [pytest.approx([2.0, 4.0])]  # f32
    return module


def test_complex_parameters():
    module = averaged(False)
    assert module.count.tolist() == [45, -63] and module.share.tolist() == [1.5]


@pytest.mark.parametrize(
    "settings",
    [{}, {"avg_fn": swa_utils.get_swa_avg_fn()},
     {"multi_avg_fn": swa_utils.get_swa_multi_avg_fn()}],
    ids=["default", "one", "several"],
)  # fmt: skip
def test_buffers_of_integers(settings):
    module = averaged(True, **settings)
    # Each mean is cut to an integer: 5, 5 + 15 / 2 = 12, 12 + 33 / 3 = 23.
    assert module.count.tolist() == [23, -32]
    assert module.share.tolist() == [1.0] and module.mask.tolist() == [True]


def test_lists_of_one_dtype():
    seen = []

    def latest(means, values, count):
        seen.append({m.dtype for m in means})
        for mean, value in zip(means, values):
            mean.copy_(value)

    model = swa_utils.AveragedModel(Mixed(1), multi_avg_fn=latest, use_buffers=True)
    model.update_parameters(Mixed(2))
    assert not seen  # the first is copied
    model.update_parameters(Mixed(3))
    assert all(len(dtypes) == 1 for dtypes in seen) and len(seen) == 4
    assert model.module.mask.tolist() == [True] and model.module.count.tolist() == [45, -63]


def test_only_batch_norms_are_measured_anew():
    batch, other = nn.BatchNorm1d(2), nn.InstanceNorm1d(2, track_running_stats=True)
    untracked = nn.BatchNorm1d(2, track_running_stats=False)
    with lt.no_grad():
        batch.running_mean.fill_(5.0)
        other.running_mean.fill_(5.0)
    swa_utils.update_bn([lt.zeros(4, 2, 3)] * 2, nn.Sequential(batch, untracked, other))
    assert batch.running_mean.tolist() == [0.0, 0.0] and int(batch.num_batches_tracked) == 2
    assert other.running_mean.tolist() == pytest.approx([5.0 * 0.81] * 2)  # f32, twice 0.9
    assert batch.momentum == untracked.momentum == 0.1


def test_a_norm_that_is_not_finite():
    grads = [lt.tensor([1.0, float("inf")])]
    assert nn.utils.get_total_norm(grads).item() == float("inf")
    with pytest.raises(lt.ValueError, match="^get_total_norm: the norm of the gradients is not"):
        nn.utils.get_total_norm(grads, error_if_nonfinite=True)
    total = nn.utils.get_total_norm([lt.tensor([3.0, 4.0])], error_if_nonfinite=True)
    assert total.item() == 5.0


@pytest.mark.parametrize("capture", [lt.trace, lt.script])
@pytest.mark.parametrize(
    "settings",
    [{}, {"multi_avg_fn": swa_utils.get_ema_multi_avg_fn(0.9)}, {"use_buffers": True}],
    ids=["mean", "in place", "buffers"],
)
def test_an_average_is_kept_inside_of_a_captured_step(capture, settings):
    def run(captures):
        model = Mixed(2)
        average = swa_utils.AveragedModel(model, **settings)
        step = captures(lambda: average.update_parameters(model))
        for k in range(4):
            with lt.no_grad():
                for t in model.parameters():
                    t.add_(k * 0.3)
            step()
        return step, [t.tolist() for t in average.state_dict().values()]

    step, got = run(capture)
    assert got == run(lambda f: f)[1]
    assert step.counts["traces"] == 1
