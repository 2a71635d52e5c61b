"""What a refused capture advises, and that the advice works."""

import numpy as np
import pytest

import lathe as lt
from lathe.nn.utils import rnn

X = lt.tensor([[[0.5], [1.5], [2.5]], [[3.0], [4.0], [5.0]]])


@pytest.mark.parametrize("share", [lt.from_numpy, lt.as_tensor])
def test_an_array_that_the_code_makes_is_to_be_copied(share):
    with pytest.raises(lt.TraceError, match=r"next:     copy it: lathe\.tensor\(array\)"):
        lt.trace(lambda x: x + share(np.eye(3)))(lt.ones(3))
    traced = lt.trace(lambda x: x + lt.tensor(np.eye(3)))
    assert lt.equal(traced(lt.ones(3)), lt.ones(3) + lt.from_numpy(np.eye(3)))


def test_lengths_of_packed_sequences_are_to_be_a_list():
    def packed(x, lengths):
        p = rnn.pack_padded_sequence(x, lengths, batch_first=True)
        return rnn.pad_packed_sequence(p, batch_first=True)[0] * 2

    with pytest.raises(lt.TraceError, match=r"next:     pass lengths\.tolist\(\)"):
        lt.trace(packed)(X, lt.tensor([3, 1]))
    traced = lt.trace(packed)
    for lengths in ([3, 1], [3, 2], [3, 1]):
        assert lt.equal(traced(X, lt.tensor(lengths).tolist()), packed(X, lengths))


def test_a_scaler_with_a_hooked_optimizer_steps_outside():
    """A hook would run where no step is taken."""
    model, log = lt.nn.Linear(1, 1), []
    optimizer = lt.optim.SGD(model.parameters(), 0.1)
    optimizer.register_step_pre_hook(lambda *a: log.append(1))
    scaler = lt.amp.GradScaler("cpu")

    def step(x):
        optimizer.zero_grad()
        scaler.scale(model(x).sum()).backward()
        scaler.step(optimizer)

    with pytest.raises(lt.TraceError, match=r"scaler\.scale\(traced\(x\)\)\.backward\(\)"):
        lt.trace(step)(X)
    optimizer.zero_grad()
    before, traced = model.bias.detach().clone(), lt.trace(lambda x: model(x).sum())
    scaler.scale(traced(X)).backward()
    scaler.step(optimizer), scaler.update()
    assert lt.allclose(model.bias.detach(), before - 0.6) and log == [1]
