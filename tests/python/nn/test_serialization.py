"""serialization.save and load: PyTorch's own files. pytorch/checkpoint.pt was written by PyTorch
2.9.1."""

import contextlib
import io
import pickle
import pickletools
import random
import zipfile
from collections import OrderedDict
from pathlib import Path

import pytest

import lathe as lt
from lathe import nn, optim, serialization

CHECKPOINT = Path(__file__).with_name("pytorch") / "checkpoint.pt"


def round_trip(value):
    file = io.BytesIO()
    serialization.save(value, file)
    file.seek(0)
    return serialization.load(file)


def test_a_checkpoint_of_pytorch():
    state = serialization.load(CHECKPOINT)
    net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    assert net.load_state_dict(state["model"]) == ([], [])
    assert isinstance(state["model"], OrderedDict) and "" in state["model"]._metadata
    optimizer = optim.Adam(net.parameters())
    optimizer.load_state_dict(state["optimizer"])
    assert optimizer.param_groups[0]["lr"] == 0.1 and optimizer.state[net[0].weight]["step"] == 2
    assert state["epoch"] == 3 and state["size"] == (1, 2) and state["dtype"] is lt.float16
    assert state["mixed"] == (1, 2.5, None, True, "text", b"ab", {1}, 1j, 2**70)
    assert state["turned"].tolist() == [[0, 3], [1, 4], [2, 5]] and state["turned"].stride() == (
        1,
        3,
    )
    assert isinstance(state["parameter"], nn.Parameter) and state["conj"].tolist() == [1 - 2j]
    assert state["half"].dtype is lt.float16 and state["b"].tolist() == [1.5]
    assert tuple(state["empty"].shape) == (0, 3)


def test_memory_that_was_shared_still_is():
    first, second = serialization.load(CHECKPOINT)["shared"]
    first.fill_(7)
    assert second.tolist() == [0, 7, 7, 6, 8]
    base = lt.arange(6.0)
    a, b, c = round_trip([base[1:], base.reshape(2, 3).T, base])
    a.fill_(5)
    assert b.tolist() == [[0, 5], [5, 5], [5, 5]] and c.tolist() == [0, 5, 5, 5, 5, 5]


def test_round_trip():
    names = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16")
    dtypes = [*names, "float32", "float64", "complex64"]
    state = {d: lt.tensor([0, 1, 1]).to(getattr(lt, d)) for d in dtypes}
    back = round_trip(state)
    assert list(back) == list(state)
    for name, tensor in state.items():
        assert back[name].dtype is tensor.dtype and back[name].tolist() == tensor.tolist()
    plain = [1, -1, 70000, -(2**40), 2.5, float("inf"), "é\udc80", b"\xff", None, (), (1, 2, 3, 4)]
    plain += [{}, {1: {"a": [True, False]}}, {3, 4}, 1j, lt.float32, OrderedDict(a=1)]
    assert round_trip(plain) == plain
    leaf = round_trip(lt.ones(2, requires_grad=True))
    assert leaf.requires_grad and not leaf.grad_fn
    p = nn.Parameter(lt.ones(2), requires_grad=False)
    q, r = round_trip([p, p])
    assert isinstance(q, nn.Parameter) and not q.requires_grad and q is r
    assert round_trip(lt.ones(3, device="sim")).device.type == "cpu"


def test_lists_that_contain_themselves():
    a = [1]
    a.append(a)
    back = round_trip(a)
    assert back[1] is back


def test_what_stands_in_the_file_is_pytorchs(tmp_path):
    path = tmp_path / "some name.pt"
    serialization.save({"w": lt.ones(2, 3), "p": nn.Parameter(lt.ones(1)), "b": b"1"}, path)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert archive.read("some name/version") == b"3\n"
        assert len(archive.read("some name/data/0")) == 24
        pickled = archive.read("some name/data.pkl")
        places = [i.header_offset + 30 + len(i.filename) + len(i.extra) for i in archive.filelist]
        assert all(at % 64 == 0 for at in places)
    named = {arg for op, arg, _ in pickletools.genops(pickled) if op.name == "GLOBAL"}
    assert named == {
        "torch._utils _rebuild_tensor_v2", "torch._utils _rebuild_parameter", "torch FloatStorage",
        "collections OrderedDict", "_codecs encode",
    }  # fmt: skip
    assert max(op.proto for op, _, _ in pickletools.genops(pickled)) == 2
    assert serialization.load(path)["w"].tolist() == [[1, 1, 1]] * 2


def test_lathe_load_reads_them_too():
    assert lt.load(CHECKPOINT)["epoch"] == 3
    assert serialization.load(CHECKPOINT, "sim")["half"].device.type == "sim"
    assert serialization.load(CHECKPOINT, lambda storage, place: storage)["epoch"] == 3


class Runs:
    def __reduce__(self):
        return (open, ("/nonexistent/touched", "w"))


def archive_of(pickled, **more):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("x/data.pkl", pickled)
        for name, data in more.items():
            archive.writestr(f"x/{name}", data)
    file.seek(0)
    return file


@pytest.mark.parametrize(
    "value", [Runs(), print, Path("a"), random.Random(1), nn.Linear(1, 1), {"a": [Runs()]}]
)
@pytest.mark.parametrize("protocol", range(2, 6))
def test_nothing_is_run(value, protocol):
    with pytest.raises(lt.FileError, match="which is no data|no whole PyTorch file"):
        serialization.load(archive_of(pickle.dumps(value, protocol)))


@pytest.mark.parametrize("protocol", range(2, 6))
def test_data_in_other_protocols(protocol):
    value = {"a": [1, 2.5, "x" * 300, b"y", (1, 2), {3}, frozenset([4]), None, True, 2**80]}
    assert serialization.load(archive_of(pickle.dumps(value, protocol))) == value


def test_objects_are_not_written(tmp_path):
    for value, advice in ((nn.Linear(1, 1), "state_dict"), (object(), "parts"), (print, "parts")):
        with pytest.raises(lt.TypeError, match="only data") as caught:
            serialization.save({"a": value}, tmp_path / "x.pt")
        assert advice in caught.value.next
    assert not list(tmp_path.iterdir())
    deep = ()
    for _ in range(10_000):
        deep = (deep,)
    with pytest.raises(lt.ValueError, match="nested too deep"):
        serialization.save(deep, tmp_path / "x.pt")
    with pytest.raises(lt.FileError):
        serialization.save([], tmp_path / "no" / "x.pt")


@pytest.mark.parametrize(
    "data, text",
    [
        (b"", "does not begin"),
        (b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.", "before 1.6"),
        (b"\0" * 257 + b"ustar" + b"\0" * 10, "tar archive"),
        (b"PK\x03\x04" + b"\0" * 50, "no whole"),
        (archive_of(b"\x80\x02N.", **{"constants.pkl": b""}).getvalue(), "TorchScript"),
        (archive_of(b"\x80\x02N.", byteorder=b"big").getvalue(), "highest byte"),
        (archive_of(b"\x80\x02").getvalue(), "too early"),
        (archive_of(b"\x80\x02h\x00.").getvalue(), "no whole"),
        (archive_of(b"\x80\x02U").getvalue(), "too early"),
    ],
)
def test_what_is_refused(data, text):
    with pytest.raises(lt.FileError, match=text) as caught:
        serialization.load(io.BytesIO(data))
    assert caught.value.next and caught.value.expected


def test_tensors_outside_of_their_memory():
    place = b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nU\x010U\x03cpuK\x04tQ"
    start = b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n("

    def load(offset_and_sizes):
        pickled = start + place + offset_and_sizes + b"\x89NtR."
        return serialization.load(archive_of(pickled, **{"data/0": b"\0" * 16}))

    assert load(b"K\x00(K\x04t(K\x01t").tolist() == [0] * 4
    with pytest.raises(lt.FileError, match="outside of its memory"):
        load(b"K\x00(K\x05t(K\x01t")
    memory = lt.zeros(4)
    for offset, size, stride in ((0, (5,), (1,)), (1, (4,), (1,)), (0, (2, 2), (3, 1)),
                                 (-1, (1,), (1,)), (0, (2,), (-1,)), (0, (2,), (1, 1)),
                                 (0, (1 << 61, 4), (1 << 61, 1)), (0, (1 << 40,),
                                 (1 << 40,))):  # fmt: skip
        with pytest.raises(lt.ValueError, match="outside of its memory"):
            lt._lathe._over_storage(memory, lt.float32, offset, size, stride)
    assert lt._lathe._over_storage(memory, lt.float32, 2, (0, 9), (1, 1)).numel() == 0


def test_damaged_files_end_in_errors_of_their_own():
    data = CHECKPOINT.read_bytes()
    draw = random.Random(0)
    for _ in range(300):
        damaged = bytearray(data)
        if draw.random() < 0.3:
            damaged = damaged[: draw.randrange(len(damaged))]
        for _ in range(draw.randrange(1, 4)):
            damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        with contextlib.suppress(lt.FileError):
            serialization.load(io.BytesIO(bytes(damaged)))
