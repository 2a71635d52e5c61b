"""lathe.nn.modules: what programs take from PyTorch's files of modules."""

import pytest
from lathe.nn.modules.batchnorm import BatchNorm1d, _BatchNorm
from lathe.nn.modules.conv import _ConvNd, _ConvTransposeNd
from lathe.nn.modules.utils import _ntuple, _pair, consume_prefix_in_state_dict_if_present

import lathe as lt
from lathe import nn


def test_common_classes():
    assert BatchNorm1d is nn.BatchNorm1d and nn.modules.Module is nn.Module
    assert isinstance(nn.BatchNorm2d(2), _BatchNorm) and issubclass(nn.SyncBatchNorm, _BatchNorm)
    assert not isinstance(nn.InstanceNorm2d(2), _BatchNorm)
    assert isinstance(nn.InstanceNorm2d(2), nn.modules.instancenorm._InstanceNorm)
    assert isinstance(nn.InstanceNorm2d(2), nn.modules.batchnorm._NormBase)
    assert isinstance(nn.Conv2d(1, 1, 1), _ConvNd)
    assert isinstance(nn.ConvTranspose1d(1, 1, 1), _ConvNd)
    assert isinstance(nn.ConvTranspose1d(1, 1, 1), _ConvTransposeNd)
    assert not isinstance(nn.Linear(1, 1), _ConvNd)
    assert isinstance(nn.MSELoss(), nn.modules.loss._Loss)
    assert isinstance(nn.Dropout2d(), nn.modules.dropout._DropoutNd)
    assert isinstance(nn.MaxPool3d(2), nn.modules.pooling._MaxPoolNd)
    assert nn.modules.rnn.RNNBase is nn.RNNBase and "Conv1d" in dir(nn.modules.conv)


def test_a_class_of_a_program_over_a_common_one():
    class AnyRank(_BatchNorm):
        def _check_input_dim(self, input):
            pass

    norm, x = AnyRank(3), lt.randn(4, 3, 2, 2, 2, 2) + 5
    assert norm(x).mean((0, 2, 3, 4, 5)).abs().max() < 1e-4
    with pytest.raises(lt.ShapeError, match="another rank"):
        nn.BatchNorm1d(3)(x)


def test_names_that_are_not_there():
    for file in (nn.modules, nn.modules.conv):
        with pytest.raises(AttributeError, match="no attribute"):
            _ = file.Convolution
    with pytest.raises(ImportError):
        from lathe.nn.modules import nothing  # noqa: F401


def test_tuples_of_sizes():
    assert _pair(3) == (3, 3) and _pair([1, 2]) == (1, 2) and _ntuple(4)("a") == ("a",)
    assert nn.modules.utils._triple(lt.tensor([1, 2, 3]))[1] == 2


def test_prefixes_of_parallel_modules():
    state = nn.ModuleDict({"module": nn.Linear(1, 1)}).state_dict()
    consume_prefix_in_state_dict_if_present(state, "module.")
    assert sorted(state) == ["bias", "weight"]
    nn.Linear(1, 1).load_state_dict(state)
    consume_prefix_in_state_dict_if_present(state, "module.")
    assert sorted(state) == ["bias", "weight"]


def test_under_pytorchs_name():
    from lathe.compat.torch.nn.modules.batchnorm import _BatchNorm as same

    import lathe.compat.torch as torch

    assert same is _BatchNorm and torch.nn.modules.conv._ConvNd is _ConvNd
