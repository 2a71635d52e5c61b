"""The models of examples/models, at their small sizes: traced, frozen and trained they give eager's
bytes."""

import sys

import numpy as np
import pytest
from built import ROOT

import lathe as lt

sys.path.insert(0, str(ROOT / "examples"))
from models import run  # noqa: E402
from models.gpt2 import Decoder, generate  # noqa: E402

SMALL = [name for name in run.FILES if name.startswith("small_")]
ONE_TREE = "small_tree_lstm"  # a tree is no tensor


def built(name):
    """(module of the example, model, batch), the same for every call."""
    example = run.FILES[name]
    lt.manual_seed(0)
    model = example.build(name)
    return example, model, example.batch(np.random.default_rng(0), name)


def flat(results):
    results = results if isinstance(results, tuple) else (results,)
    return [t.detach().numpy().tobytes() for t in results]


def test_every_model_has_a_small_size():
    assert {f"small_{name}" for name in run.FILES if name not in SMALL} == set(SMALL)


@pytest.mark.parametrize("name", SMALL)
def test_a_traced_model_gives_eagers_bytes(name):
    _, model, (*inputs, _) = built(name)
    model.eval()
    with lt.no_grad():
        wanted = flat(model(*inputs))
        traced = lt.trace(model)
        for _ in range(2):
            assert flat(traced(*inputs)) == wanted
    assert traced.counts["traces"] == 1


@pytest.mark.parametrize("name", [n for n in SMALL if n != ONE_TREE])
def test_a_frozen_model_is_close_to_eager(name):
    _, model, (*inputs, _) = built(name)
    model.eval()
    with lt.no_grad():
        wanted = model(*inputs)
        got = lt.freeze(model, *inputs)(*inputs)
    for ours, theirs in zip(*(r if isinstance(r, tuple) else (r,) for r in (got, wanted))):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", SMALL)
def test_traced_steps_of_training_give_eagers_bytes(name):
    def trained(wrap):
        example, model, batch = built(name)
        lt.manual_seed(1)  # of dropout
        step = wrap(run.step_of(example, model))
        losses = [step(*batch).item() for _ in range(3)]
        return losses, flat(tuple(model.state_dict().values()))

    losses, state = trained(lambda step: step)
    assert trained(lt.trace) == (losses, state)
    assert np.isfinite(losses).all() and losses[0] != losses[2]


def test_gpt2_decodes_what_it_scores():
    _, model, (tokens, _) = built("small_gpt2")
    model.eval()
    with lt.no_grad():
        step, cache = Decoder(model), model.no_cache(batch=2)
        for i in range(tokens.shape[1]):
            scores, *new = step(tokens[:, i : i + 1], *cache)
            cache = [lt.cat(pair, dim=2) for pair in zip(cache, new)]
        wanted = model(tokens)[:, -1]
        np.testing.assert_allclose(scores.numpy(), wanted.numpy(), rtol=1e-4, atol=1e-5)
        last = tokens[:, -1:].contiguous()
        words, _ = generate(step, cache, last, 5)
        traced = lt.trace(step)
        again, _ = generate(traced, cache, last, 5)
    assert flat(again) == flat(words) and words.shape == (2, 5)
    assert traced.counts["traces"] == 1  # one program for every length of the cache


def test_a_traced_join_serves_every_tree():
    example, model, _ = built(ONE_TREE)
    random = np.random.default_rng(1)
    trees = [example.grow(random, 20, leaves) for leaves in (2, 5, 9)]
    wanted = [flat(model(tree)) for tree in trees]
    model.join = lt.trace(model.join)
    assert [flat(model(tree)) for tree in trees] == wanted
    assert model.join.counts["traces"] == 1
