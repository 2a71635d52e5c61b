"""conj(), adjoint(), mH and H of a complex tensor are copies, where PyTorch has views: a write to
one is refused, since it would be lost. Of a real tensor they are the tensor, or views of it."""

import pytest

import lathe as lt
import lathe.array_api


def z():
    return lt.complex(lt.tensor([[1.0, 2.0], [3.0, 4.0]]), lt.tensor([[5.0, 6.0], [7.0, 8.0]]))


VIEWS = {
    "conj": lambda t: t.conj(),
    "lt.conj": lt.conj,
    "input=": lambda t: lt.conj(input=t),
    "adjoint": lambda t: t.adjoint(),
    "lt.adjoint": lt.adjoint,
    "mH": lambda t: t.mH,
    "H": lambda t: t.H,
}
WRITES = {
    "setitem": lambda t: t.__setitem__((0, 0), 1.0),
    "add_": lambda t: t.add_(1.0),
    "zero_": lambda t: t.zero_(),
    "copy_": lambda t: t.copy_(lt.zeros_like(t)),
    "a view of it": lambda t: t[0].mul_(2.0),
    "its transpose": lambda t: t.T[1:].fill_(0),
    "its real part": lambda t: t.real.fill_(0),
    "detached": lambda t: t.detach().mul_(2.0),
    "out=": lambda t: lt.add(t, t, out=t),
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_write_to_a_conjugate_is_refused(view, write):
    with pytest.raises(lt.AliasError, match="copies, so the write would not reach"):
        write(view(z()))

    def f(t):
        write(view(t))
        return t * 2

    for mode in (lt.trace, lt.script):
        # A capture refuses any write to what is detached.
        with pytest.raises((lt.AliasError, lt.TraceError), match="copies, so the|or detached"):
            mode(f)(z())


@pytest.mark.parametrize("mode", [lt.trace, lt.script])
def test_what_a_program_gives_refuses_writes_as_well(mode):
    f = mode(lambda t: t.conj())
    g = mode(lambda t: (t * 2, t.mH, 1))
    for _ in range(2):
        with pytest.raises(lt.AliasError):
            f(z()).add_(1)
        double, turned, _ = g(z())
        double.add_(1)
        with pytest.raises(lt.AliasError):
            turned.add_(1)


@pytest.mark.parametrize("mode", [lt.trace, lt.script])
def test_a_program_does_not_write_to_one_that_it_is_given(mode):
    def f(t):
        t.add_(1)
        return t * 2

    program = mode(f)
    program(z())
    with pytest.raises(lt.AliasError):
        program(z().conj())


def test_copies_of_it_are_tensors_of_their_own():
    for copied in (
        lambda t: t.conj().clone(),
        lambda t: t.conj_physical(),
        lambda t: t.conj().resolve_conj(),
        lambda t: t.conj() * 1,
        lambda t: lathe.array_api.conj(t),
        lambda t: lt.trace(lambda u: u.conj().clone())(t),
    ):
        got = copied(z())
        got.add_(1)
        assert got.tolist() == [[2 - 5j, 3 - 6j], [4 - 7j, 5 - 8j]]


def test_reading_it_and_its_gradients_go_on_as_before():
    t = z().requires_grad_()
    (t.conj() * t).real.sum().backward()
    assert t.grad.tolist() == [[2 + 10j, 4 + 12j], [6 + 14j, 8 + 16j]]
    t.grad.mul_(2)  # a gradient that a conjugate went into


def test_of_a_real_tensor_writes_go_through():
    for view in VIEWS.values():
        t = lt.tensor([[1.0, 2.0], [3.0, 4.0]])
        view(t).mul_(2)
        assert t.tolist() == [[2, 4], [6, 8]]

        def f(t, view=view):
            view(t).mul_(2)
            return t + 1

        t = lt.tensor([[1.0, 2.0], [3.0, 4.0]])
        assert lt.trace(f)(t).tolist() == [[3, 5], [7, 9]]
        assert t.tolist() == [[2, 4], [6, 8]]
    t = lt.ones(2)
    assert t.conj() is t
