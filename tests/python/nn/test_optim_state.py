"""What optimizers remember: loaded, begun anew, and of parameters that came later."""

from collections import defaultdict

import pytest

import lathe as lt
from lathe import nn, optim

MAKE = {
    "momentum": lambda p: optim.SGD(p, 0.1, momentum=0.9),
    "dampening": lambda p: optim.SGD(p, 0.1, momentum=0.9, dampening=0.5),
    "adam": lambda p: optim.Adam(p, 0.1, amsgrad=True),
    "rmsprop": lambda p: optim.RMSprop(p, 0.1, momentum=0.9),
    "adafactor": lambda p: optim.Adafactor(p, 0.1),
    "nadam": lambda p: optim.NAdam(p, 0.1),
    "rprop": lambda p: optim.Rprop(p, 0.1),
}


@pytest.fixture(autouse=True)
def flag():
    before = lt.get_flag("fuse_after")
    yield
    lt.set_flag("fuse_after", before)


def walk(p, step):
    """The parameter after three steps from one place, down one slope."""
    with lt.no_grad():
        p.fill_(1.5)
    for k in range(3):
        p.grad = lt.full_like(p, 1.0 / (k + 1))
        step()
    return p.tolist()


@pytest.mark.parametrize("name", MAKE)
@pytest.mark.parametrize("traced", [False, True])
def test_a_state_that_never_stepped_begins_anew(name, traced):
    p = nn.Parameter(lt.zeros(2))
    want = walk(p, MAKE[name]([p]).step)
    o = MAKE[name]([p])
    fresh = o.state_dict()
    settings = {"param_groups": fresh["param_groups"]}

    def step():
        o.step()

    call = lt.trace(step) if traced else step
    for given in ({**settings, "state": {}}, settings, MAKE[name]([p]).state_dict()):
        for _ in range(2):
            p.grad = lt.full_like(p, 2.0)
            call()
        o.load_state_dict(given)
        assert walk(p, call) == pytest.approx(want, rel=1e-6)  # f32, fused by a trace


def test_what_only_the_last_run_remembered_goes():
    p = nn.Parameter(lt.zeros(2))
    o = optim.LBFGS([p], max_iter=3)

    def closure():
        o.zero_grad()
        loss = ((p - 1) ** 2).sum()
        loss.backward()
        return loss

    fresh = optim.LBFGS([p], max_iter=3).state_dict()
    o.step(closure)
    assert o.state[p]["n_iter"] > 0
    kept = o.state_dict()
    other = optim.LBFGS([p], max_iter=3)
    other.load_state_dict(kept)
    assert other.state[p]["old_dirs"] is not o.state[p]["old_dirs"]
    o.load_state_dict(fresh)
    assert o.state[p] == {}


def test_loaded_settings_are_copies():
    rate = lt.tensor(0.1)
    a = optim.SGD([nn.Parameter(lt.ones(1))], lr=rate)
    b = optim.SGD([nn.Parameter(lt.ones(1))], lr=0.5)
    a.param_groups[0]["mine"] = [1]
    b.load_state_dict(a.state_dict())
    rate.fill_(7.0)
    a.param_groups[0]["mine"].append(2)
    assert b.param_groups[0]["lr"].item() == pytest.approx(0.1)  # f32
    assert b.param_groups[0]["mine"] == [1]


@pytest.mark.parametrize("name", MAKE)
@pytest.mark.parametrize("after", [-1, 0], ids=["ops", "program"])
def test_parameters_that_came_later(name, after):
    lt.set_flag("fuse_after", after)
    p, q, r = (nn.Parameter(lt.zeros(2)) for _ in range(3))
    want = walk(p, MAKE[name]([p]).step)
    o = MAKE[name]([p])
    o.param_groups[0]["params"][0] = q
    o.param_groups[0]["params"].append(r)
    assert set(o.state_dict()["state"]) == set()
    assert walk(q, o.step) == want and walk(r, o.step) == want
    o.state = defaultdict(dict)
    o.param_groups[0]["params"] = [q]
    assert walk(q, o.step) == want
    assert o.state_dict()["state"][0].keys() == MAKE[name]([p]).state[p].keys()
    o.state = {}
    o.load_state_dict({"param_groups": o.state_dict()["param_groups"]})
    assert walk(q, o.step) == want


def test_a_replaced_parameter_of_a_traced_step():
    p, q = nn.Parameter(lt.zeros(2)), nn.Parameter(lt.zeros(2))
    o = optim.Adam([p], 0.1)
    want = walk(p, o.step)
    o.param_groups[0]["params"][0] = q
    step = lt.trace(lambda: o.step())
    assert walk(q, step) == pytest.approx(want, rel=1e-6)  # f32, fused by a trace


def test_a_line_search_of_a_replaced_parameter():
    p, q = nn.Parameter(lt.zeros(2)), nn.Parameter(lt.zeros(2))
    o = optim.LBFGS([p], line_search_fn="strong_wolfe")
    o.param_groups[0]["params"][0] = q

    def closure():
        o.zero_grad()
        loss = ((q - 1) ** 2).sum()
        loss.backward()
        return loss

    o.step(closure)
    assert q.tolist() == pytest.approx([1.0, 1.0], abs=1e-4)  # where the search stops


@pytest.mark.parametrize("default", [lt.float32, lt.float64, lt.bfloat16])
def test_what_is_remembered_as_one_number_is_wide_where_the_default_is(default):
    """As PyTorch's: float64 beside that default dtype, float32 beside any other."""
    names = {"ASGD": ("step", "eta", "mu"), "NAdam": ("step", "mu_product"), "Adam": ("step",)}
    before = lt.get_default_dtype()
    lt.set_default_dtype(default)
    try:
        for name, scalars in names.items():
            p = nn.Parameter(lt.ones(2))
            optimizer = getattr(optim, name)([p], lr=0.01)
            (p * p).sum().backward()
            optimizer.step()
            wanted = lt.float64 if default == lt.float64 else lt.float32
            assert {optimizer.state[p][s].dtype for s in scalars} == {wanted}
    finally:
        lt.set_default_dtype(before)


def test_asgd_in_float64_keeps_its_digits():
    """PyTorch's numbers, with a start of averaging that lies within the steps."""
    before = lt.get_default_dtype()
    lt.set_default_dtype(lt.float64)
    try:
        p = nn.Parameter(lt.ones(1))
        optimizer = optim.ASGD([p], lr=0.1, lambd=0.01, t0=2.0)
        for _ in range(6):
            optimizer.zero_grad()
            (p * p).sum().backward()
            optimizer.step()
        wanted = [0.26091882988629855, 0.3317285184787406]
        assert [p.item(), optimizer.state[p]["ax"].item()] == pytest.approx(wanted, rel=1e-14)
    finally:
        lt.set_default_dtype(before)


@pytest.mark.parametrize("name", MAKE)
def test_a_state_that_was_cleared_can_be_written(name):
    p = nn.Parameter(lt.ones(2))
    o = MAKE[name]([p])
    for forget in (o.state.clear, lambda: o.state.pop(p), lambda: setattr(o, "state", {})):
        p.grad = lt.ones(2)
        o.step()
        assert list(o.state_dict()["state"]) == [0]
        forget()
        assert o.state_dict()["state"] == {}


def test_a_nan_stays_with_its_element_in_adafactor():
    p = nn.Parameter(lt.ones(3))
    o = optim.Adafactor([p], 0.1)
    p.grad = lt.tensor([1.0, float("nan"), 1.0])
    o.step()
    assert p.isnan().tolist() == [False, True, False]
    assert p[0].item() == pytest.approx(0.9)
    p.grad = lt.ones(3)
    o.step()
    assert p[0].item() == pytest.approx(0.8999, abs=1e-6)


def test_state_of_other_than_parameters_is_kept():
    """Whatever a program puts beside the parameters goes into state_dict() and comes back."""
    x = nn.Parameter(lt.ones(2))
    opt = lt.optim.SGD([x], lr=0.1, momentum=0.9)
    x.grad = lt.ones(2)
    opt.step()
    opt.state["note"] = {"seen": 3}
    saved = opt.state_dict()
    assert saved["state"]["note"] == {"seen": 3} and "momentum_buffer" in saved["state"][0]
    other = lt.optim.SGD([nn.Parameter(lt.ones(2))], lr=0.1, momentum=0.9)
    other.load_state_dict(saved)
    assert other.state["note"] == {"seen": 3} and other.state["note"] is not opt.state["note"]


def test_lbfgs_at_a_minimum():
    """A gradient of zeros ends no step, whatever the tolerance."""
    x = nn.Parameter(lt.zeros(2))
    opt = lt.optim.LBFGS([x], tolerance_grad=-1.0)

    def closure():
        opt.zero_grad()
        loss = (x * x).sum()
        loss.backward()
        return loss

    assert opt.step(closure) == 0 and x.tolist() == [0, 0]
