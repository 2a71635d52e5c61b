"""Items as one batch."""

from collections.abc import Mapping

from ... import _lathe, ops
from ..._errors import typed
from ..._functions import as_tensor
from ..._lathe import Tensor


@typed
def default_collate(batch):
    """Items as one batch: tensors and numbers stacked; tuples, lists and dicts item by item."""
    return _collated(batch)


def _like(first, items):
    """A list as the kind of sequence that the first one was."""
    if hasattr(first, "_fields"):
        return type(first)(*items)
    return type(first)(items) if isinstance(first, (tuple, list)) else items


def _collated(items):
    first = items[0]
    if isinstance(first, Tensor):
        return ops.stack(items)
    if hasattr(first, "__array_interface__") and getattr(first, "shape", None) is not None:
        return ops.stack([as_tensor(item) for item in items])
    if isinstance(first, Mapping):
        return {k: _collated([i[k] for i in items]) for k in first}
    if isinstance(first, (tuple, list)):
        if len({len(item) for item in items}) > 1:
            raise _lathe.ValueError(
                "the items of a batch have different lengths", op="default_collate",
                got=sorted({len(item) for item in items}), expected="one length",
                next="pass collate_fn, or pad them",
            )  # fmt: skip
        return _like(first, [_collated(list(column)) for column in zip(*items)])
    if isinstance(first, (str, bytes)):
        return items
    if isinstance(first, float):
        return _lathe.tensor(items, dtype=_lathe.float64)
    return _lathe.tensor(items)


@typed
def default_convert(data):
    """An item without a batch: arrays become tensors, in tuples, lists and dicts too."""
    return _converted(data)


def _converted(data):
    if isinstance(data, Mapping):
        return {k: _converted(v) for k, v in data.items()}
    if isinstance(data, (tuple, list)):
        return _like(data, [_converted(v) for v in data])
    return as_tensor(data) if hasattr(data, "__array_interface__") else data
