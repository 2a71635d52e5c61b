"""Datasets and loaders."""

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
