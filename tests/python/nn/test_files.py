"""lathe.save and lathe.load: safetensors, with the safetensors package as the other side."""

import io
import json
import os

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import lathe as lt
from lathe import nn

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]


def example():
    return {d: (lt.arange(6).reshape(2, 3) - 1).to(getattr(lt, d)) for d in DTYPES}


def test_round_trip(tmp_path):
    path = tmp_path / "x.safetensors"
    state = example()
    state["bf16"] = lt.tensor([1.5, -2.0]).bfloat16()
    state["c64"] = lt.tensor([1 + 2j])
    state["empty"], state["point"], state["strided"] = (
        lt.zeros(0, 3),
        lt.tensor(5.0),
        lt.ones(2, 3).T,
    )
    state["tracked"] = lt.ones(2, requires_grad=True)
    lt.save(state, path)
    back = lt.load(path)
    assert set(back) == set(state)
    for name, tensor in state.items():
        assert back[name].dtype is tensor.dtype and back[name].shape == tensor.shape
        assert back[name].tolist() == tensor.tolist() and not back[name].requires_grad


def test_the_package_reads_what_we_write(tmp_path):
    path = tmp_path / "ours.safetensors"
    lt.save(example(), path, metadata={"note": "kept"})
    theirs = load_file(path)
    for name, tensor in example().items():
        np.testing.assert_array_equal(theirs[name], tensor.numpy())
    save_file(theirs, tmp_path / "theirs.safetensors", metadata={"by": "them"})
    again = lt.load(tmp_path / "theirs.safetensors")
    assert all(lt.equal(again[n], t) for n, t in example().items())


def test_nested_state(tmp_path):
    state = {
        "model": {"a": lt.ones(2)},
        "list": [lt.zeros(1), 3, "text", None],
        "pair": (True, 2.5),
        7: {"step": lt.tensor(4)},
    }
    lt.save(state, tmp_path / "n.safetensors")
    back = lt.load(tmp_path / "n.safetensors")
    assert back["model"]["a"].tolist() == [1, 1] and back["list"][1:] == [3, "text", None]
    assert back["pair"] == (True, 2.5) and back[7]["step"].item() == 4
    assert isinstance(back["list"][0], lt.Tensor)
    with pytest.raises(TypeError, match="no tensor or number"):
        lt.save({"a": object()}, tmp_path / "bad.safetensors")
    assert not (tmp_path / "bad.safetensors").exists()


def test_modules(tmp_path):
    a, b = nn.Linear(2, 3), nn.Linear(2, 3)
    lt.save(a, tmp_path / "m.safetensors")
    b.load_state_dict(lt.load(tmp_path / "m.safetensors"))
    assert lt.equal(a.weight, b.weight) and lt.load(tmp_path / "m.safetensors", map_location="sim")


def test_files_are_whole_or_not_there(tmp_path):
    path = tmp_path / "x.safetensors"
    lt.save({"a": lt.ones(1)}, path)
    before = path.read_bytes()

    class Fails(dict):
        def items(self):
            raise RuntimeError("while saving")

    with pytest.raises(RuntimeError):
        lt.save(Fails(a=lt.ones(1)), path)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["x.safetensors"]
    with pytest.raises(OSError):
        lt.save({"a": lt.ones(1)}, tmp_path / "no" / "folder")
    with pytest.raises(FileNotFoundError):
        lt.load(tmp_path / "nothing")


def written(path, header, data=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes((len(text) if length is None else length).to_bytes(8, "little") + text + data)
    return path


GOOD = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}

HOSTILE = [
    (b"", b"", None),
    (b"{", b"", None),
    (b"[1]", b"", None),
    (b"\xff\xfe", b"", None),
    (b"{}", b"", 1 << 62),
    (b"{}", b"rest", None),
    (b'{"a":' * 20000, b"", None),
    (b'{"a":{},"a":{}}', b"", None),
    ({"a": 5}, b"", None),
    ({"a": {}}, b"", None),
    ({"a": {**GOOD, "dtype": "F31"}}, b"\0" * 8, None),
    ({"a": {**GOOD, "dtype": ["F32"]}}, b"\0" * 8, None),
    ({"a": {**GOOD, "shape": [3]}}, b"\0" * 8, None),
    ({"a": {**GOOD, "shape": [-2]}}, b"\0" * 8, None),
    ({"a": {**GOOD, "shape": ["2"]}}, b"\0" * 8, None),
    ({"a": {**GOOD, "shape": [1 << 40, 1 << 40]}}, b"\0" * 8, None),
    ({"a": {**GOOD, "shape": [1] * 100}}, b"\0" * 8, None),
    ({"a": {**GOOD, "data_offsets": [8, 0]}}, b"\0" * 8, None),
    ({"a": {**GOOD, "data_offsets": [4, 12]}}, b"\0" * 12, None),
    ({"a": {**GOOD, "data_offsets": [0, 8.0]}}, b"\0" * 8, None),
    ({"a": {**GOOD, "data_offsets": [0]}}, b"\0" * 8, None),
    ({"a": GOOD}, b"\0" * 7, None),
    ({"a": GOOD, "b": GOOD}, b"\0" * 8, None),
    ({"a": GOOD, "__metadata__": {"x": 1}}, b"\0" * 8, None),
    ({"a": GOOD, "__metadata__": []}, b"\0" * 8, None),
    ({"a": GOOD, "__metadata__": {"lathe.state": "["}}, b"\0" * 8, None),
    ({"a": GOOD, "__metadata__": {"lathe.state": '["tensor","q"]'}}, b"\0" * 8, None),
    ({"a": GOOD, "__metadata__": {"lathe.state": '["dict",[[[],["value",1]]]]'}}, b"\0" * 8, None),
]


@pytest.mark.parametrize("case", range(len(HOSTILE)))
def test_hostile_files(tmp_path, case):
    header, data, length = HOSTILE[case]
    with pytest.raises(lt.FileError, match="next:") as caught:
        lt.load(written(tmp_path / "x", header, data, length))
    assert isinstance(caught.value, OSError)


ODD = [
    None, True, -1, 1.5, 1e308, float("nan"), float("inf"), 1 << 62, 1 << 64, 10**400, "", "F32",
    "\ud800", "\x00", [], [[]], [None], [1, 2, 3], [-1, 0], [0, 1 << 63], {}, {"a": 1}, [[[[1]]]],
]  # fmt: skip


def _with_each_part_odd(value):
    """Copies of nested JSON, each with one part replaced by something odd."""
    yield from ODD
    if isinstance(value, dict):
        for k, v in value.items():
            yield from ({**value, k: other} for other in _with_each_part_odd(v))
            yield {n: x for n, x in value.items() if n != k}
            yield {("\udfff" if n == k else n): x for n, x in value.items()}
    elif isinstance(value, list):
        for i, v in enumerate(value):
            yield from (value[:i] + [other] + value[i + 1 :] for other in _with_each_part_odd(v))
        yield value + value
        yield value[1:]


def test_texts_of_every_kind_come_back(tmp_path):
    state = {
        "\N{GRINNING FACE}": lt.ones(1),
        "b": [{"\u00e9 \\ud800": "\N{GRINNING FACE} \\udc00"}],
    }
    lt.save(state, tmp_path / "x", metadata={"\u00e9": "\N{GRINNING FACE}"})
    back = lt.load(tmp_path / "x")
    assert back["b"] == state["b"] and back["\N{GRINNING FACE}"].item() == 1


def test_odd_json(tmp_path):
    skeleton = ["dict", [["a", ["tensor", "a"]], ["b", ["list", [["value", 1], ["tuple", []]]]]]]
    header = {"a": GOOD, "__metadata__": {"lathe.state": json.dumps(skeleton), "by": "x"}}
    headers = list(_with_each_part_odd(header))
    for odd in _with_each_part_odd(skeleton):
        headers.append({**header, "__metadata__": {"lathe.state": json.dumps(odd)}})
    read = 0
    for odd in headers:
        try:
            lt.load(written(tmp_path / "x", odd, b"\0" * 8))
            read += 1
        except lt.FileError:
            pass
    assert len(headers) > 400 and read < len(headers) / 2


@pytest.mark.parametrize(
    "header",
    [b"\xff", b'{"\xff": 1}', b'{"a\xc3": {}}', b'{"\\ud800": {}}', b'{"a": "\\udc00"}',
     b"\xef\xbb\xbf{}", b"{} {}", b"{'a': 1}", b"nul", b'{"a":NaN}', b'{"a":' + b"9" * 5000 + b"}",
     b"[" * 100_000],
)  # fmt: skip
def test_bytes_that_are_no_json(tmp_path, header):
    with pytest.raises(lt.FileError):
        lt.load(written(tmp_path / "x", header))


def test_a_path_that_is_no_text(tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff"
    with pytest.raises(lt.FileError):
        lt.load(path)
    lt.save({"a": lt.ones(1)}, path)
    assert lt.load(path)["a"].item() == 1
    assert os.listdir(os.fsencode(tmp_path)) == [b"\xff"]
    with open(path, "wb") as file:
        file.write(b"{")
    with pytest.raises(lt.FileError):
        lt.load(os.fsdecode(path))


@pytest.mark.parametrize(
    "text", [b"\xff\xfe", b"graph \xff() -> () {}", b"'\xed\xa0\x80'", b"\xc0\x80"]
)
def test_a_program_that_is_no_text(text):
    with pytest.raises(lt.FileError):
        lt._lathe._parse_program(text, "model")


def test_cut_and_flipped(tmp_path):
    path = tmp_path / "x"
    lt.save({"a": lt.arange(3), "b": lt.ones(2)}, path)
    whole = path.read_bytes()
    expected = lt.load(path)
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(lt.FileError):
            lt.load(path)
    for i in range(len(whole)):
        path.write_bytes(whole[:i] + bytes([whole[i] ^ 0x41]) + whole[i + 1 :])
        try:
            state = lt.load(path)
        except lt.FileError:
            continue
        assert len(state) == len(
            expected
        )  # a name or an element changed: the format has no checksum


def test_a_name_that_the_format_needs_is_refused(tmp_path):
    with pytest.raises(lt.ValueError, match="keeps its notes under this name"):
        lt.save({"__metadata__": lt.ones(2)}, tmp_path / "a.safetensors")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "state",
    [
        {"net.weight": lt.ones(1), "net": {"weight": lt.zeros(1)}},
        {"a": [lt.ones(1)], "a.0": lt.zeros(1)},
        {"1": lt.ones(1), 1: lt.zeros(1)},
    ],
)
def test_two_tensors_of_one_name_are_refused_and_what_was_there_stays(state, tmp_path):
    path = tmp_path / "state.safetensors"
    lt.save({"x": lt.ones(2)}, path)
    with pytest.raises(lt.ValueError, match="two tensors of the state would have one name"):
        lt.save(state, path)
    assert list(lt.load(path)) == ["x"]


def test_a_key_that_no_file_can_hold_is_refused(tmp_path):
    with pytest.raises(lt.TypeError, match="a key of the state is no text or number"):
        lt.save({(1, 2): lt.ones(1)}, tmp_path / "s.safetensors")
    assert not (tmp_path / "s.safetensors").exists()


def test_a_program_gives_one_tensor_as_often_as_the_function(tmp_path):
    lt.save(lambda x: (x * 2,) * 2, tmp_path / "p.lathe", inputs=[lt.ones(2)])
    a, b = lt.load(tmp_path / "p.lathe")(lt.tensor([1.0, 2.0]))
    assert a.tolist() == b.tolist() == [2, 4]


@pytest.mark.parametrize("wrap", [lt.trace, lt.script, lt.func.vmap])
def test_a_program_is_not_called_inside_of_a_capture(wrap):
    program = lt.freeze(nn.Linear(4, 2), lt.ones(3, 4))
    with pytest.raises(lt.TraceError, match="a program is called inside of a captured function"):
        wrap(lambda x: program(x) * 2)(lt.ones(5, 3, 4) if wrap is lt.func.vmap else lt.ones(3, 4))


def test_files_that_are_objects():
    state = {"a": lt.ones(2), "b": [lt.arange(3), (1, "text")]}
    for what, expected in ((state, state), (nn.Linear(2, 1), None)):
        file = io.BytesIO()
        lt.save(what, file)
        file.seek(0)
        found = lt.load(file)
        if expected is None:
            assert list(found) == ["weight", "bias"] and lt.equal(found["bias"], what.bias)
        else:
            assert found["a"].tolist() == [1, 1] and found["b"][1] == (1, "text")
    with pytest.raises(TypeError, match="written to a path"):
        lt.save(lt.relu, io.BytesIO(), inputs=(lt.ones(1),))
