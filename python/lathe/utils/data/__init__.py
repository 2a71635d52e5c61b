"""Datasets and batches, in this process."""

import random

from ... import _lathe, ops
from ..._errors import typed
from ..._lathe import Tensor


class Dataset:
    """Anything with __len__ and __getitem__."""

    def __getitem__(self, index):
        raise NotImplementedError

    def __len__(self):
        raise NotImplementedError


class TensorDataset(Dataset):
    """Rows of several tensors that go together: dataset[i] is (a[i], b[i], ...)."""

    def __init__(self, *tensors):
        if len({t.shape[0] for t in tensors}) > 1:
            raise _lathe.ShapeError(
                "the first sizes differ", op="TensorDataset", got=[list(t.shape) for t in tensors]
            )
        self.tensors = tensors

    def __getitem__(self, index):
        return tuple(t[index] for t in self.tensors)

    @typed
    def __len__(self):
        return int(self.tensors[0].shape[0])


class Subset(Dataset):
    """The items of a dataset that `indices` name."""

    def __init__(self, dataset, indices):
        self.dataset, self.indices = dataset, list(indices)

    def __getitem__(self, index):
        return self.dataset[self.indices[index]]

    def __len__(self):
        return len(self.indices)


@typed
def default_collate(items):
    """A batch of items: tensors and numbers are stacked; tuples, lists and dicts item by item."""
    return _collated(items)


def _collated(items):
    first = items[0]
    if isinstance(first, Tensor):
        return ops.stack(items)
    if isinstance(first, dict):
        return {k: _collated([i[k] for i in items]) for k in first}
    if isinstance(first, (tuple, list)):
        return type(first)(_collated(list(column)) for column in zip(*items))
    if isinstance(first, str):
        return items
    return _lathe.tensor(items)


class DataLoader:
    """Iterates over a dataset in batches.

    shuffle: a new order each time, from `seed` and the number of the pass; drop_last: without a
    shorter last batch; collate_fn(items): how items become a batch.
    """

    def __init__(
        self, dataset, batch_size=1, shuffle=False, *, collate_fn=None, drop_last=False, seed=0
    ):
        if batch_size < 1:
            raise _lathe.ValueError(
                "a batch has one item at least", op="DataLoader", got=batch_size
            )
        self.dataset, self.batch_size, self.shuffle = dataset, batch_size, shuffle
        self.collate_fn = default_collate if collate_fn is None else collate_fn
        self.drop_last, self.seed = drop_last, seed
        self._plain = collate_fn is None and isinstance(dataset, TensorDataset)
        self._pass = 0

    def __len__(self):
        full, rest = divmod(len(self.dataset), self.batch_size)
        return full + (1 if rest and not self.drop_last else 0)

    def __iter__(self):
        order = list(range(len(self.dataset)))
        if self.shuffle:
            random.Random(f"{self.seed}:{self._pass}").shuffle(order)
        self._pass += 1
        for i in range(len(self)):
            chosen = order[i * self.batch_size : (i + 1) * self.batch_size]
            if self._plain:  # one gather a tensor, instead of one a row
                index = _lathe.tensor(chosen)
                yield tuple(ops.index_select(t, 0, index) for t in self.dataset.tensors)
            else:
                yield self.collate_fn([self.dataset[k] for k in chosen])


@typed
def random_split(dataset, lengths, seed=0):
    """Parts of the given lengths (or fractions of 1), drawn without repetition."""
    total = len(dataset)
    if sum(lengths) != total:
        if abs(sum(lengths) - 1) > 1e-9:
            raise _lathe.ValueError(
                f"the lengths do not add up to {total}, or to 1", op="random_split", got=lengths
            )
        sizes = [int(total * f) for f in lengths]
        for i in range(total - sum(sizes)):
            sizes[i % len(sizes)] += 1
        lengths = sizes
    order = list(range(total))
    random.Random(seed).shuffle(order)
    parts, at = [], 0
    for n in lengths:
        parts.append(Subset(dataset, order[at : at + n]))
        at += n
    return parts
