"""The standard's extension `fft`."""

import lathe as lt

from ._elementwise import named

__all__ = ["fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft",
           "irfft", "irfftn", "rfft", "rfftfreq", "rfftn"]  # fmt: skip


def along_one(name):
    def function(x, /, *, n=None, axis=-1, norm="backward"):
        return getattr(lt.fft, name)(x, n=n, dim=axis, norm=norm)

    return named(name, function)


def along_several(name):
    def function(x, /, *, s=None, axes=None, norm="backward"):
        return getattr(lt.fft, name)(x, s=s, dim=axes, norm=norm)

    return named(name, function)


fft = along_one("fft")
ifft = along_one("ifft")
rfft = along_one("rfft")
irfft = along_one("irfft")
hfft = along_one("hfft")
ihfft = along_one("ihfft")
fftn = along_several("fftn")
ifftn = along_several("ifftn")
rfftn = along_several("rfftn")
irfftn = along_several("irfftn")


def fftfreq(n, /, *, d=1.0, dtype=None, device=None):
    return lt.fft.fftfreq(n, d, dtype=dtype, device=device)


def rfftfreq(n, /, *, d=1.0, dtype=None, device=None):
    return lt.fft.rfftfreq(n, d, dtype=dtype, device=device)


def fftshift(x, /, *, axes=None):
    return lt.fft.fftshift(x, axes)


def ifftshift(x, /, *, axes=None):
    return lt.fft.ifftshift(x, axes)
