"""Datasets and loaders."""

import os
from collections import OrderedDict, namedtuple

import numpy as np
import pytest

import lathe as lt
from lathe.utils import data as d
from lathe.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split


def test_tensor_dataset():
    data = TensorDataset(lt.arange(6).reshape(3, 2), lt.tensor([0, 1, 2]))
    assert len(data) == 3 and data[1][0].tolist() == [2, 3] and data[1][1].item() == 1
    with pytest.raises(lt.ShapeError):
        TensorDataset(lt.ones(2), lt.ones(3))


def test_batches():
    data = TensorDataset(lt.arange(10), lt.arange(10) * 2)
    loader = DataLoader(data, batch_size=4)
    assert len(loader) == 3 and [x.tolist() for x, _ in loader][2] == [8, 9]
    assert len(DataLoader(data, 4, drop_last=True)) == 2
    assert [len(x) for x, _ in DataLoader(data, 4, drop_last=True)] == [4, 4]
    for x, y in loader:
        assert lt.equal(y, x * 2)


def test_shuffling_repeats_by_seed():
    data = TensorDataset(lt.arange(20))

    def passes(seed):
        loader = DataLoader(data, 5, shuffle=True, seed=seed)
        return [[x.tolist() for (x,) in loader] for _ in range(2)]

    first, second = passes(1), passes(1)
    assert first == second and first[0] != first[1] and passes(2) != first
    assert sorted(sum(first[0], [])) == list(range(20))


def orders(*loaders, passes=2):
    return [[x.tolist() for (x,) in loader] for _ in range(passes) for loader in loaders]


def test_manual_seed_decides_what_is_shuffled():
    data = TensorDataset(lt.arange(50))

    def drawn(seed):
        lt.manual_seed(seed)
        loaders = [DataLoader(data, 50, shuffle=True) for _ in range(2)]
        parts = [random_split(data, [25, 25])[0].indices for _ in range(2)]
        return [*(o[0] for o in orders(*loaders)), *parts]

    first = drawn(1)
    assert first == drawn(1)  # the same again
    assert len({tuple(o) for o in first}) == 6  # passes, loaders and splits differ
    assert all(a != b for a, b in zip(first, drawn(2)))  # and so do seeds
    lt.manual_seed(1)
    lt.rand(1)  # a draw before is a draw
    assert orders(DataLoader(data, 50, shuffle=True), passes=1)[0][0] != first[0]


def test_what_is_not_shuffled_draws_nothing():
    lt.manual_seed(4)
    expected = lt.rand(3).tolist()
    lt.manual_seed(4)
    data = TensorDataset(lt.arange(6))
    assert orders(DataLoader(data, 6), DataLoader(data, 6, shuffle=True, seed=1), passes=1)[0]
    assert lt.rand(3).tolist() == expected


def test_items_without_batches():
    data = TensorDataset(lt.arange(4))
    loader = DataLoader(data, batch_size=None)
    assert len(loader) == 4 and [x.item() for (x,) in loader] == [0, 1, 2, 3]
    rows = [{"a": np.ones(2, "float32"), "b": (1, "c")}]
    (item,) = DataLoader(rows, None)
    assert lt.equal(item["a"], lt.ones(2)) and item["b"] == [1, "c"]
    assert list(DataLoader([1, 2], None, collate_fn=lambda i: i * 2)) == [2, 4]
    with pytest.raises(lt.ValueError, match="drop_last"):
        DataLoader(data, None, drop_last=True)


def test_any_dataset():
    class Squares(Dataset):
        def __len__(self):
            return 5

        def __getitem__(self, i):
            return {"x": i, "y": [lt.tensor(float(i * i)), str(i)]}

    batches = list(DataLoader(Squares(), 2))
    assert batches[1]["x"].tolist() == [2, 3] and batches[1]["y"][0].tolist() == [4, 9]
    assert batches[1]["y"][1] == ("2", "3")
    assert list(DataLoader(Squares(), 5, collate_fn=len)) == [5]
    assert Subset(Squares(), [3])[0]["x"] == 3
    with pytest.raises(ValueError):
        DataLoader(Squares(), 0)


def test_splits():
    data = TensorDataset(lt.arange(10))
    for lengths in ([7, 3], [0.7, 0.3]):
        a, b = random_split(data, lengths, seed=1)
        assert len(a) == 7 and sorted(a.indices + b.indices) == list(range(10))
    with pytest.raises(ValueError):
        random_split(data, [1, 2])


def test_samplers():
    ten = list(range(10))
    assert list(d.SequentialSampler(ten)) == ten and len(d.RandomSampler(ten)) == 10
    assert sorted(d.RandomSampler(ten)) == ten and list(d.RandomSampler(ten)) != ten
    assert len(list(d.RandomSampler(ten, num_samples=25))) == 25
    repeated = list(d.RandomSampler(ten, True, 100))
    assert len(repeated) == 100 and set(repeated) <= set(ten)
    assert sorted(d.SubsetRandomSampler([3, 5])) == [3, 5]
    assert list(d.BatchSampler(ten[:5], 2, False)) == [[0, 1], [2, 3], [4]]
    assert list(d.BatchSampler(ten[:5], 2, True)) == [[0, 1], [2, 3]]
    assert set(d.WeightedRandomSampler([0.0, 1.0, 2.0], 50)) == {1, 2}
    parts = [list(d.DistributedSampler(ten, 3, rank)) for rank in range(3)]
    assert [len(p) for p in parts] == [4, 4, 4] and set(sum(parts, [])) == set(ten)
    g = lt.Generator()
    first = list(d.RandomSampler(ten, generator=g.manual_seed(1)))
    assert list(d.RandomSampler(ten, generator=g.manual_seed(1))) == first
    for wrong in (
        lambda: d.RandomSampler(ten, num_samples=0), lambda: d.BatchSampler(ten, 0, False),
        lambda: d.WeightedRandomSampler([1], 0), lambda: d.DistributedSampler(ten, 2, 2),
    ):  # fmt: skip
        with pytest.raises(lt.ValueError):
            wrong()


def test_orders_of_ones_own():
    rows = TensorDataset(lt.arange(6))
    assert [x.tolist() for (x,) in DataLoader(rows, 2, sampler=[5, 3, 1])] == [[5, 3], [1]]
    loader = DataLoader(rows, batch_sampler=[[0, 1, 2], [4]])
    assert [x.tolist() for (x,) in loader] == [[0, 1, 2], [4]] and len(loader) == 2
    g = lt.Generator()
    drawn = [orders(DataLoader(rows, 6, True, generator=g.manual_seed(3)), passes=1) for _ in "ab"]
    assert drawn[0] == drawn[1]
    assert DataLoader(rows, pin_memory=True).pin_memory
    for wrong in (
        {"sampler": [1], "shuffle": True}, {"batch_sampler": [[1]], "batch_size": 2},
        {"num_workers": -1}, {"prefetch_factor": 2}, {"persistent_workers": True},
    ):  # fmt: skip
        with pytest.raises(lt.ValueError) as caught:
            DataLoader(rows, **wrong)
        assert caught.value.next


class Count(d.IterableDataset):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        info = d.get_worker_info()
        step, first = (1, 0) if info is None else (info.num_workers, info.id)
        return iter(range(first, self.n, step))


def test_datasets_of_datasets():
    both = Subset(range(10), [1, 2]) + Subset(range(10), [7])
    assert isinstance(both, d.ConcatDataset) and [both[i] for i in (0, 2, -1)] == [1, 7, 7]
    assert list(Count(2) + Count(3)) == [0, 1, 0, 1, 2]
    assert d.StackDataset(a=[1, 2], b=[3, 4])[1] == {"a": 2, "b": 4}
    assert d.StackDataset([1, 2], [3, 4])[0] == (1, 3)
    with pytest.raises(lt.IndexError):
        both[3]
    for wrong in (lambda: d.ConcatDataset([]), lambda: d.StackDataset([1], [1, 2])):
        with pytest.raises(lt.ValueError):
            wrong()
    with pytest.raises(lt.TypeError):
        d.ConcatDataset([Count(1)])
    assert [b.tolist() for b in DataLoader(Count(5), 2)] == [[0, 1], [2, 3], [4]]
    assert [b.tolist() for b in DataLoader(Count(5), 2, drop_last=True)] == [[0, 1], [2, 3]]
    assert list(DataLoader(Count(2), None)) == [0, 1]
    with pytest.raises(lt.ValueError, match="order of its own"):
        DataLoader(Count(5), shuffle=True)


def test_collation():
    Pair = namedtuple("Pair", "a b")  # noqa: N806
    (batch,) = DataLoader([Pair(1, 2.0), Pair(3, 4.0)], 2)
    assert type(batch) is Pair and batch.a.dtype is lt.int64 and batch.b.dtype is lt.float64
    arrays = d.default_collate([np.ones(2, "float32"), np.zeros(2, "float32")])
    assert arrays.dtype is lt.float32 and arrays.tolist() == [[1, 1], [0, 0]]
    assert d.default_collate([np.float32(1), np.float32(2)]).dtype is lt.float32
    with pytest.raises(lt.ValueError, match="different lengths"):
        d.default_collate([[1], [1, 2]])


class Rows(Dataset):
    def __init__(self, wrong=None):
        self.wrong = wrong

    def __len__(self):
        return 10

    def __getitem__(self, i):
        if i == self.wrong:
            raise KeyError("no such row")
        info = d.get_worker_info()
        return lt.tensor([i, -1 if info is None else info.id, os.getpid()])


def test_workers():
    seen = lt.cat(list(DataLoader(Rows(), 3, num_workers=2)))
    assert seen[:, 0].tolist() == list(range(10)) and set(seen[:, 1].tolist()) == {0, 1}
    assert os.getpid() not in seen[:, 2].tolist()
    assert d.get_worker_info() is None
    loader = DataLoader(Rows(), 3, num_workers=2, persistent_workers=True, prefetch_factor=1)
    passes = [lt.cat(list(loader))[:, 2].tolist() for _ in range(2)]
    assert set(passes[0]) == set(passes[1])
    next(iter(loader))  # a pass that is given up
    assert lt.cat(list(loader))[:, 0].tolist() == list(range(10))
    items = [x.item() for x in DataLoader(Count(7), None, num_workers=2, collate_fn=lt.tensor)]
    assert sorted(items) == list(range(7))


def test_what_goes_wrong_in_a_worker():
    with pytest.raises(KeyError, match="no such row") as caught:
        list(DataLoader(Rows(4), 2, num_workers=1))
    assert "in worker 0" in str(caught.value)

    def start(number):
        raise ValueError("not today")

    with pytest.raises(ValueError, match="not today"):
        list(DataLoader(Rows(), 2, num_workers=1, worker_init_fn=start))

    def leave(number):
        os._exit(3)

    with pytest.raises(lt.Error, match="ended without a word"):
        list(DataLoader(Rows(), 2, num_workers=1, worker_init_fn=leave))


def test_batches_of_tuples_are_lists():
    """As in PyTorch, so that a step may put something else in the place of an item."""
    for dataset in (TensorDataset(lt.ones(4, 2), lt.zeros(4)), [(1.5, "a"), (2.5, "b")]):
        assert all(type(batch) is list for batch in DataLoader(dataset, batch_size=2))
    assert d.default_collate([(1, "a"), (2, "b")])[1] == ("a", "b")
    assert type(d.default_convert((1, 2))) is list
    ordered = d.default_collate([OrderedDict(a=1), OrderedDict(a=2)])
    assert type(ordered) is OrderedDict and ordered["a"].tolist() == [1, 2]


def test_classes_of_data_take_the_type_of_their_items():
    class Squares(Dataset[int]):
        def __len__(self):
            return 3

        def __getitem__(self, i):
            return i * i

    class Backwards(d.Sampler[int]):
        def __iter__(self):
            return iter([2, 1, 0])

        def __len__(self):
            return 3

    loader: DataLoader[int] = DataLoader(Squares(), sampler=Backwards(None))
    assert [x.item() for x in loader] == [4, 1, 0]


def test_a_pass_goes_on_after_an_exception():
    """The batch that failed is passed over; the pass ends where it would have ended."""

    class Faulty(Dataset):
        def __len__(self):
            return 6

        def __getitem__(self, i):
            if i == 2:
                raise KeyError(i)
            return i

    batches, seen = iter(DataLoader(Faulty(), batch_size=2)), []
    while True:
        try:
            seen.append(next(batches).tolist())
        except KeyError:
            seen.append("failed")
        except StopIteration:
            break
    assert seen == [[0, 1], "failed", [4, 5]]
    assert iter(batches) is batches and list(batches) == []


def test_how_batches_are_made_is_fixed():
    loader = DataLoader(TensorDataset(lt.arange(6)), batch_size=2)
    for name, value in (("batch_size", 4), ("sampler", None), ("drop_last", True)):
        with pytest.raises(ValueError, match="what says how batches are made is fixed"):
            setattr(loader, name, value)
    loader.collate_fn = len
    assert list(loader) == [2, 2, 2]
