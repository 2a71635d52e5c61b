"""Samplers: orders in which a loader takes the items of a dataset.

What is drawn here is drawn by a generator of its own, whose seed is given, or else the next number
of Lathe's stream (lathe.manual_seed) or of the generator that was given.
"""

import math
import random
from typing import Generic, TypeVar

from ... import _lathe, ops
from ..._errors import typed


def drawn_seed(generator=None):
    """The next number of a stream, as a seed."""
    return str(ops.randint(0, 1 << 32, (2,), generator=generator).tolist())


def shuffled(count, seed=None, generator=None):
    """0..count-1 in an order that the seed decides; None: that a stream does."""
    order = list(range(count))
    random.Random(drawn_seed(generator) if seed is None else seed).shuffle(order)
    return order


def _refuse(name, problem, got, expected):
    raise _lathe.ValueError(
        problem, op=name, got=got, expected=expected, next="check what the sampler was made with"
    )


T = TypeVar("T", covariant=True)  # of the items; it says nothing to the program


class Sampler(Generic[T]):
    """Anything that gives the numbers of items; a subclass defines __iter__."""

    def __init__(self, data_source=None):
        pass

    def __iter__(self):
        raise NotImplementedError


class SequentialSampler(Sampler):
    """0, 1, ... in order."""

    @typed
    def __init__(self, data_source):
        self.data_source = data_source

    def __iter__(self):
        return iter(range(len(self.data_source)))

    def __len__(self):
        return len(self.data_source)


class RandomSampler(Sampler):
    """All numbers in random order; or num_samples of them, each drawn from all if replacement."""

    @typed
    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        if num_samples is not None and (not isinstance(num_samples, int) or num_samples < 1):
            _refuse(
                "RandomSampler", "the number of samples is not positive", num_samples, "1 or more"
            )
        self.data_source, self.replacement = data_source, replacement
        self._count, self.generator = num_samples, generator

    @property
    def num_samples(self):
        """How many numbers it gives."""
        return len(self.data_source) if self._count is None else self._count

    def __iter__(self):
        items, count = len(self.data_source), self.num_samples
        if self.replacement:
            yield from ops.randint(0, items, (count,), generator=self.generator).tolist()
            return
        for _ in range(count // items if items else 0):
            yield from shuffled(items, None, self.generator)
        if items and count % items:
            yield from shuffled(items, None, self.generator)[: count % items]

    def __len__(self):
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """The given numbers in random order."""

    @typed
    def __init__(self, indices, generator=None):
        self.indices, self.generator = indices, generator

    def __iter__(self):
        for k in shuffled(len(self.indices), None, self.generator):
            yield self.indices[k]

    def __len__(self):
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """num_samples numbers, each with a chance in proportion to its weight."""

    @typed
    def __init__(self, weights, num_samples, replacement=True, generator=None):
        if not isinstance(num_samples, int) or num_samples < 1:
            _refuse(
                "WeightedRandomSampler", "the number of samples is not positive", num_samples,
                "1 or more",
            )  # fmt: skip
        self.weights = _lathe.tensor(
            weights.tolist() if isinstance(weights, _lathe.Tensor) else list(weights),
            dtype=_lathe.float64,
        )
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self):
        drawn = ops.multinomial(
            self.weights, self.num_samples, self.replacement, generator=self.generator
        )
        return iter(drawn.tolist())

    def __len__(self):
        return self.num_samples


class BatchSampler(Sampler):
    """Lists of batch_size numbers of a sampler; the last one may be shorter, or dropped."""

    @typed
    def __init__(self, sampler, batch_size, drop_last):
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size < 1:
            _refuse("BatchSampler", "a batch has one item at least", batch_size, "1 or more")
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self):
        batch = []
        for number in self.sampler:
            batch.append(number)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch

    def __len__(self):
        full, rest = divmod(len(self.sampler), self.batch_size)
        return full + (1 if rest and not self.drop_last else 0)


class DistributedSampler(Sampler):
    """Every num_replicas-th number from `rank` on, of one order for all; set_epoch() makes
    another."""

    @typed
    def __init__(
        self, dataset, num_replicas=None, rank=None, shuffle=True, seed=0, drop_last=False
    ):
        self.dataset, self.epoch = dataset, 0
        self.num_replicas = 1 if num_replicas is None else num_replicas
        self.rank = 0 if rank is None else rank
        if not 0 <= self.rank < self.num_replicas:
            _refuse("DistributedSampler", "there is no such rank", rank, f"0 to {num_replicas} - 1")
        self.shuffle, self.seed, self.drop_last = shuffle, seed, drop_last

    @property
    def num_samples(self):
        """How many numbers it gives."""
        share = len(self.dataset) / self.num_replicas
        return math.floor(share) if self.drop_last else math.ceil(share)

    def __iter__(self):
        count = len(self.dataset)
        order = shuffled(count, f"{self.seed}:{self.epoch}") if self.shuffle else list(range(count))
        total = self.num_samples * self.num_replicas
        while len(order) < total:
            order += order[: total - len(order)]
        return iter(order[self.rank : total : self.num_replicas])

    def __len__(self):
        return self.num_samples

    def set_epoch(self, epoch):
        """Another order for another epoch, the same for all ranks."""
        self.epoch = epoch
