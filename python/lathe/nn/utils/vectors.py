"""All parameters as one vector, and back."""

from ... import _lathe, ops
from ..._errors import typed
from ..._grad_mode import no_grad


@typed
def parameters_to_vector(parameters):
    """All parameters joined into one vector."""
    return ops.cat([p.reshape(-1) for p in parameters])


@no_grad()
@typed
def vector_to_parameters(vec, parameters):
    """Writes the elements of a vector over the parameters, one after the other."""
    parameters, at = list(parameters), 0
    total = sum(p.numel() for p in parameters)
    if vec.ndim != 1 or vec.shape[0] < total:
        raise _lathe.ShapeError(
            "the vector has not as many elements as the parameters", op="vector_to_parameters",
            got=list(vec.shape), expected=f"[{total}]",
            next="make it with parameters_to_vector()",
        )  # fmt: skip
    for p in parameters:
        p.copy_(vec[at : at + p.numel()].reshape(p.shape))
        at += p.numel()
