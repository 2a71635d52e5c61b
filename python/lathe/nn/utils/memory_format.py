"""Weights of convolutions in another order in memory."""

from ..conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]


def _convert(module, kinds, memory_format):
    for part in module.modules():
        if isinstance(part, kinds):
            part.weight.data = part.weight.detach().clone(memory_format=memory_format)
    return module


def convert_conv2d_weight_memory_format(module, memory_format):
    """The module, whose Conv2d and ConvTranspose2d now keep their weights in this order."""
    return _convert(module, (Conv2d, ConvTranspose2d), memory_format)


def convert_conv3d_weight_memory_format(module, memory_format):
    """The module, whose Conv3d and ConvTranspose3d now keep their weights in this order."""
    return _convert(module, (Conv3d, ConvTranspose3d), memory_format)
