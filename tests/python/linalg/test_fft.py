"""Fourier transforms of any length, and what stft and istft are to each other."""

import numpy as np
import pytest
from scipy import fft

import lathe as lt

RNG = np.random.default_rng(5)
LENGTHS = [1, 2, 3, 4, 5, 7, 8, 12, 30, 49, 53, 64, 101, 105, 127, 128, 211, 1000, 1009, 2310, 4099]


def signal(*shape):
    return (RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)).astype("complex64")


@pytest.mark.parametrize("n", LENGTHS)
def test_every_length_is_as_exact_as_single_precision(n):
    x = signal(2, n)
    for ours, theirs in ((lt.fft.fft, fft.fft), (lt.fft.ifft, fft.ifft)):
        want = theirs(x.astype("complex128"))
        error = np.linalg.norm(ours(lt.tensor(x)).numpy() - want) / np.linalg.norm(want)
        assert error < 5e-8
    real = x.real.copy()
    half = lt.fft.rfft(lt.tensor(real))
    want = fft.rfft(real.astype("float64"))
    assert np.linalg.norm(half.numpy() - want) < 1e-7 * np.linalg.norm(want)
    back = lt.fft.irfft(half, n=n).numpy()
    np.testing.assert_allclose(back, real, atol=1e-6)


@pytest.mark.parametrize("n", [6, 53, 211])
def test_a_line_has_the_same_bits_among_others_and_in_any_layout(n):
    x = signal(9, n)
    whole = lt.fft.fft(lt.tensor(x))
    for i in (0, 8):
        assert lt.equal(whole[i], lt.fft.fft(lt.tensor(x[i])))
    turned = lt.fft.fft(lt.tensor(np.ascontiguousarray(x.T)), dim=0)
    assert turned.numpy().T.tobytes() == whole.numpy().tobytes()
    assert lt.equal(lt.fft.fft(lt.tensor(np.ascontiguousarray(x.T)).transpose(0, 1)), whole)


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
