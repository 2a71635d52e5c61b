"""DataLoader: batches of a dataset, in an order, in this process or in others."""

import random
from typing import Generic

from ... import _lathe, ops
from ..._errors import typed
from .collate import default_collate, default_convert
from .datasets import IterableDataset, TensorDataset
from .samplers import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    T,
    drawn_seed,
    shuffled,
)


class _Seeded(Sampler):
    """A new order each pass, from a seed and the number of the pass."""

    def __init__(self, dataset, seed):
        self._dataset, self._seed, self._pass = dataset, seed, -1

    def __iter__(self):
        self._pass += 1
        return iter(shuffled(len(self._dataset), f"{self._seed}:{self._pass}"))

    def __len__(self):
        return len(self._dataset)


class _Here:
    """A pass in this process, which begins with its first batch. After an exception in a dataset
    the next call goes on with the next batch."""

    def __init__(self, loader):
        self._loader, self._begun = loader, None

    def __iter__(self):
        return self

    def __len__(self):
        return len(self._loader)

    def __next__(self):
        if self._begun is None:
            self._begun = self._loader._begun()
        tasks, fetch = self._begun
        return fetch(next(tasks))


class _Away:
    """A pass whose batches processes make."""

    def __init__(self, loader, batches):
        self._loader, self._batches = loader, batches

    def __iter__(self):
        return self

    def __len__(self):
        return len(self._loader)

    def __next__(self):
        return next(self._batches)


class _Endless:
    """Tasks for an iterable dataset, which says itself when there is no more."""

    def __iter__(self):
        return self

    def __next__(self):
        return None


class _Items:
    """How a batch comes from the numbers of its items; made where the dataset is (in a worker,
    too)."""

    def __init__(self, collate, batched):
        self.collate, self.batched = collate, batched

    def __call__(self, dataset):
        def fetch(numbers):
            if not self.batched:
                return self.collate(dataset[numbers])
            if hasattr(dataset, "__getitems__"):
                return self.collate(dataset.__getitems__(numbers))
            return self.collate([dataset[k] for k in numbers])

        return fetch


class _Stream:
    """How batches come from an iterable dataset: the next items of one iterator."""

    def __init__(self, collate, size, drop_last):
        self.collate, self.size, self.drop_last = collate, size, drop_last

    def __call__(self, dataset):
        items = iter(dataset)

        def fetch(_):
            if self.size is None:
                return self.collate(next(items))
            batch = []
            for item in items:
                batch.append(item)
                if len(batch) == self.size:
                    return self.collate(batch)
            if not batch or self.drop_last:
                raise StopIteration
            return self.collate(batch)

        return fetch


def _refuse(problem, got, expected, advice):
    raise _lathe.ValueError(problem, op="DataLoader", got=got, expected=expected, next=advice)


# What batches come from: of no use when they are made.
_FIXED = (
    "dataset", "batch_size", "sampler", "batch_sampler", "drop_last", "persistent_workers",
)  # fmt: skip


class DataLoader(Generic[T]):
    """Iterates over a dataset in batches.

    shuffle: a new order each time, drawn by Lathe's stream (lathe.manual_seed), by `generator`, or
    from
    `seed` and the number of the pass; sampler, batch_sampler: an order of one's own, by item or by
    batch; drop_last: without a shorter last batch; collate_fn(items): how items become a batch.
    batch_size=None: item by item, collate_fn(item) if it is given.

    num_workers: processes that make batches, prefetch_factor of them ahead each;
    persistent_workers:
    they stay from pass to pass. worker_init_fn(number) runs in each. pin_memory changes nothing:
    there is no other device to copy to from pinned memory.
    """

    @typed
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
        self._check(batch_size, shuffle, sampler, batch_sampler, num_workers, drop_last)
        self._check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        self.dataset, self.shuffle = dataset, bool(shuffle)
        self._streams = isinstance(dataset, IterableDataset)
        if self._streams and (shuffle or sampler is not None or batch_sampler is not None):
            _refuse("an iterable dataset has an order of its own", "shuffle, or a sampler",
                    "neither", "shuffle inside of the dataset")  # fmt: skip
        if batch_sampler is not None:
            batch_size, drop_last = None, False
        elif sampler is None and not self._streams:
            sampler = self._order(dataset, shuffle, generator, seed)
        if batch_size is not None and batch_sampler is None and not self._streams:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size, self.drop_last = batch_size, drop_last
        self.sampler, self.batch_sampler = sampler, batch_sampler
        self._batched = batch_sampler is not None or (self._streams and batch_size is not None)
        self._plain = collate_fn is None and type(dataset) is TensorDataset
        if collate_fn is None:
            collate_fn = default_collate if self._batched else default_convert
        self.collate_fn, self.seed, self.generator = collate_fn, seed, generator
        self.num_workers, self.timeout, self.worker_init_fn = num_workers, timeout, worker_init_fn
        self.multiprocessing_context, self.prefetch_factor = (
            multiprocessing_context,
            prefetch_factor,
        )
        self.persistent_workers, self.in_order = persistent_workers, in_order
        self.pin_memory, self.pin_memory_device = pin_memory, pin_memory_device
        self._workers = None
        self._is_made = True

    def __setattr__(self, name, value):
        if name in _FIXED and vars(self).get("_is_made"):
            _refuse("what says how batches are made is fixed", f"{name} = {value!r}",
                    "no change once the loader is there", "make another DataLoader")  # fmt: skip
        super().__setattr__(name, value)
        if name == "collate_fn" and vars(self).get("_is_made"):
            self._plain = False

    @staticmethod
    def _check(batch_size, shuffle, sampler, batch_sampler, num_workers, drop_last):
        if batch_size is not None and batch_size < 1:
            _refuse("a batch has one item at least", batch_size, "1 or more", "check batch_size")
        if batch_size is None and drop_last:
            _refuse("without batches there is no last one to drop",
                    "batch_size=None, drop_last=True", "a batch_size, or drop_last=False",
                    "leave drop_last out")  # fmt: skip
        if sampler is not None and shuffle:
            _refuse("a sampler is an order, and shuffle another", "sampler and shuffle=True",
                    "one of the two", "leave shuffle out")  # fmt: skip
        if batch_sampler is not None and (
            batch_size != 1 or shuffle or sampler is not None or drop_last
        ):
            _refuse("a batch_sampler says all about batches", "batch_sampler and another argument",
                    "batch_sampler alone",
                    "leave batch_size, shuffle, sampler and drop_last out")  # fmt: skip

    @staticmethod
    def _check_workers(num_workers, timeout, prefetch_factor, persistent_workers):
        if num_workers < 0 or timeout < 0:
            _refuse("a number is negative", f"num_workers={num_workers}, timeout={timeout}",
                    "0 or more", "leave it out")  # fmt: skip
        if num_workers == 0 and (prefetch_factor is not None or persistent_workers):
            _refuse("there are no workers to prefetch or to stay", "num_workers=0",
                    "num_workers above 0, or neither prefetch_factor nor persistent_workers",
                    "give num_workers")  # fmt: skip
        if prefetch_factor is not None and prefetch_factor < 1:
            _refuse("a worker prefetches one batch at least", prefetch_factor, "1 or more",
                    "leave prefetch_factor out")  # fmt: skip

    @staticmethod
    def _order(dataset, shuffle, generator, seed):
        if not shuffle:
            return SequentialSampler(dataset)
        if seed is not None:
            return _Seeded(dataset, seed)
        return RandomSampler(dataset, generator=generator)

    def __len__(self):
        if self._streams:
            count, size = len(self.dataset), self.batch_size or 1
            return count // size if self.drop_last else -(-count // size)
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)

    def _tasks(self):
        if self._streams:
            return _Endless()
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def _fetch(self):
        if self._streams:
            return _Stream(self.collate_fn, self.batch_size, self.drop_last)
        return _Items(self.collate_fn, self._batched)

    def __iter__(self):
        return _Away(self, self._from_workers()) if self.num_workers else _Here(self)

    def _begun(self):
        """The tasks of a pass, and what makes a batch of one."""
        if self._plain and self._batched:
            return iter(self._tasks()), self._gathered
        fetch = self._fetch()(self.dataset)
        return iter(self._tasks()), fetch

    def _gathered(self, numbers):
        """One gather a tensor, instead of one a row."""
        index = _lathe.tensor(list(numbers))
        return [ops.index_select(t, 0, index) for t in self.dataset.tensors]

    def _from_workers(self):
        from .workers import Workers

        workers = self._workers
        if workers is None:
            draw = random.Random(drawn_seed(self.generator) if self.seed is None else self.seed)
            workers = Workers(self, self._fetch(), draw.getrandbits(62))
        if self.persistent_workers:
            self._workers = workers
        try:
            yield from workers.run(self._tasks())
        finally:
            if not self.persistent_workers:
                workers.stop()
