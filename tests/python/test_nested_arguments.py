"""Lists that contain themselves, lists nested 100,000 deep, iterators without an end: given to
every parameter of every op, to every way to make a tensor, to indexes, traced functions and files.

Each is refused with a typed error, at once: no crash, no hang, no RecursionError.
"""

import itertools

import numpy as np
import pytest
from samples import SAMPLES, tensors

import lathe as lt

DEPTH = 100_000


class Endless:
    """Has items for every index, and no length."""

    def __getitem__(self, index):
        return 1


class Liar(Endless):
    """Claims more items than there is memory for."""

    def __len__(self):
        return 1 << 62


class Itself:
    """The only item of itself, as a text of one letter is."""

    def __len__(self):
        return 1

    def __getitem__(self, index):
        return self


def made():
    own, second, tensor, pair = [], [1.0], [lt.ones(2)], ([],)
    own.append(own)
    second.append(second)
    tensor.append(tensor)
    pair[0].append(pair)
    deep_list, deep_tuple, doubling = [], (), [1.0]
    for _ in range(DEPTH):
        deep_list, deep_tuple = [deep_list], (deep_tuple,)
    for _ in range(60):  # 2^60 elements, in 60 lists
        doubling = [doubling, doubling]
    own_dict = {}
    own_dict["a"] = own_dict
    return {
        "contains itself": own, "contains itself second": second, "beside a tensor": tensor,
        "a tuple in its list": pair, "a dict of itself": own_dict, "a deep list": deep_list,
        "a deep tuple": deep_tuple, "2^60 elements": doubling, "a counter": itertools.count(),
        "a generator": (i for i in range(3)), "no length": Endless(), "a false length": Liar(),
        "its own item": Itself(),
    }  # fmt: skip


HOSTILE = made()
FIRST = {sample.op: sample for sample in reversed(SAMPLES)}  # one of each op
ROWS = {row["name"]: row for row in lt._lathe._definitions()}


def refused(call, *args, **kwargs):
    """It raised an error of Lathe's own (not one of Python's, and no other base of them)."""
    with pytest.raises(lt.Error) as caught:
        call(*args, **kwargs)
    assert len(str(caught.value)) < 2000, "the text says what it got, not all of it"


@pytest.mark.parametrize("op", FIRST)
def test_every_parameter_of_every_op(op):
    args, kwargs = tensors(FIRST[op])
    row, forms = ROWS[op], [getattr(lt.ops, op)]
    forms += [getattr(lt.Tensor, row["public_name"])] if row["method"] else []
    if row["inplace"] and row["method"]:
        forms.append(getattr(lt.Tensor, row["public_name"] + "_"))
    for hostile, form in itertools.product(HOSTILE.values(), forms):
        for i in range(0 if form is forms[0] else 1, len(args)):
            refused(form, *args[:i], hostile, *args[i + 1 :], **kwargs)
        others = [p["name"] for p in row["params"][len(args) :]]
        if form is forms[0]:
            others += ["out", "requires_grad", "layout", "generator"]
        for name in others:
            refused(form, *args, **{**kwargs, name: hostile})


def test_every_op_is_among_them():
    assert {name for name, row in ROWS.items() if not row["name"].endswith("_put")} - set(
        FIRST
    ) <= {name for name, row in ROWS.items() if row["kind"] == "opaque"}


MAKERS = {
    "tensor": lt.tensor,
    "tensor with a dtype": lambda v: lt.tensor(v, dtype=lt.int32),
    "as_tensor": lt.as_tensor,
    "from_numpy": lt.from_numpy,
    "frombuffer": lt.frombuffer,
    "from_dlpack": lt.from_dlpack,
    "new_tensor": lambda v: lt.ones(1).new_tensor(v),
    "new_zeros": lambda v: lt.ones(1).new_zeros(v),
    "new_full": lambda v: lt.ones(1).new_full(v, 1),
    "a size": lambda v: lt.zeros(2, v),
    "empty": lt.empty,
    "randint": lambda v: lt.randint(0, 3, v),
    "an index": lambda v: lt.ones(2, 2)[v],
    "an index in a tuple": lambda v: lt.ones(2, 2)[0, v],
    "a slice": lambda v: lt.ones(2, 2)[v:],
    "an assigned index": lambda v: lt.ones(2, 2).__setitem__(v, 1),
    "an assigned value": lambda v: lt.ones(2, 2).__setitem__(0, v),
    "copy_": lambda v: lt.ones(2).copy_(v),
    "backward": lambda v: lt._lathe.backward(v),
    "grad": lambda v: lt.autograd.grad(v, v),
    "save": lambda v: lt.save({"a": v}, "/dev/null/x"),
    "InputSpec": lambda v: lt.InputSpec(v)._example(),
}


@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize("maker", MAKERS)
def test_ways_to_make_and_index_tensors(maker, value):
    refused(MAKERS[maker], HOSTILE[value])


CONTAINERS = [n for n in HOSTILE if isinstance(HOSTILE[n], (list, tuple, dict))]


def test_arithmetic_leaves_them_to_python():
    for hostile in HOSTILE.values():
        with pytest.raises(TypeError):
            lt.ones(2) + hostile


@pytest.mark.parametrize("value", CONTAINERS)
@pytest.mark.parametrize("capture", [lt.trace, lt.script], ids=["trace", "script"])
def test_arguments_and_results_of_a_captured_function(capture, value):
    hostile = HOSTILE[value]

    def takes(x, more):
        return x + 1

    def gives(x):
        return x, hostile

    f = capture(takes)
    for _ in range(2):
        if value == "2^60 elements":  # each list is looked at once
            assert f(lt.ones(2), hostile).tolist() == [2, 2]
        else:
            refused(f, lt.ones(2), hostile)
    assert capture(gives)(lt.ones(2))[1] is hostile
    assert f(lt.ones(2), [1]).tolist() == [2, 2], "it works after that"


def test_state_that_a_captured_function_reads():
    chain = None
    for _ in range(DEPTH):
        chain = [chain]

    def reads(x):
        return x if chain is None else x + 1

    assert lt.trace(reads)(lt.ones(2)).tolist() == [2, 2]  # it reads no more than that it is there


def test_what_is_just_deep_enough_works():
    nested = lt.ones(2)
    for _ in range(60):
        nested = [nested]
    result = lt.trace(lambda v: v)(nested)
    for _ in range(60):
        result = result[0]
    assert result.tolist() == [1, 1]
    data = 1.0
    for _ in range(60):
        data = [data]
    assert lt.tensor(data).shape == (1,) * 60


@pytest.mark.parametrize("items", [range(2, 4), [np.int64(2), 3], np.array([2, 3]), bytes([2, 3])])
def test_sequences_that_are_sizes_go_on_working(items):
    assert lt.zeros(items).shape == (2, 3)


def test_a_list_that_changes_while_it_is_read():
    class Shrinks:
        def __index__(self):
            sizes.clear()
            return 1

    sizes = [Shrinks(), 2, 3]
    with pytest.raises((lt.Error, IndexError)):
        lt.zeros(sizes)
    sizes = [Shrinks(), 2, 3]
    with pytest.raises((lt.Error, IndexError)):
        lt.tensor(sizes)
