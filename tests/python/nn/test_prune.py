"""nn.utils.prune, by what PyTorch documents; its own results stand in tests/against_pytorch."""

import copy
import math

import pytest

import lathe as lt
from lathe import nn
from lathe.nn.utils import prune


def layer(rows=2, columns=3):
    made = nn.Linear(columns, rows)
    with lt.no_grad():
        made.weight.copy_(lt.tensor([[1.0, -5.0, 2.0], [-0.5, 4.0, 3.0]]))
    return made


def mask_of(module):
    return module.weight_mask.tolist()


def test_the_smallest_are_pruned_and_names_are_pytorchs():
    m = layer()
    was = m.weight
    assert prune.l1_unstructured(m, "weight", amount=2) is m and m.weight_orig is was
    assert mask_of(m) == [[0, 1, 1], [0, 1, 1]]
    assert m.weight.tolist() == [[0, -5, 2], [0, 4, 3]] and not isinstance(m.weight, nn.Parameter)
    assert list(m.state_dict()) == ["bias", "weight_orig", "weight_mask"]
    assert [n for n, _ in m.named_parameters()] == ["bias", "weight_orig"]
    assert [n for n, _ in m.named_buffers()] == ["weight_mask"]
    assert prune.is_pruned(m) and prune.is_pruned(nn.Sequential(m))
    assert not prune.is_pruned(nn.Linear(2, 2))
    m(lt.ones(1, 3)).sum().backward()
    assert was.grad.tolist() == [[0, 1, 1], [0, 1, 1]]
    prune.remove(m, "weight")
    assert m.weight is was and m.weight.tolist() == [[0, -5, 2], [0, 4, 3]]
    assert set(m.state_dict()) == {"weight", "bias"}
    assert not prune.is_pruned(m) and m(lt.ones(1, 3)).shape == (1, 2)
    with pytest.raises(lt.ValueError, match="is not pruned"):
        prune.remove(m, "weight")


def test_amounts():
    for amount, zeros in ((0, 0), (0.0, 0), (0.5, 3), (0.42, 3), (6, 6), (1.0, 6)):
        for kind in (prune.l1_unstructured, prune.random_unstructured):
            assert (kind(layer(), "weight", amount).weight == 0).sum() == zeros
    for amount, error in ((-1, lt.ValueError), (1.5, lt.ValueError), (math.nan, lt.ValueError),
                          (7, lt.ValueError), ("2", lt.TypeError)):  # fmt: skip
        m = layer()
        with pytest.raises(error) as caught:
            prune.l1_unstructured(m, "weight", amount)
        assert caught.value.next and isinstance(m.weight, nn.Parameter)  # all is as it was
        assert not prune.is_pruned(m) and set(m.state_dict()) == {"weight", "bias"}


def test_slices():
    assert mask_of(prune.ln_structured(layer(), "weight", 1, 2, 0)) == [[1] * 3, [0] * 3]
    assert mask_of(prune.ln_structured(layer(), "weight", 1, 1, 1)) == [[0, 1, 1]] * 2
    assert mask_of(prune.ln_structured(layer(), "weight", 0.34, math.inf, -1)) == [[0, 1, 1]] * 2
    assert mask_of(prune.ln_structured(layer(), "weight", 0, 1, 1)) == [[1] * 3] * 2
    assert mask_of(prune.ln_structured(layer(), "weight", 3, 1, 1)) == [[0] * 3] * 2
    scores = lt.tensor([[1.0, 1, 0], [1, 1, 0]])
    assert mask_of(prune.ln_structured(layer(), "weight", 1, 2, 1, scores)) == [[1, 1, 0]] * 2
    m = prune.random_structured(layer(), "weight", 2, 1)
    assert sorted(m.weight_mask[0].tolist()) == [0, 0, 1] and mask_of(m)[0] == mask_of(m)[1]
    conv = nn.Conv2d(2, 4, 3)
    for n in ("fro", 2):
        m = prune.ln_structured(copy.deepcopy(conv), "weight", 3, n, 0)
        best = conv.weight.detach().square().sum((1, 2, 3)).argmax().item()
        assert m.weight_mask.sum((1, 2, 3)).tolist() == [18.0 * (i == best) for i in range(4)]
    with pytest.raises(lt.ValueError, match="no slices"):
        prune.random_structured(layer(), "bias", 1, 0)
    with pytest.raises(lt.IndexError, match="no such axis"):
        prune.random_structured(layer(), "weight", 1, 2)


def test_what_is_pruned_again_keeps_its_zeros():
    m = layer()
    prune.l1_unstructured(m, "weight", 1)
    prune.l1_unstructured(m, "weight", 2)  # of the five that are left
    assert mask_of(m) == [[0, 1, 0], [0, 1, 1]]
    prune.ln_structured(m, "weight", 1, 1, 1)  # of the two columns that are left: 9 and 3
    assert mask_of(m) == [[0, 1, 0], [0, 1, 0]]
    prune.custom_from_mask(m, "weight", lt.tensor([[1, 1, 1], [1, 0, 1]]))
    assert mask_of(m) == [[0, 1, 0], [0, 0, 0]] and m.weight.tolist() == [[0, -5, 0], [0] * 3]
    prune.identity(m, "weight")
    ((_, method),) = prune._hooks(m)
    assert isinstance(method, prune.PruningContainer) and len(method) == 5
    kinds = [prune.L1Unstructured] * 2 + [prune.LnStructured, prune.CustomFromMask, prune.Identity]
    assert [type(one) for one in method] == kinds and method[4]._tensor_name == "weight"
    with pytest.raises(lt.ValueError, match="less left"):
        prune.l1_unstructured(m, "weight", 2)
    assert mask_of(m) == [[0, 1, 0], [0, 0, 0]] and len(next(prune._hooks(m))[1]) == 5
    with pytest.raises(lt.ShapeError, match="another shape"):
        prune.custom_from_mask(m, "weight", lt.ones(2))
    with pytest.raises(lt.ShapeError, match="importance"):
        prune.l1_unstructured(m, "weight", 1, lt.ones(2))


def test_all_parameters_together():
    a, b = layer(), layer()
    with lt.no_grad():
        b.weight.mul_(3)
    pairs = [(a, "weight"), (b, "weight")]
    prune.global_unstructured(iter(pairs), pruning_method=prune.L1Unstructured, amount=0.5)
    assert mask_of(a) == [[0, 1, 0], [0, 1, 0]] and mask_of(b) == [[0, 1, 1], [0, 1, 1]]
    prune.global_unstructured(pairs, prune.L1Unstructured, {(a, "weight"): lt.full((2, 3), 99.0)},
                              amount=1)  # fmt: skip
    assert mask_of(a) == [[0, 1, 0], [0, 1, 0]] and mask_of(b) == [[0, 1, 0], [0, 1, 1]]
    with pytest.raises(lt.TypeError, match="only elements"):
        prune.global_unstructured(pairs, prune.LnStructured, amount=1, n=1)


class Third(prune.BasePruningMethod):
    """Of a user: every third element."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        mask = default_mask.clone()
        mask.view(-1)[::3] = 0
        return mask


def test_a_method_of_the_user():
    m = layer()
    assert isinstance(Third.apply(m, "weight"), Third) and mask_of(m) == [[0, 1, 1]] * 2
    Third.apply(m, "weight")
    assert mask_of(m) == [[0, 0, 1], [0, 1, 0]]
    assert Third().prune(lt.ones(4)).tolist() == [0, 1, 1, 0]
    assert prune.L1Unstructured(1).prune(
        lt.tensor([3.0, 1.0]), importance_scores=lt.tensor([0.0, 1.0])
    ).tolist() == [0, 1]  # fmt: skip
    with pytest.raises(lt.ValueError, match="one parameter"):
        prune.PruningContainer(next(prune._hooks(m))[1], Third())
    with pytest.raises(lt.TypeError, match="how to prune"):
        prune.PruningContainer().add_pruning_method(3)
    Third.PRUNING_TYPE = "none"
    try:
        with pytest.raises(lt.ValueError, match="no such way"):
            Third.apply(m, "weight")
    finally:
        Third.PRUNING_TYPE = "unstructured"


def trained(run, model):
    """Losses of some steps, as bytes, pruned once more half way."""
    optimizer = lt.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    x, losses = lt.linspace(-1, 1, 12).view(4, 3), []
    for step in range(6):
        if step == 3:
            prune.ln_structured(model[0], "weight", 1, 2, 0)
        optimizer.zero_grad()
        loss = (run(x) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach().numpy().tobytes())
    return losses, [p.detach().numpy().tobytes() for p in model.state_dict().values()]


def test_traced_is_eager():
    def model():
        lt.manual_seed(3)
        made = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2))
        prune.l1_unstructured(made[0], "weight", 0.4)
        prune.random_unstructured(made[2], "bias", 1)
        return made

    eager, traced = model(), model()
    run = lt.trace(traced)
    assert trained(eager, eager) == trained(run, traced)
    assert run.counts["traces"] <= 2 and (traced[0].weight == 0).sum() >= 6
    assert lt.equal(traced[0].weight, eager[0].weight)  # of the last call, as in PyTorch
    other = model()
    other.load_state_dict(traced.state_dict())
    x = lt.ones(2, 3)
    assert lt.equal(other(x), run(x))
    prune.remove(traced[0], "weight")
    assert lt.equal(other(x), run(x)) and "0.weight" in traced.state_dict()


def test_a_pruned_module_is_copied_without_its_history():
    """As in PyTorch: the product that the last call left is no leaf."""
    m = prune.l1_unstructured(layer(), "weight", 2)
    with pytest.raises(lt.AutogradError, match="only leaves can be copied"):
        copy.deepcopy(m)
    with lt.no_grad():
        m(lt.ones(1, 3))
    other = copy.deepcopy(m)
    with lt.no_grad():
        m.weight_orig.zero_()
    other(lt.ones(1, 3))
    assert other.weight.tolist() == [[0, -5, 2], [0, 4, 3]]
