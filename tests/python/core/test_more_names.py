"""Extra::also: one definition under several public names."""

import copy
import pickle

import numpy as np
import pytest

import lathe as lt


def test_a_bare_name_is_found_wherever_the_definition_is():
    x = lt.tensor([-1.5, 2.0])
    assert lt.absolute(x).tolist() == x.absolute().tolist() == [1.5, 2.0]
    out = lt.empty(2)
    assert lt.absolute(x, out=out) is out
    assert out.tolist() == [1.5, 2.0]
    assert x.absolute_() is x
    assert x.tolist() == [1.5, 2.0]


def test_a_module_has_only_its_own_names():
    x = lt.tensor([0.0])
    assert lt.special.expit(x).item() == 0.5
    assert lt.special.expit.__name__ == "expit"
    assert not hasattr(lt, "expit")
    assert not hasattr(lt.special, "expit_")
    with pytest.raises(AttributeError, match=r"lathe\.special.*'relu'"):
        _ = lt.special.relu
    assert "expit" in dir(lt.special)
    assert "relu" not in dir(lt.special)


def test_functions_of_modules_survive_copies_and_pickles():
    for function in (lt.special.expit, lt.nn.functional.relu, lt.relu):
        assert copy.deepcopy(function) is function
        assert pickle.loads(pickle.dumps(function)) is function


def test_a_trace_takes_the_names_of_modules():
    traced = lt.trace(lambda x: lt.special.expit(x).absolute())
    x = lt.tensor([0.25, -3.0])
    assert traced(x).tolist() == lt.sigmoid(x).tolist()


# ── PyTorch's further functions ─────────────────────────────────────────────────────────────────


def test_an_index_that_names_nothing_may_have_any_rank():
    x = lt.arange(5.0).requires_grad_()
    y = lt.gather(x, 0, lt.empty(2, 0, dtype=lt.uint8))
    assert y.shape == (2, 0)
    (gradient,) = lt.autograd.grad(y.sum(), x)
    assert gradient.tolist() == [0] * 5


def test_functions_that_write():
    x = lt.ones(2, 3)
    assert lt.fill_(x, 2) is x and x.sum().item() == 12
    assert lt.zero_(x) is x and x.sum().item() == 0
    assert lt.resize_as_(x, lt.ones(3)) is x and x.shape == (3,)
    y = lt.fill(x, lt.tensor(2.5))
    assert y.tolist() == [2.5] * 3 and x.tolist() == [0] * 3


def test_what_shares_memory_is_not_written_and_what_is_empty_is():
    shared = lt.from_dlpack(np.lib.stride_tricks.as_strided(np.ones(1, "f"), (3,), (0,)))
    with pytest.raises(lt.AliasError, match="overlaps itself"):
        shared.add_(1)
    assert lt.ones(4, 0).fill_(2).shape == (4, 0)


def test_lu_gives_its_infos_if_asked():
    a = lt.tensor([[4.0, 3.0], [6.0, 3.0]])
    lu, pivots = lt.lu(a)
    again, places, info = lt.lu(a, get_infos=True)
    assert lt.equal(lu, again) and lt.equal(pivots, places) and info.item() == 0
    assert a.lu(True, True).info.item() == 0


def test_low_rank_decompositions_find_the_largest_singular_values():
    lt.manual_seed(1)
    a = lt.randn(8, 3, dtype=lt.float64) @ lt.randn(3, 6, dtype=lt.float64)
    u, s, v = lt.svd_lowrank(a, 4)
    assert (u.shape, s.shape, v.shape) == ((8, 4), (4,), (6, 4))
    assert lt.allclose(u @ lt.diag(s) @ v.mT, a)
    assert lt.allclose(s[:3], lt.linalg.svdvals(a)[:3])
    u, s, v = lt.pca_lowrank(a)
    assert lt.allclose(u @ lt.diag(s) @ v.mT, a - a.mean(0))


def test_histograms_of_points_name_their_results():
    points = lt.tensor([[0.0, 0.0], [1.0, 0.0], [1.0, 2.0], [9.0, 9.0]])
    found = lt.histogramdd(points, [2, 1], range=[0.0, 2.0, 0.0, 2.0])
    assert found.hist.tolist() == [[1], [2]]
    assert [e.tolist() for e in found.bin_edges] == [[0, 1, 2], [0, 2]]


def test_a_batch_norm_tells_what_it_normalised_by():
    x = lt.tensor([[1.0, 2.0], [3.0, 6.0]])
    y, mean, rstd = lt.native_batch_norm(x, None, None, None, None, True, 0.1, 0.0)
    assert mean.tolist() == [2, 4] and rstd.tolist() == [1, 0.5]
    assert lt.equal(y, (x - mean) * rstd)
    assert lt.nn.functional.batch_norm(lt.empty(0), None, None, training=True).shape == (0,)


def test_integers_are_averaged_and_spread_as_integers():
    x = lt.tensor([[1, 2, 4, 9]])
    assert lt.nn.functional.avg_pool1d(x, 2).tolist() == [[1, 6]]
    assert lt.logspace(0, 1.9, 2, dtype=lt.int64).tolist() == [1, 10]


def test_dlpack_where_pytorch_has_it():
    from lathe.utils.dlpack import from_dlpack, to_dlpack

    x = lt.arange(3)
    from_dlpack(to_dlpack(x))[0] = 5
    assert x.tolist() == [5, 1, 2]
