"""Extra::also: one definition under several public names."""

import copy
import pickle

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
