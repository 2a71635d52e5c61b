"""Datasets and loaders."""

import numpy as np
import pytest

import lathe as lt
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
    assert lt.equal(item["a"], lt.ones(2)) and item["b"] == (1, "c")
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
    assert batches[1]["y"][1] == ["2", "3"]
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
