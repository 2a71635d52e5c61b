"""What a trace has read besides tensors and plain values: if it changes, so does the result."""

import array
import builtins
import collections
import contextvars
import functools
import logging
import os
import pathlib
import types
import weakref

import numpy as np
import pytest

import lathe as lt


class Slotted:
    __slots__ = ("scale", "unset")

    def __init__(self):
        self.scale = 2.0


def turn(holder):
    holder.rotate(1)


def set_first(holder):
    holder[0] = 7


def set_scale(holder):
    holder.scale = 7.0


def with_attribute():
    def function():
        pass

    function.scale = 2.0
    return function


class Attributes:
    scale = 2.0


class Bound:
    """A descriptor with state of its own."""

    def __init__(self):
        self.scale = 2.0

    def __get__(self, instance, owner):
        return self.scale


class Holder:
    bound = Bound()
    config = Attributes()
    nothing = None
    items = {1.0}


class Meta(type):
    scale = 2.0


class OfMeta(metaclass=Meta):
    pass


class Dict(dict):
    scale = 2.0


class List(list):
    scale = 2.0


class Tuple(tuple):
    scale = 2.0


class Set(set):
    scale = 2.0


class Part(functools.partial):
    scale = 2.0


class Number(float):
    scale = 2.0


Pair = collections.namedtuple("Pair", "a b")
Pair.scale = 2.0


def set_class_scale(holder):
    type(holder).scale = 9.0


def put_true(holder):
    holder.discard(1)
    holder.add(True)


KEPT = {"under a proxy": [2.0], "of a view": [2.0]}
ALIVE = Attributes()


def counter():
    state = [2.0]
    return state.__getitem__


CASES = {
    **{
        f"an attribute of a {kind.__name__}": (kind([1]), set_scale, lambda h: h.scale)
        for kind in (List, Tuple, Set)
    },
    **{
        f"the class of a {kind.__name__}": (kind([1]), set_class_scale, lambda h: h.scale)
        for kind in (List, Tuple, Set)
    },
    "an attribute of a Dict": (Dict(a=1), set_scale, lambda h: h.scale),
    "the class of a Dict": (Dict(a=1), set_class_scale, lambda h: h.scale),
    "an attribute of a partial": (Part(max, 1), set_scale, lambda h: h.scale),
    "an attribute of a number": (Number(3.0), set_scale, lambda h: h.scale),
    "the class of a namedtuple": (Pair(1, 2), set_class_scale, lambda h: h.scale),
    "a metaclass": (OfMeta, lambda h: setattr(Meta, "scale", 7.0), lambda h: h.scale),
    "a descriptor": (
        Holder(),
        lambda h: setattr(vars(Holder)["bound"], "scale", 7.0),
        lambda h: h.bound,
    ),
    "an object of a class": (
        Holder(),
        lambda h: setattr(h.config, "scale", 7.0),
        lambda h: h.config.scale,
    ),
    "a set of a class": (Holder(), lambda h: h.items.add(7.0), lambda h: len(h.items)),
    "None of a class": (
        Holder(),
        lambda h: setattr(Holder, "nothing", {1}),
        lambda h: 2.0 if h.nothing is None else 7.0,
    ),
    "a default factory": (
        collections.defaultdict(lambda: 2.0),
        lambda h: setattr(h, "default_factory", lambda: 7.0),
        lambda h: h.default_factory(),
    ),
    "a mapping proxy": (
        types.MappingProxyType(KEPT),
        lambda h: KEPT["under a proxy"].append(7.0),
        lambda h: len(h["under a proxy"]),
    ),
    **{
        f"dict.{name}": (
            getattr(KEPT, name)(),
            lambda h, name=name: KEPT.update({name: [7.0]}),
            lambda h: len(h),
        )
        for name in ("keys", "values", "items")
    },
    "a weak reference": (
        weakref.ref(ALIVE),
        lambda h: setattr(ALIVE, "scale", 7.0),
        lambda h: h().scale,
    ),
    "a set of equal numbers": (
        {1},
        put_true,
        lambda h: [2.0 if type(item) is int else 7.0 for item in h][0],
    ),
    "a method of a list": (counter(), lambda h: h.__self__.insert(0, 7.0), lambda h: h(0)),
    "an exception": (
        ValueError(2.0),
        lambda h: setattr(h, "args", (7.0,)),
        lambda h: h.args[0],
    ),
    "a function's attribute": (with_attribute(), set_scale, lambda h: h.scale),
    "a context variable": (
        contextvars.ContextVar("scale", default=2.0),
        lambda h: h.set(7.0),
        lambda h: h.get(),
    ),
    "a NumPy array": (np.array([2.0, 3.0]), set_first, lambda h: float(h[0])),
    "a strided NumPy array": (np.arange(6.0)[::2], set_first, lambda h: float(h[0])),
    "a bytearray": (bytearray(b"ab"), set_first, lambda h: h[0]),
    "an array": (array.array("d", [2.0, 3.0]), set_first, lambda h: h[0]),
    "a memoryview": (memoryview(bytearray(b"ab")), set_first, lambda h: h[0]),
    "a deque": (collections.deque([2.0, 3.0]), turn, lambda h: h[0]),
    "slots": (Slotted(), set_scale, lambda h: h.scale),
}


@pytest.mark.parametrize("what", CASES)
@pytest.mark.parametrize("given", ["captured", "as an argument"])
def test_changed_state_is_seen(what, given):
    holder, change, read = CASES[what]
    if given == "captured":
        traced = lt.trace(lambda x: x * read(holder))
        call = functools.partial(traced, lt.ones(2))
    else:
        traced = lt.trace(lambda x, h: x * read(h))
        call = functools.partial(traced, lt.ones(2), holder)
    for _ in range(3):
        assert call().tolist() == [read(holder)] * 2
    assert traced.counts["traces"] == 1
    change(holder)
    for _ in range(3):
        assert call().tolist() == [read(holder)] * 2


def test_what_a_partial_holds_is_seen():
    scale = [2.0]
    scaled = functools.partial(lambda factor, x: x * factor[0], scale)
    traced = lt.trace(lambda x: scaled(x))
    assert traced(lt.ones(1)).tolist() == [2]
    scale[0] = 7.0
    assert traced(lt.ones(1)).tolist() == [7]


def test_each_of_several_objects_with_slots_is_seen():
    holders = [Slotted() for _ in range(6)]
    traced = lt.trace(lambda x: x * sum(h.scale for h in holders))
    assert traced(lt.ones(1)).tolist() == [12]
    for total, holder in zip((17, 22, 27, 32, 37, 42), holders):
        holder.scale = 7.0
        assert traced(lt.ones(1)).tolist() == [total]


def test_an_attribute_that_is_set_later_is_seen():
    @lt.trace
    def scaled(x):
        return x * getattr(scaled_by, "scale", 1)

    def scaled_by():
        pass

    assert scaled(lt.ones(1)).tolist() == [1]
    scaled_by.scale = 7.0
    assert scaled(lt.ones(1)).tolist() == [7]


def test_hooks_of_a_captured_leaf_are_those_of_now():
    w, factor = lt.ones(2, requires_grad=True), [2.0]
    traced = lt.trace(lambda x: lt.autograd.grad((w * x).sum(), w)[0])
    x = lt.tensor([3.0, 4.0])
    assert traced(x).tolist() == [3, 4]
    handle = w.register_hook(lambda g: g * factor[0])
    for _ in range(2):
        assert traced(x).tolist() == [6, 8]
    factor[0] = 10.0
    assert traced(x).tolist() == [30, 40]
    second = w.register_hook(lambda g: g + 1)
    assert traced(x).tolist() == [31, 41]
    handle.remove()
    assert traced(x).tolist() == [4, 5]
    second.remove()
    for _ in range(2):
        assert traced(x).tolist() == [3, 4]


def test_a_hook_that_changes_state():
    w, seen = lt.ones(2, requires_grad=True), []
    w.register_hook(lambda g: seen.append(g))
    traced = lt.trace(lambda x: lt.autograd.grad((w * x).sum(), w)[0])
    for n in (1, 2, 3):
        assert traced(lt.full((2,), n)).tolist() == [n] * 2
    assert [g.tolist() for g in seen] == [[n] * 2 for n in (1, 2, 3)]


def test_builtins_that_are_bound_anew_are_seen(monkeypatch):
    traced = lt.trace(lambda x: x * pow(2, 3))
    x = lt.ones(2)
    for _ in range(3):
        assert traced(x).tolist() == [8.0, 8.0]
    assert traced.counts["traces"] == 1
    monkeypatch.setattr(builtins, "pow", lambda a, b: 7.0)
    for _ in range(3):
        assert traced(x).tolist() == [7.0, 7.0]
    monkeypatch.setattr(builtins, "scale", 3.0, raising=False)
    traced = lt.trace(lambda x: x * scale)  # noqa: F821
    assert traced(x).tolist() == [3.0, 3.0]
    builtins.scale = 5.0
    assert traced(x).tolist() == [5.0, 5.0]


@pytest.mark.parametrize("kind", [int, float, complex, str, bytes])
def test_subclasses_of_plain_types_have_their_value(kind):
    class Own(kind):
        pass

    small, large = [Own(v) for v in ({str: ("a", "bb"), bytes: (b"a", b"bb")}.get(kind, (1, 2)))]
    size = len if kind in (str, bytes) else kind
    traced = lt.trace(lambda x, given: x * size(given))
    x = lt.ones(2)
    for given in (small, small, large, large, small):
        assert traced(x, given).tolist() == (x * size(given)).tolist()


@pytest.mark.parametrize("make", [iter, lambda n: (i for i in n), enumerate, reversed])
def test_an_iterator_that_is_used_up_is_refused(make):
    left = make([2.0, 3.0, 4.0])

    def program(x):
        for item in left:
            return x * item if isinstance(item, float) else x * item[1]
        return x

    with pytest.raises(lt.TraceError, match="whose state only C knows"):
        lt.trace(program)(lt.ones(2))


def test_what_python_makes_for_a_class_is_one_object():
    class Model(lt.nn.Module):
        log = logging.getLogger("lathe_test")
        root = pathlib.Path("one")

        @functools.lru_cache  # noqa: B019
        def never_called(self):
            print("at each call")

        def forward(self, x):
            return x * len(str(self.root))

    model = Model()
    traced = lt.trace(model)
    for i in range(4):
        assert traced(lt.ones(2)).tolist() == [3.0, 3.0]
        logging.getLogger(f"lathe_test{i}")
    assert traced.counts["traces"] == 2  # a path keeps its text, once it was asked for
    Model.root = pathlib.Path("another")
    assert traced(lt.ones(2)).tolist() == [7.0, 7.0]


def test_a_list_in_a_named_tuple_is_read_item_by_item():
    box = Pair([2.0, 3.0], 1)

    @lt.trace
    def f(x):
        return x * box.a[0] + box.b

    assert f(lt.ones(1)).tolist() == [3.0]
    box.a[1] = 9.0
    assert f(lt.ones(1)).tolist() == [3.0]
    box.a[0] = 5.0
    assert f(lt.ones(1)).tolist() == [6.0]
    box = Pair([2.0], 4)
    assert f(lt.ones(1)).tolist() == [6.0]


class Built(lt.nn.Module):
    """Makes its parameters, a buffer and a layer in its first call."""

    def __init__(self):
        super().__init__()
        self.out = None

    def forward(self, x):
        if self.out is None:
            self.out = lt.nn.Linear(x.shape[-1], 3)
        if not hasattr(self, "scale"):
            self.scale = lt.nn.Parameter(lt.ones([3]))
            self.register_buffer("shift", lt.zeros([3]))
        self.shift.add_(1)
        return self.out(x) * self.scale + self.shift


@pytest.mark.parametrize("capture", [lt.trace, lt.script])
def test_parameters_built_in_the_first_call(capture):
    def run(wrap):
        lt.manual_seed(3)
        m = Built()
        f, seen = wrap(m), []
        for _ in range(4):
            y = f(lt.ones([2, 4]))
            y.sum().backward()
            grads = [p.grad.tolist() for p in m.parameters()]
            seen.append((y.tolist(), grads, m.shift.tolist(), list(m.state_dict())))
        return f, seen

    captured, seen = run(capture)
    assert seen == run(lambda m: m)[1]
    assert captured.counts["traces"] == 1
    assert "1 calls ran as they are: a parameter or buffer is made" in captured.explain(
        verbose=True
    )


def test_a_parameter_that_is_a_result_is_refused():
    traced = lt.trace(lambda x: lt.nn.Parameter(x * 2))
    with pytest.raises(lt.TraceError, match="a parameter or buffer that the traced code has made"):
        traced(lt.ones([2]))


def test_a_path_is_the_text_that_it_gives():
    class Place:
        def __init__(self, name):
            self.name = name

        def __fspath__(self):
            return self.name

    place = Place("one")
    traced = lt.trace(lambda x, p: x * (len(os.fspath(p)) + len(os.fspath(place))))
    for path in ("ab", b"abc", pathlib.PurePosixPath("abcd"), Place("abcde")):
        for place.name in ("one", "three"):
            want = len(os.fspath(path)) + len(place.name)
            assert traced(lt.ones(1), path).tolist() == [want]
            assert traced(lt.ones(1), path).tolist() == [want]
