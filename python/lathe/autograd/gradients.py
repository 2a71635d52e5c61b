"""backward with all of PyTorch's arguments, over that of the tape, and anomaly detection."""

from .. import _lathe
from .._errors import typed
from .._grad_mode import _Mode
from .._lathe import Tensor

_set_check = _lathe._set_check_nan


def _list(tensors):
    """A list of tensors, if there are several or one; what is neither is refused by the tape."""
    if isinstance(tensors, Tensor):
        return [tensors]
    if not hasattr(tensors, "__iter__"):
        return tensors
    found = []
    for tensor in tensors:  # one by one: what is no tensor may come from what never ends
        if not isinstance(tensor, (Tensor, type(None))):
            return [tensor]
        found.append(tensor)
    return found


@typed
def backward(
    tensors, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None,
    inputs=None,
):  # fmt: skip
    """Adds the gradients of the sum of `tensors` to the .grad of every leaf they depend on, or of
    `inputs` alone.

    grad_tensors: what each is multiplied by; may be left out for tensors of one element.
    """
    if grad_variables is not None:
        grad_tensors = grad_variables
    if inputs is None:
        return _lathe.backward(tensors, grad_tensors, retain_graph, create_graph)
    inputs = _list(inputs)
    if not inputs:
        raise _lathe.ValueError(
            "there is nothing to collect gradients for", op="backward", got="inputs=[]",
            expected="one tensor or more", next="leave inputs out for all leaves",
        )  # fmt: skip
    found = _lathe.grad(
        tensors, inputs, grad_tensors, retain_graph, create_graph, allow_unused=True
    )
    before = _lathe._set_grad_enabled(create_graph)
    try:
        for x, g in zip(inputs, found):
            if g is None:
                continue
            if x.grad is None or create_graph:
                x.grad = g if x.grad is None else x.grad + g
            else:
                x.grad.add_(g)
    finally:
        _lathe._set_grad_enabled(before)


class detect_anomaly(_Mode):
    """A block in which a NaN that a derivative makes is an AutogradError, with the line of the
    forward pass that it is the derivative of."""

    @typed
    def __init__(self, check_nan=True):
        self._on, self._before = check_nan, []

    def __enter__(self):
        self._before.append(_set_check(self._on))
        return self

    def __exit__(self, *_):
        _set_check(self._before.pop())

    def __call__(self, function):
        from functools import wraps

        @wraps(function)
        def wrapper(*args, **kwargs):
            with detect_anomaly(self._on):
                return function(*args, **kwargs)

        return wrapper


class set_detect_anomaly(detect_anomaly):
    """Switches at once; as a block it switches back at the end."""

    @typed
    def __init__(self, mode, check_nan=True):
        self._on = bool(mode) and check_nan
        self._before, self._outer = [], _set_check(self._on)

    def __enter__(self):
        self._before.append(self._outer)
        return self


def is_anomaly_enabled():
    """Whether detect_anomaly is on, on this thread."""
    on = _set_check(False)
    _set_check(on)
    return on
