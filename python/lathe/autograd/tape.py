"""A tape as a block, and PyTorch's old name for a tensor with history."""

from .. import ops
from .._grad_mode import enable_grad
from .._lathe import Tensor
from .._lathe import grad as grad_of


class GradientTape:
    """A block whose ops are recorded for gradient(): leaves that require grad, and what watch()
    names.

        with lt.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        tape.gradient(y, x)

    persistent: gradient() may be called more than once.
    """

    def __init__(self, persistent=False):
        self._persistent = persistent
        self._watched = []
        self._mode = enable_grad()

    def __enter__(self):
        self._mode.__enter__()
        return self

    def __exit__(self, *raised):
        self._mode.__exit__(*raised)

    def watch(self, *tensors):
        """Records what is computed from these from now on; they stay as they are otherwise."""
        for x in tensors:
            if not x.requires_grad:
                x.requires_grad_()
                self._watched.append(x)

    def gradient(self, target, sources):
        """The gradient of target (of its sum, where it has several elements) by one source or by
        a list of them; None for one that target does not depend on."""
        one = isinstance(sources, Tensor)
        seed = ops.ones_like(target)
        try:
            found = grad_of(
                target,
                [sources] if one else list(sources),
                [seed],
                retain_graph=self._persistent,
                allow_unused=True,
            )
        finally:
            if not self._persistent:
                self.stop()
        return found[0] if one else list(found)

    def stop(self):
        """What watch() named no longer requires grad."""
        for x in self._watched:
            x.requires_grad_(False)
        self._watched = []


def Variable(data, requires_grad=False):  # noqa: N802
    """PyTorch's old name: a tensor over data's memory, without its history."""
    return data.detach().requires_grad_(requires_grad)
