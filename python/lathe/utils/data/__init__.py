"""Datasets and batches, in this process.

What is drawn here (a loader's orders, a split) is drawn by a generator of its own, whose seed is
given, or else the next number of Lathe's: lathe.manual_seed then decides.
"""

import random

from ... import _lathe, ops
from ..._arguments import default_only
from ..._errors import typed
from ..._functions import as_tensor
from ..._lathe import Tensor

_SEED = "there is one generator, which lathe.manual_seed sets; seed=... gives a draw its own"


def _shuffled(count, seed):
    """0..count-1 in an order that the seed decides; None: drawn by Lathe's generator."""
    order = list(range(count))
    if seed is None:
        seed = str(ops.randint(0, 1 << 32, (2,)).tolist())
    random.Random(seed).shuffle(order)
    return order


class Dataset:
    """Anything with __len__ and __getitem__."""

    def __getitem__(self, index):
        raise NotImplementedError

    def __len__(self):
        raise NotImplementedError


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


class Subset(Dataset):
    """The items of a dataset that `indices` name."""

    @typed
    def __init__(self, dataset, indices):
        self.dataset, self.indices = dataset, list(indices)

    def __getitem__(self, index):
        return self.dataset[self.indices[index]]

    def __len__(self):
        return len(self.indices)


@typed
def default_collate(batch):
    """Items as one batch: tensors and numbers stacked; tuples, lists and dicts item by item."""
    return _collated(batch)


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


@typed
def default_convert(data):
    """An item without a batch: arrays become tensors, in tuples, lists and dicts too."""
    return _converted(data)


def _converted(data):
    if isinstance(data, dict):
        return {k: _converted(v) for k, v in data.items()}
    if isinstance(data, (tuple, list)):
        return type(data)(_converted(v) for v in data)
    return as_tensor(data) if hasattr(data, "__array_interface__") else data


class DataLoader:
    """Iterates over a dataset in batches, in this process.

    shuffle: a new order each time, drawn by Lathe's generator (lathe.manual_seed), or from `seed`
    and the number of the pass; drop_last: without a shorter last batch; collate_fn(items): how
    items become a batch. batch_size=None: item by item, collate_fn(item) if it is given.
    """

    @default_only(
        sampler="give a Subset of the dataset: its indices are the order",
        batch_sampler="give a Subset of the dataset: its indices are the order",
        num_workers="leave it out: batches are made in this process",
        pin_memory="leave it out: there is no other device to copy to from pinned memory",
        timeout=None,
        worker_init_fn=None,
        multiprocessing_context=None,
        generator=_SEED,
        prefetch_factor=None,
        persistent_workers=None,
        pin_memory_device=None,
        in_order="leave it out: batches come in order",
    )
    def __init__(
        self,
        dataset,
        batch_size=1,
        shuffle=None,
        sampler=None,
        batch_sampler=None,
        num_workers=0,
        collate_fn=None,
        pin_memory=False,
        drop_last=False,
        timeout=0,
        worker_init_fn=None,
        multiprocessing_context=None,
        generator=None,
        *,
        prefetch_factor=None,
        persistent_workers=False,
        pin_memory_device="",
        in_order=True,
        seed=None,
    ):
        if batch_size is not None and batch_size < 1:
            raise _lathe.ValueError(
                "a batch has one item at least", op="DataLoader", got=batch_size
            )
        if batch_size is None and drop_last:
            raise _lathe.ValueError(
                "without batches there is no last one to drop",
                op="DataLoader",
                got="batch_size=None, drop_last=True",
                expected="a batch_size, or drop_last=False",
                next="leave drop_last out",
            )
        self.dataset, self.batch_size, self.shuffle = dataset, batch_size, bool(shuffle)
        self._plain = collate_fn is None and isinstance(dataset, TensorDataset)
        if collate_fn is None:
            collate_fn = default_convert if batch_size is None else default_collate
        self.collate_fn, self.drop_last, self.seed = collate_fn, drop_last, seed
        self._pass = 0

    def __len__(self):
        full, rest = divmod(len(self.dataset), self.batch_size or 1)
        return full + (1 if rest and not self.drop_last else 0)

    def __iter__(self):
        order = range(len(self.dataset))
        if self.shuffle:
            seed = None if self.seed is None else f"{self.seed}:{self._pass}"
            order = _shuffled(len(order), seed)
        self._pass += 1
        if self.batch_size is None:
            for k in order:
                yield self.collate_fn(self.dataset[k])
            return
        for i in range(len(self)):
            chosen = order[i * self.batch_size : (i + 1) * self.batch_size]
            if self._plain:  # one gather a tensor, instead of one a row
                index = _lathe.tensor(list(chosen))
                yield tuple(ops.index_select(t, 0, index) for t in self.dataset.tensors)
            else:
                yield self.collate_fn([self.dataset[k] for k in chosen])


@default_only(generator=_SEED)
def random_split(dataset, lengths, generator=None, *, seed=None):
    """Parts of the given lengths (or fractions of 1), drawn without repetition by Lathe's generator
    (lathe.manual_seed), or from `seed`."""
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
    order = _shuffled(total, seed)
    parts, at = [], 0
    for n in lengths:
        parts.append(Subset(dataset, order[at : at + n]))
        at += n
    return parts
