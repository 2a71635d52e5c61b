"""Datasets, orders to take their items in, and loaders that make batches of them.

What is drawn here (a loader's orders, a split) is drawn by a generator of its own, whose seed is
given, or else the next number of Lathe's stream: lathe.manual_seed then decides.
"""

from .collate import default_collate, default_convert
from .datasets import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from .loader import DataLoader
from .samplers import (
    BatchSampler,
    DistributedSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

__all__ = [
    "BatchSampler", "ChainDataset", "ConcatDataset", "DataLoader", "Dataset", "DistributedSampler",
    "IterableDataset", "RandomSampler", "Sampler", "SequentialSampler", "StackDataset", "Subset",
    "SubsetRandomSampler", "TensorDataset", "WeightedRandomSampler", "default_collate",
    "default_convert", "get_worker_info", "random_split",
]  # fmt: skip


def get_worker_info():
    """The worker of a loader that this process is (id, num_workers, seed, dataset); None
    elsewhere."""
    from .workers import get_worker_info

    return get_worker_info()
