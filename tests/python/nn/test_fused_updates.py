"""Updates that run as programs give what their ops give, byte for byte."""

import pytest

import lathe as lt
from lathe import nn, optim
from lathe.optim import fused

MAKE = {
    "sgd": lambda p: optim.SGD(p, 0.1),
    "momentum": lambda p: optim.SGD(p, 0.1, momentum=0.9, weight_decay=0.01),
    "nesterov": lambda p: optim.SGD(p, 0.1, momentum=0.9, nesterov=True, maximize=True),
    "dampening": lambda p: optim.SGD(p, 0.1, momentum=0.9, dampening=0.3),
    "adam": lambda p: optim.Adam(p, 0.1),
    "amsgrad": lambda p: optim.Adam(p, 0.1, amsgrad=True, weight_decay=0.1),
    "adamw": lambda p: optim.AdamW(p, 0.1),
    "adamax": lambda p: optim.Adamax(p, 0.1),
    "nadam": lambda p: optim.NAdam(p, 0.1),
    "radam": lambda p: optim.RAdam(p, 0.1),
    "rmsprop": lambda p: optim.RMSprop(p, 0.1, momentum=0.9, centered=True),
    "adagrad": lambda p: optim.Adagrad(p, 0.1),
    "adadelta": lambda p: optim.Adadelta(p, 0.1),
    "adafactor": lambda p: optim.Adafactor(p, 0.1),
    "asgd": lambda p: optim.ASGD(p, 0.1, t0=2),
    "rprop": lambda p: optim.Rprop(p, 0.1),
}
SHAPES = ((4, 3), (5,), (6, 2), (1, 1), (3,))


@pytest.fixture(autouse=True)
def flag():
    before = lt.get_flag("fuse_after")
    yield
    lt.set_flag("fuse_after", before)


def train(make, after, dtype=lt.float32, steps=6):
    """Parameters and all that is remembered, as bytes."""
    lt.set_flag("fuse_after", after)
    lt.manual_seed(3)
    params = [nn.Parameter(lt.randn(*shape, dtype=dtype)) for shape in SHAPES]
    optimizer = make(params)
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = 0.1 / (1 + step)
        for k, p in enumerate(params):
            p.grad = None if k == step % 7 else lt.randn(*p.shape, dtype=dtype)
        optimizer.step()
    kept = [t for s in optimizer.state.values() for t in s.values() if isinstance(t, lt.Tensor)]
    return [t.detach().numpy().tobytes() for t in [*params, *kept]]


@pytest.mark.parametrize("name", MAKE)
@pytest.mark.parametrize("dtype", [lt.float32, lt.float64])
def test_bits_are_those_of_the_ops(name, dtype):
    assert train(MAKE[name], 0, dtype) == train(MAKE[name], -1, dtype)


def test_what_runs_as_a_program():
    """A step calls no op: it is one kernel a parameter."""
    train(MAKE["adam"], 0)
    p = nn.Parameter(lt.randn(4, 3))
    optimizer = MAKE["adam"]([p])
    p.grad = lt.randn(4, 3)
    optimizer.step()
    with lt.profiler.profile() as profile:
        optimizer.step()
    assert not {"lerp", "lerp_", "sqrt", "sub_"} & {e.name for e in profile.events()}


def test_an_update_of_the_users_runs_as_it_is():
    calls = []

    class Mine(optim.SGD):
        def _update(self, p, g, state, group):
            calls.append(len(calls))
            super()._update(p, g, state, group)

    train(lambda p: Mine(p, 0.1), 0, steps=3)
    assert len(calls) == 3 * len(SHAPES) - 3


def test_a_rate_that_is_a_tensor():
    def make(p):
        optimizer = optim.SGD(p, 0.1, momentum=0.9)
        optimizer.register_step_pre_hook(
            lambda o, *_: o.param_groups[0].update(lr=lt.tensor(o.param_groups[0]["lr"]))
        )
        return optimizer

    assert train(make, 0) == train(make, -1)


def test_settings_that_change_each_step():
    def make(p):
        optimizer = optim.Adam(p, 0.1)
        optimizer.register_step_pre_hook(
            lambda o, *_: o.param_groups[0].update(betas=(o.param_groups[0]["betas"][0] * 0.9, 0.9))
        )
        return optimizer

    assert train(make, 0) == train(make, -1)


def test_parameters_that_share_memory():
    def run(after):
        lt.set_flag("fuse_after", after)
        lt.manual_seed(3)
        whole = lt.randn(4, 3)
        params = [nn.Parameter(whole[k]) for k in range(4)]
        optimizer = optim.SGD(params, 0.1, momentum=0.9)
        for _ in range(3):
            for p in params:
                p.grad = p.detach()  # the parameter's own memory
            optimizer.step()
        return whole.numpy().tobytes()

    assert run(0) == run(-1)


CYCLED = {
    "adam": lambda p: optim.Adam(p, 0.1),
    "radam": lambda p: optim.RAdam(p, 0.1),
    "sgd": lambda p: optim.SGD(p, 0.1, momentum=0.9, weight_decay=0.01),
}


@pytest.mark.parametrize("make", CYCLED.values(), ids=CYCLED)
def test_a_momentum_that_a_schedule_changes(make):
    """It is an input after some values, and leaves room for the programs of other optimizers."""

    def train(after):
        lt.set_flag("fuse_after", after)
        lt.manual_seed(3)
        p = nn.Parameter(lt.randn(4, 3))
        opt = make([p])
        schedule = optim.lr_scheduler.OneCycleLR(opt, 0.2, total_steps=40)
        for i in range(39):
            p.grad = lt.full((4, 3), 0.1 * i - 1)
            opt.step()
            schedule.step()
        return bytes(memoryview(p.detach().numpy()).cast("B"))

    expected = train(-1)
    assert train(2) == expected
    before = len(fused._known)
    assert train(2) == expected and len(fused._known) == before


def test_counts_of_kinds_that_are_gone_are_dropped():
    lt.set_flag("fuse_after", 3)
    p = nn.Parameter(lt.ones(2))
    p.grad = lt.ones(2)
    for i in range(600):  # kinds that have one step each
        optim.SGD([p], 0.1, weight_decay=0.001 + i * 1e-6).step()
    assert len(fused._known) <= fused._MOST
    opt = optim.SGD([p], 0.1, weight_decay=0.5)
    for _ in range(6):
        opt.step()
    assert type(fused.update_for(opt, opt.param_groups[0])[0]) is fused._Update
