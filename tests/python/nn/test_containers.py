"""Lists and dicts of modules and of parameters, and modules that wait for their first input."""

from collections import OrderedDict

import pytest

import lathe as lt
from lathe import nn


def test_parameter_list():
    p = nn.ParameterList([lt.ones(2), nn.Parameter(lt.zeros(1))])
    p += [lt.ones(3)]
    assert len(p) == 3 and [n for n, _ in p.named_parameters()] == ["0", "1", "2"]
    assert isinstance(p[0], nn.Parameter) and p[-1].numel() == 3 and len(p[1:]) == 2
    p[0] = lt.zeros(4)
    assert [q.numel() for q in p] == [4, 1, 3]
    assert "(1): Parameter containing: [lathe.float32 of size 1]" in repr(p)
    with pytest.raises(lt.IndexError):
        p[3]


def test_parameter_dict():
    p = nn.ParameterDict({"a": lt.ones(2)})
    p["b"] = nn.Parameter(lt.zeros(1))
    assert list(p) == ["a", "b"] and "a" in p and p.get("c") is None and len(p) == 2
    assert [n for n, _ in p.named_parameters()] == ["a", "b"]
    assert list((p | {"c": lt.ones(1)}).keys()) == ["a", "b", "c"] and len(p) == 2
    assert p.setdefault("a") is p["a"] and p.pop("b").numel() == 1 and p.popitem()[0] == "a"
    assert list(p.state_dict()) == [] and repr(p) == "ParameterDict()"
    with pytest.raises(KeyError):
        p["a"]
    with pytest.raises(lt.ValueError):
        p["forward"] = lt.ones(1)


def test_parameters_of_a_plain_dict_are_in_the_order_of_their_names():
    names = {"c": lt.ones(1), "a": lt.ones(1), "b": lt.ones(1)}
    assert list(nn.ParameterDict(names)) == ["a", "b", "c"]
    held = nn.ParameterDict(OrderedDict(names))
    assert list(held) == list(held.copy()) == ["c", "a", "b"]
    held.update({"e": lt.ones(1), "d": lt.ones(1)})
    assert [n for n, _ in held.named_parameters()] == ["c", "a", "b", "d", "e"]
    assert list(held.fromkeys("cab")) == ["c", "a", "b"]


def test_lists_and_dicts_of_modules():
    a = nn.ModuleList([nn.ReLU(), nn.Linear(1, 2)])
    b = a + [nn.Tanh()]
    assert len(b) == 3 and isinstance(b.pop(0), nn.ReLU) and len(b) == 2 and len(a) == 2
    s = nn.Sequential(nn.Linear(2, 2)) + nn.Sequential(nn.ReLU())
    assert isinstance(s, nn.Sequential) and len(s) == 2
    d = nn.ModuleDict({"x": nn.ReLU(), "y": nn.Tanh()})
    assert isinstance(d.pop("x"), nn.ReLU) and list(d) == ["y"]
    d.clear()
    assert len(d) == 0


def test_data_parallel_is_the_module():
    net = nn.DataParallel(nn.Linear(3, 2))
    x = lt.ones(1, 3)
    assert lt.equal(net(x), net.module(x)) and list(net.state_dict())[0] == "module.weight"
    with pytest.raises(lt.DeviceError, match="^DataParallel: "):
        nn.DataParallel(nn.Linear(3, 2), device_ids=[0, 1])


def test_a_part_of_a_sequence_keeps_its_names():
    model = nn.Sequential({"first": nn.Linear(1, 1), "second": nn.ReLU(), "third": nn.Linear(1, 1)})
    assert list(model[1:].state_dict()) == ["third.weight", "third.bias"]
    assert list(nn.Sequential(*model)[1:].state_dict()) == ["2.weight", "2.bias"]
    assert list(nn.ModuleList(model)[1:].state_dict()) == ["1.weight", "1.bias"]
    model[-3] = nn.Tanh()
    assert [name for name, _ in model.named_children()] == ["first", "second", "third"]
    assert type(model.first) is nn.Tanh and model[1:][0] is model.second


def test_texts_of_parameters():
    held = nn.ParameterList([lt.ones(2, 3)])
    assert repr(held).split("\n")[1] == (
        "    (0): Parameter containing: [lathe.float32 of size 2x3]"
    )
    held = nn.ParameterDict({"a": lt.ones(2, 3)})
    assert repr(held).split("\n")[1] == (
        "    (a): Parameter containing: [lathe.FloatTensor of size 2x3]"
    )


def test_a_sequence_is_repeated_and_inserted_into():
    """The modules are the same ones each time, as in PyTorch."""
    layer = nn.Linear(2, 2)
    twice = nn.Sequential(layer, nn.Tanh()) * 2
    assert len(twice) == 4 and twice[2] is layer and len(list(twice.parameters())) == 2
    assert len(3 * nn.Sequential(layer)) == 3
    own = nn.Sequential(layer)
    same = own
    own *= 2
    assert own is same and len(own) == 2
    assert own.insert(0, nn.Tanh()) is own and isinstance(own[0], nn.Tanh)
    with pytest.raises(lt.ValueError, match="once at least"):
        own * 0
    with pytest.raises(TypeError):
        own * 1.5
