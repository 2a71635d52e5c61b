"""A complex parameter trains as the pairs of reals that it is made of, as PyTorch's."""

import pytest

import lathe as lt
from lathe import nn, optim

MAKE = {
    "dampening": lambda p: optim.SGD(p, 0.1, momentum=0.9, dampening=0.3, weight_decay=0.1),
    "amsgrad": lambda p: optim.Adam(p, 0.1, amsgrad=True, weight_decay=0.1),
    "adamw": lambda p: optim.AdamW(p, 0.1, maximize=True),
    "adamax": lambda p: optim.Adamax(p, 0.1),
    "nadam": lambda p: optim.NAdam(p, 0.1),
    "radam": lambda p: optim.RAdam(p, 0.1),
    "rmsprop": lambda p: optim.RMSprop(p, 0.1, momentum=0.9, centered=True),
    "adagrad": lambda p: optim.Adagrad(p, 0.1, initial_accumulator_value=0.5, lr_decay=0.1),
    "adadelta": lambda p: optim.Adadelta(p, 0.1),
    "asgd": lambda p: optim.ASGD(p, 0.1, t0=2),
    "rprop": lambda p: optim.Rprop(p, 0.1),
}
REAL = {lt.complex64: lt.float32, lt.complex128: lt.float64}


@pytest.fixture(autouse=True)
def flag():
    before = lt.get_flag("fuse_after")
    yield
    lt.set_flag("fuse_after", before)


def train(make, dtype, as_complex, traced=False):
    """The parameter as pairs, and its optimizer, after steps along the same gradients."""
    lt.manual_seed(3)

    def drawn():
        pairs = lt.randn(3, 2, 2, dtype=REAL[dtype])
        return lt.view_as_complex(pairs) if as_complex else pairs

    p = nn.Parameter(drawn())
    optimizer = make([p])
    step = lt.trace(lambda: optimizer.step()) if traced else optimizer.step
    for _ in range(6):
        p.grad = drawn()
        step()
    p = p.detach()
    return (lt.view_as_real(p) if as_complex else p).tolist(), optimizer


@pytest.mark.parametrize("name", MAKE)
@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("way", ["ops", "program", "traced"])
def test_pairs_of_reals(name, dtype, way):
    lt.set_flag("fuse_after", 0 if way == "program" else -1)
    want, _ = train(MAKE[name], dtype, False)
    got, optimizer = train(MAKE[name], dtype, True, way == "traced")
    assert got == want
    (p,) = optimizer.param_groups[0]["params"]
    kept = [t for t in optimizer.state[p].values() if t.ndim]
    assert kept and all(t.shape == p.shape and t.dtype == dtype for t in kept)


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_lbfgs(search):
    def run(as_complex):
        pairs = lt.tensor([[1.0, -2.0], [0.5, 3.0]], dtype=lt.float64)
        p = nn.Parameter(lt.view_as_complex(pairs) if as_complex else pairs)
        optimizer = optim.LBFGS([p], lr=0.5, max_iter=4, line_search_fn=search)

        def closure():
            optimizer.zero_grad()
            reals = lt.view_as_real(p) if as_complex else p
            loss = ((reals - 1) ** 4).sum()
            loss.backward()
            return loss

        optimizer.step(closure)
        p = p.detach()
        return (lt.view_as_real(p) if as_complex else p).tolist()

    assert run(True) == run(False)


@pytest.mark.parametrize("kind", [optim.Adafactor, optim.Muon])
def test_refused(kind):
    with pytest.raises(lt.UnsupportedError, match=f"^{kind.__name__}: .*complex"):
        kind([nn.Parameter(lt.ones(2, 2, dtype=lt.complex64))])
    optimizer = kind([nn.Parameter(lt.ones(2, 2))])
    with pytest.raises(lt.UnsupportedError, match="next: .*Adam"):
        optimizer.add_param_group({"params": nn.Parameter(lt.ones(2, 2, dtype=lt.complex64))})
    assert len(optimizer.param_groups) == 1


def test_a_vector_that_came_later_is_no_matrix():
    optimizer = optim.Muon([nn.Parameter(lt.ones(2, 2))])
    with pytest.raises(lt.ValueError, match="matrices"):
        optimizer.add_param_group({"params": nn.Parameter(lt.ones(2))})
