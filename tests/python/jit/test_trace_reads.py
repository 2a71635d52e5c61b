"""Reads of tensors from outside that are not their elements' use in an op: text, bytes, addresses,
strides; and what results share with each other, with their history and with the inputs."""

import copy
import gc
import pickle
import types

import numpy as np
import pytest

import lathe as lt

# ── elements that leave the program ─────────────────────────────────────────────────────────────

WORLD = types.SimpleNamespace(t=lt.ones(2))
ELEMENTS = {
    "repr": lambda x: repr(WORLD.t),
    "str": lambda x: str(WORLD.t),
    "format": lambda x: f"{WORLD.t}",
    "format of a number": lambda x: f"{WORLD.t[0]:.2f}",
    "format by !r": lambda x: f"{WORLD.t!r}",
    "percent": lambda x: "%s" % WORLD.t,  # noqa: UP031
    "method": lambda x: "{}".format(WORLD.t),  # noqa: UP032
    "in a list": lambda x: str([WORLD.t]),
    "in an error": lambda x: ValueError(str(WORLD.t)).args[0],
    "tolist": lambda x: WORLD.t.tolist(),
    "numpy": lambda x: WORLD.t.numpy().sum(),
    "asarray": lambda x: float(np.asarray(WORLD.t).sum()),
    "memoryview": lambda x: bytes(memoryview(WORLD.t)),
    "pickle": lambda x: pickle.dumps(WORLD.t),
    "dlpack": lambda x: lt.from_dlpack(WORLD.t),
    "data_ptr": lambda x: WORLD.t.data_ptr(),
}


@pytest.mark.parametrize("name", ELEMENTS)
def test_elements_that_leave_the_program_are_refused(name):
    WORLD.t = lt.ones(2)
    with pytest.raises(lt.TraceError, match="elements of a tensor|data of a tensor") as found:
        lt.trace(ELEMENTS[name])(lt.ones(2))
    assert "test_trace_reads.py" in str(found.value)


def test_identities_are_guarded():
    for ask in (id, hash):
        f = lt.trace(lambda x, ask=ask: x + (ask(WORLD.t) == ask(WORLD.other)))
        WORLD.t = WORLD.other = lt.ones(2)
        assert f(lt.zeros(1)).item() == 1
        WORLD.t = lt.ones(2)
        assert f(lt.zeros(1)).item() == 0
    f = lt.trace(lambda x: copy.deepcopy(WORLD.t) + x)  # which asks for id() of all that it meets
    for k in range(3):
        WORLD.t = lt.ones(2) * k
        assert f(lt.zeros(2)).tolist() == [k, k]
    assert f.counts["traces"] == 1


# ── strides ─────────────────────────────────────────────────────────────────────────────────────

LAYOUTS = [
    lambda: lt.zeros(2), lambda: lt.zeros(1).expand(2), lambda: lt.zeros(2, 2)[:, 0],
    lambda: lt.zeros(1), lambda: lt.zeros(3, 1).expand(3, 4), lambda: lt.zeros(3, 4).t(),
    lambda: lt.zeros(3, 4)[:, ::2], lambda: lt.zeros(1, 4)[:, ::2], lambda: lt.zeros(1, 1)[:, ::2],
    lambda: lt.zeros(2, 0), lambda: lt.zeros(0, 2).t(), lambda: lt.zeros(4)[1:3],
    lambda: lt.zeros(5, 1)[:, 0], lambda: lt.zeros(1, 5)[0],
    lambda: lt.zeros(6).as_strided((2, 2), (1, 2)), lambda: lt.zeros(6).as_strided((2, 2), (1, 1)),
]  # fmt: skip


def test_strides_are_those_of_each_call():
    def read(t):
        return t.stride(), t.is_contiguous(), t.storage_offset(), tuple(t.shape)

    outside, argument = lt.trace(lambda x: read(WORLD.t)), lt.trace(read)
    for make in LAYOUTS:
        WORLD.t = make()
        assert outside(lt.zeros(1)) == argument(WORLD.t) == read(WORLD.t)


# ── sizes ───────────────────────────────────────────────────────────────────────────────────────

DIVISIONS = {
    "by a size": lambda n: 1 / n,
    "a float": lambda n: 1.5 / n,
    "of sizes": lambda n: n / n,
    "by a float of it": lambda n: 1 / (n * 0.5),
    "floor": lambda n: 7 // n,
    "remainder": lambda n: 7.5 % n,
}


@pytest.mark.parametrize("name", DIVISIONS)
def test_division_by_a_size_that_becomes_0(name):
    f = lt.trace(lambda x: x.sum() + DIVISIONS[name](x.shape[0] - 3))
    for size in (5, 4, 2):
        x = lt.ones(size)
        assert f(x).item() == (x.sum() + DIVISIONS[name](size - 3)).item()
    with pytest.raises(ZeroDivisionError):
        f(lt.ones(3))


# ── what results share ──────────────────────────────────────────────────────────────────────────

P = lt.ones(3, requires_grad=True)


def beside(x):
    y = x * P
    return y, y.detach()


def alone(x):
    y = x * 2
    return y.detach(), y


def views(x):
    y = x * P
    return y.detach()[0:2], y.detach().detach(), y


def inputs(x):
    return x.detach(), x, P.detach(), P.data, P


def leaf(x):
    y = x * P
    return y, y.detach().requires_grad_()


def twice(x):
    z = (x * P).detach()
    return z * 2, z, z


def of_a_view(x):
    y = (x * P)[1:]
    return y.detach(), y


def written_after(x):
    y = x * 2
    z = y.detach()
    y.add_(1)
    return y, z


def shown(tensors):
    same = [[a.data_ptr() == b.data_ptr() for b in tensors] for a in tensors]
    return same, [(t.requires_grad, t.is_leaf, t.tolist()) for t in tensors]


@pytest.mark.parametrize(
    "f", [beside, alone, views, inputs, leaf, twice, of_a_view, written_after]
)  # fmt: skip
def test_detached_results_share_memory(f):
    traced, x = lt.trace(f), lt.ones(3)
    for grad in (True, False):
        with lt.set_grad_enabled(grad):
            for _ in range(2):
                assert shown(traced(x)) == shown(f(x))


def test_a_leaf_made_inside_collects_its_gradient():
    y, z = lt.trace(leaf)(lt.ones(3))
    (z * 3).sum().backward()
    assert z.grad.tolist() == [3, 3, 3] and P.grad is None


# ── histories ───────────────────────────────────────────────────────────────────────────────────


def test_a_result_that_backward_went_through_says_so():
    w = lt.ones(2, requires_grad=True)

    def f(x):
        loss = (w * x).sum()
        loss.backward()
        w.grad = None
        return loss

    for call in (f, lt.trace(f)):
        for _ in range(2):
            loss = call(lt.ones(2))
            assert loss.requires_grad and not loss.is_leaf
            with pytest.raises(lt.AutogradError, match="went through here before"):
                loss.backward()
    with lt.no_grad():
        assert not lt.trace(lambda x: w * x)(lt.ones(2)).requires_grad


def test_a_gradient_through_a_leaf_that_is_written_inside_is_refused():
    lin = lt.nn.Linear(4, 4)
    opt = lt.optim.SGD(lin.parameters(), lr=0.1)

    def step(x, live):
        lin(x).square().mean().backward()
        opt.step()
        y = lin(x)
        return y if live else y.detach()

    x = lt.ones(2, 4)
    with pytest.raises(lt.TraceError, match="leads back to a leaf that is written to inside"):
        lt.trace(step)(x, True)
    assert not lt.trace(step)(x, False).requires_grad


def test_a_leaf_that_a_branch_writes_stays_a_leaf():
    w = lt.ones(2, requires_grad=True)

    def halved(x, live):
        if x.sum() > 0:
            with lt.no_grad():
                w.mul_(0.5)
        y = x * w
        return y if live else y.detach()

    with pytest.raises(lt.TraceError, match="leads back to a leaf that is written to inside"):
        lt.script(halved)(lt.ones(2), True)
    assert lt.script(halved)(lt.ones(2), False).tolist() == [0.5, 0.5] and w.is_leaf

    def doubled(x):
        w.requires_grad_(False)
        w.mul_(2)
        w.requires_grad_()
        return x * w

    def replaced(x):
        w.requires_grad_(False)
        w.copy_(x)
        w.requires_grad_()
        return w * 2

    for written in (doubled, replaced):
        with pytest.raises(lt.TraceError, match="leads back to a leaf that is written to inside"):
            lt.trace(written)(lt.ones(2))


def test_a_gradient_that_leaves_share():
    def run(wrap):
        a, b = lt.ones(2, requires_grad=True), lt.ones(2, requires_grad=True)
        a.grad, b.grad = lt.zeros(2), lt.zeros(2)
        seen = []

        @wrap
        def step(x):
            (a * x + b * x * 2).sum().backward()
            return x + 1

        def call():
            step(lt.ones(2))
            seen.append((a.grad.tolist(), b.grad.tolist()))

        call()
        b.grad = a.grad
        call(), call()
        a.grad = lt.zeros(2)
        call()
        return seen

    assert run(lt.trace) == run(lambda f: f)


# ── what was there before ───────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("how", ["collecting", "not collecting", "frozen"])
def test_ages_do_not_depend_on_the_collector(how):
    class Box:
        pass

    box = Box()
    box.items = [2.0]

    def f(x):
        made = Box()
        made.items = [x * box.items[0]]
        made.items.append(x)
        return made.items[0] + made.items[1]

    try:
        if how == "not collecting":
            gc.disable()
        elif how == "frozen":
            gc.freeze()
        traced = lt.trace(f)
        assert traced(lt.ones(1)).item() == 3
        box.items[0] = 5.0
        assert traced(lt.ones(1)).item() == 6
        assert gc.isenabled() == (how != "not collecting")
    finally:
        gc.unfreeze()
        gc.enable()
