"""Discrete Fourier transforms under the names of torch.fft: op definitions."""

from ._modules import entries

__getattr__, __dir__ = entries(globals(), "fft")
