"""What may be changed about the history that is being recorded: how tensors are saved for it, and
hooks on its gradients."""

from .. import _lathe
from .._errors import typed
from .._grad_mode import Block, _Mode
from .._lathe import GradFn as Node

__all__ = [
    "Node", "disable_saved_tensors_hooks", "register_multi_grad_hook", "save_on_cpu",
    "saved_tensors_hooks",
]  # fmt: skip

_refused = []  # messages of disable_saved_tensors_hooks, innermost last


class saved_tensors_hooks(Block):
    """A block in which pack_hook(tensor) decides what is kept of a tensor that a derivative will
    read, and unpack_hook(that) gives the tensor back in backward()."""

    @typed
    def __init__(self, pack_hook, unpack_hook):
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self):
        if _refused:
            raise _lathe.AutogradError(
                _refused[-1], op="saved_tensors_hooks", got="a block inside of one that refuses it",
                expected="no disable_saved_tensors_hooks() around it",
                next="leave that block first",
            )  # fmt: skip
        _lathe._push_packer(self.pack_hook, self.unpack_hook)
        return self

    def __exit__(self, *_):
        _lathe._pop_packer()


class save_on_cpu(saved_tensors_hooks):
    """A block in which what derivatives will read is kept on the cpu."""

    @typed
    def __init__(self, pin_memory=False, device_type="cuda"):
        super().__init__(
            lambda tensor: (tensor.device, tensor.cpu()), lambda kept: kept[1].to(device=kept[0])
        )


class disable_saved_tensors_hooks(_Mode):
    """A block in which saved_tensors_hooks are refused with this message."""

    @typed
    def __init__(self, error_message):
        self._message = error_message

    def __enter__(self):
        _refused.append(self._message)
        return self

    def __exit__(self, *_):
        _refused.pop()


class _Handle:
    def __init__(self, handles):
        self._handles = handles

    def remove(self):
        for handle in self._handles:
            handle.remove()


@typed
def register_multi_grad_hook(tensors, fn, *, mode="all"):  # not an op: a name
    """fn(gradients) once those of all tensors are there, None for one that this backward() does not
    reach; with mode="any", fn(gradient) for the first that is. Each backward() counts anew."""
    tensors, runs = list(tensors), {}  # by number: the gradients of a backward() that runs

    def hook_for(i):
        def hook(grad):
            run = _lathe._current_backward()
            first = run not in runs
            seen = runs.setdefault(run, {})
            if first:
                _lathe._after_backward(lambda: end(run))
            if first and mode == "any":  # not an op: a name
                fn(grad)
            seen[i] = grad if mode == "all" else None  # not an op: a name
            if mode == "all" and len(seen) == len(tensors):  # not an op: a name
                fn([seen[k] for k in range(len(tensors))])

        return hook

    def end(run):
        seen = runs.pop(run)
        if mode == "all" and len(seen) < len(tensors):  # not an op: a name
            fn([seen.get(k) for k in range(len(tensors))])

    return _Handle([t.register_hook(hook_for(i)) for i, t in enumerate(tensors)])
