"""einops over our tensors: import this module once, then `einops.rearrange(x, ...)` takes them.

einops finds the class by itself: it looks through the subclasses of its AbstractBackend.
"""

from einops._backends import AbstractBackend

import lathe as lt


class LatheBackend(AbstractBackend):
    framework_name = "lathe"

    def is_appropriate_type(self, tensor):
        return isinstance(tensor, lt.Tensor)

    def from_numpy(self, x):
        made = lt.tensor(x)
        return made.requires_grad_() if made.is_floating_point() else made

    def to_numpy(self, x):
        return x.detach().numpy()

    def arange(self, start, stop):
        return lt.arange(start, stop)

    def is_float_type(self, x):
        return x.is_floating_point()

    def reshape(self, x, shape):
        return x.reshape(tuple(shape))

    def transpose(self, x, axes):
        return x.permute(tuple(axes))

    def reduce(self, x, operation, axes):
        named = {"min": "amin", "max": "amax"}.get(operation, operation)
        if operation != "prod":
            return getattr(x, named)(dim=tuple(axes))
        for axis in sorted(axes, reverse=True):  # a product is along one axis
            x = x.prod(dim=axis)
        return x

    def stack_on_zeroth_dimension(self, tensors):
        return lt.stack(tensors)

    def concat(self, tensors, axis):
        return lt.cat(tensors, dim=axis)

    def add_axis(self, x, new_position):
        return x.unsqueeze(new_position)

    def tile(self, x, repeats):
        return x.repeat(tuple(repeats))

    def einsum(self, pattern, *x):
        return lt.einsum(pattern, *x)

    def layers(self):
        from . import einops_layers

        return einops_layers
