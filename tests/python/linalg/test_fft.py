"""Fourier transforms of any length, and what stft and istft are to each other."""

import numpy as np
import pytest
from scipy import fft

import lathe as lt

RNG = np.random.default_rng(5)
LENGTHS = [1, 2, 3, 4, 5, 7, 8, 12, 30, 49, 53, 64, 101, 105, 127, 128, 211, 1000, 1009, 2310, 4099]
# Primes small and large, powers of each radix, products; from 10,000 on the lines are split.
LINES = [*LENGTHS, 6, 9, 11, 16, 25, 81, 121, 343, 997, 1024, 10000, 10007, 16384, 20020]
WIDE = {"complex64": "complex128", "complex128": "clongdouble"}


def signal(*shape, dtype="complex64"):
    return (RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)).astype(dtype)


def distance(ours, want):
    return np.linalg.norm(ours.numpy() - want) / np.linalg.norm(want)


@pytest.mark.parametrize("n", [*LENGTHS, 1 << 16])
@pytest.mark.parametrize("dtype, unit", [("complex64", 6e-8), ("complex128", 1.1e-16)])
def test_every_length_is_as_exact_as_its_precision(n, dtype, unit):
    """Errors grow by the root of the number of passes; a prime is three transforms of twice it."""
    x = signal(9, n, dtype=dtype)
    most = unit * (2 + np.log2(n) / 2)
    for ours, theirs in ((lt.fft.fft, fft.fft), (lt.fft.ifft, fft.ifft)):
        assert distance(ours(lt.tensor(x)), theirs(x.astype(WIDE[dtype]))) < most
    real = x.real.copy()
    half = lt.fft.rfft(lt.tensor(real))
    assert distance(half, fft.rfft(real.astype(WIDE[dtype]).real)) < most
    assert distance(lt.fft.irfft(half, n=n), real) < 2 * most


def bits(t):
    return t.numpy().tobytes()


def strided(x):
    """The same numbers, along lines whose elements lie apart."""
    room = np.zeros((len(x), 3 * x.shape[1]), x.dtype)
    room[:, ::3] = x
    return lt.tensor(room)[:, ::3]


@pytest.mark.parametrize("n", LINES)
@pytest.mark.parametrize("dtype", list(WIDE))
def test_a_line_has_the_same_bits_among_others_and_in_any_layout(n, dtype):
    x = signal(19, n, dtype=dtype)
    half = fft.rfft(x.real)
    cases = [
        (lt.fft.fft, x),
        (lt.fft.ifft, x),
        (lt.fft.rfft, x.real.copy()),
        (lambda t, dim=-1: lt.fft.irfft(t, n=n, dim=dim), half),
        (lambda t, dim=-1: lt.fft.hfft(t, n=n, dim=dim), half),
    ]
    for function, given in cases:
        whole = function(lt.tensor(given))
        for i in (0, 7, 18):
            assert bits(function(lt.tensor(given[i]))) == bits(whole[i])
        assert bits(function(lt.tensor(given[3:6]))) == bits(whole[3:6])
        assert bits(function(strided(given))) == bits(whole)
        turned = np.ascontiguousarray(given.T)
        assert bits(function(lt.tensor(turned), dim=0).transpose(0, 1)) == bits(whole)
        assert bits(function(lt.tensor(turned).transpose(0, 1))) == bits(whole)


@pytest.mark.parametrize("n", [53, 64, 1000, 1009, 16384])
def test_every_instruction_set_gives_the_same_bits(n):
    x = lt.tensor(signal(11, n))
    before = lt.get_flag("isa")
    found = []
    for isa in (before, "portable"):
        lt.set_flag("isa", isa)
        found.append([bits(f(x)) for f in (lt.fft.fft, lt.fft.irfft)] + [bits(lt.fft.rfft(x.real))])
    lt.set_flag("isa", before)
    assert found[0] == found[1]


def test_refusals():
    with pytest.raises(lt.ShapeError, match="needs a point"):
        lt.fft.fft(lt.zeros((2, 0)))
    with pytest.raises(lt.ValueError, match="unknown norm"):
        lt.fft.fft(lt.ones(3), norm="none")
    with pytest.raises(lt.DTypeError, match="complex"):
        lt.fft.rfft(lt.tensor(signal(4)))
    with pytest.raises(lt.ShapeError, match="twice"):
        lt.fft.fftn(lt.ones((2, 3)), dim=(0, 0))
    with pytest.raises(lt.IndexError):
        lt.fft.fft(lt.ones(3), dim=1)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("hop", [4, 5])
def test_istft_gives_back_what_stft_takes(center, normalized, hop):
    x = lt.tensor(RNG.standard_normal((2, 80)).astype("float32"))
    window = lt.hann_window(16) + 0.1
    spectrum = lt.stft(
        x, 16, hop, window=window, center=center, normalized=normalized, return_complex=True
    )
    back = lt.istft(spectrum, 16, hop, window=window, center=center, normalized=normalized)
    np.testing.assert_allclose(back.numpy(), x.numpy()[:, : back.shape[1]], atol=1e-5)
    assert back.shape[1] > 60
