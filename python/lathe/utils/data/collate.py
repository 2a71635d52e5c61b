"""Items as one batch."""

from collections.abc import Mapping, MutableMapping
from copy import copy

from ... import _lathe, ops
from ..._errors import typed
from ..._functions import as_tensor
from ..._lathe import Tensor


@typed
def default_collate(batch):
    """Items as one batch: tensors and numbers stacked; tuples, lists and dicts item by item.

    The columns of tuples are in a list, as they are in PyTorch; named tuples and dicts stay what
    they are.
    """
    return _collated(batch)


def _like(first, items):
    """A list as the kind of sequence that the first one was: of a tuple's items it stays a list."""
    if hasattr(first, "_fields"):
        return type(first)(*items)
    return items if isinstance(first, tuple) or type(first) is list else type(first)(items)


def _mapping_like(first, values):
    if isinstance(first, MutableMapping):
        made = copy(first)
        made.update(values)
        return made
    try:
        return type(first)(values)
    except TypeError:  # it is made otherwise
        return values


def _collated(items):
    first = items[0]
    if isinstance(first, Tensor):
        return ops.stack(items)
    if hasattr(first, "__array_interface__") and getattr(first, "shape", None) is not None:
        return ops.stack([as_tensor(item) for item in items])
    if isinstance(first, Mapping):
        return _mapping_like(first, {k: _collated([i[k] for i in items]) for k in first})
    if isinstance(first, (tuple, list)):
        if len({len(item) for item in items}) > 1:
            raise _lathe.ValueError(
                "the items of a batch have different lengths", op="default_collate",
                got=sorted({len(item) for item in items}), expected="one length",
                next="pass collate_fn, or pad them",
            )  # fmt: skip
        return _like(first, [_collated(column) for column in zip(*items)])
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
        return _mapping_like(data, {k: _converted(v) for k, v in data.items()})
    if isinstance(data, (tuple, list)):
        return _like(data, [_converted(v) for v in data])
    return as_tensor(data) if hasattr(data, "__array_interface__") else data
