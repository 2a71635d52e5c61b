"""Datasets: what has items by number, what gives items one after the other, and datasets of
datasets."""

from bisect import bisect_right
from itertools import accumulate
from typing import Generic

from ... import _lathe
from ..._errors import typed
from .samplers import T, shuffled


class Dataset(Generic[T]):
    """Anything with __len__ and __getitem__. One with __getitems__(numbers) gives a whole batch."""

    def __getitem__(self, index):
        raise NotImplementedError

    def __add__(self, other):
        return ConcatDataset([self, other])


class IterableDataset(Dataset):
    """Items one after the other: a subclass defines __iter__. Each worker of a loader runs one of
    its own, and asks get_worker_info() which items are its."""

    def __iter__(self):
        raise NotImplementedError

    def __add__(self, other):
        return ChainDataset([self, other])


class TensorDataset(Dataset):
    """Rows of several tensors that go together: dataset[i] is (a[i], b[i], ...)."""

    @typed
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


class StackDataset(Dataset):
    """Items of several datasets that go together: tuples of them, or dicts by the names given."""

    @typed
    def __init__(self, *args, **kwargs):
        self.datasets = kwargs or args
        sizes = {len(d) for d in (kwargs.values() if kwargs else args)}
        if len(sizes) != 1 or (args and kwargs):
            raise _lathe.ValueError(
                "the datasets have not one size, or some have names and some have none",
                op="StackDataset", got=sorted(sizes),
                expected="one size, and names for all or none",
                next="take a Subset of the longer ones",
            )  # fmt: skip

    def __getitem__(self, index):
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __len__(self):
        parts = self.datasets.values() if isinstance(self.datasets, dict) else self.datasets
        return len(next(iter(parts)))


class ConcatDataset(Dataset):
    """The items of several datasets, one dataset after the other."""

    @typed
    def __init__(self, datasets):
        self.datasets = list(datasets)
        if not self.datasets:
            raise _lathe.ValueError(
                "there is no dataset", op="ConcatDataset", got="[]", expected="one or more",
                next="give the datasets",
            )  # fmt: skip
        if any(isinstance(d, IterableDataset) for d in self.datasets):
            raise _lathe.TypeError(
                "an IterableDataset has no items by number", op="ConcatDataset",
                got="an IterableDataset", expected="datasets with __getitem__",
                next="take ChainDataset",
            )  # fmt: skip
        self.cumulative_sizes = list(accumulate(len(d) for d in self.datasets))

    def __len__(self):
        return self.cumulative_sizes[-1]

    def __getitem__(self, index):
        total = len(self)
        if not -total <= index < total:
            raise _lathe.IndexError(
                "there is no such item", op="ConcatDataset", got=index,
                expected=f"at least -{total} and below {total}", next="check the number",
            )  # fmt: skip
        index %= total
        which = bisect_right(self.cumulative_sizes, index)
        return self.datasets[which][index - (self.cumulative_sizes[which - 1] if which else 0)]


class ChainDataset(IterableDataset):
    """The items of several iterable datasets, one dataset after the other."""

    @typed
    def __init__(self, datasets):
        self.datasets = list(datasets)

    def __iter__(self):
        for dataset in self.datasets:
            yield from dataset

    def __len__(self):
        return sum(len(d) for d in self.datasets)


class Subset(Dataset):
    """The items of a dataset that `indices` name."""

    @typed
    def __init__(self, dataset, indices):
        self.dataset, self.indices = dataset, list(indices)

    def __getitem__(self, index):
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __len__(self):
        return len(self.indices)


@typed
def random_split(dataset, lengths, generator=None, *, seed=None):
    """Parts of the given lengths (or fractions of 1), drawn without repetition by Lathe's stream
    (lathe.manual_seed), by a generator, or from `seed`."""
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
    order = shuffled(total, seed, generator)
    parts, at = [], 0
    for n in lengths:
        parts.append(Subset(dataset, order[at : at + n]))
        at += n
    return parts
