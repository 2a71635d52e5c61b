"""lathe.freeze, and save and load of programs: the same bits, the same errors, no Python needed."""

import os
import shutil
import subprocess
import threading

import numpy as np
import pytest
from built import BUILD, ROOT

import lathe as lt
from lathe import nn


def same_bits(a, b):
    a, b = a.numpy(), b.numpy()
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def layer(x, w, b):
    return lt.gelu(x @ w + b)


def layer_inputs(n=3, k=4, m=5):
    lt.manual_seed(n)
    return lt.randn(n, k), lt.randn(k, m), lt.randn(m)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.fc = nn.Linear(4 * 4 * 4, 3)
        self.dropout = nn.Dropout(0.5)

    def forward(self, x):
        x = lt.relu(self.norm(self.conv(x)))
        x = lt.max_pool2d(x, 2)
        return self.fc(self.dropout(x.flatten(1)))


def trained_net():
    lt.manual_seed(1)
    net = Net()
    for _ in range(3):
        net(lt.randn(6, 1, 8, 8))  # moves the running statistics
    return net


# ── save and load ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("traced", [False, True])
def test_a_function_comes_back_with_the_same_bits(tmp_path, traced):
    function = lt.trace(layer) if traced else layer
    lt.save(function, tmp_path / "layer.lathe", inputs=layer_inputs())
    loaded = lt.load(tmp_path / "layer.lathe")
    assert [name for name, _, _ in loaded.inputs] == ["x", "w", "b"]
    for n, k, m in ((3, 4, 5), (1, 1, 1), (7, 2, 9), (0, 4, 5), (2, 0, 3)):
        x, w, b = layer_inputs(n, k, m)
        assert same_bits(loaded(x, w, b), layer(x, w, b))
    assert same_bits(loaded(b=b, x=x, w=w), layer(x, w, b))


def test_strided_inputs_are_the_same_elements(tmp_path):
    lt.save(layer, tmp_path / "layer.lathe", inputs=layer_inputs())
    loaded = lt.load(tmp_path / "layer.lathe")
    x, w, b = lt.randn(4, 6).t(), lt.randn(5, 4).t(), lt.randn(10)[::2]
    assert same_bits(loaded(x, w, b), layer(x, w, b))


def test_a_script_keeps_what_data_decides(tmp_path):
    @lt.script
    def halve(x):
        y = x
        while y.abs().max() > 1:
            y = y / 2
        if y.sum() < 0:
            y = -y
        return y

    lt.save(halve, tmp_path / "halve.lathe", inputs=lt.ones(3))
    loaded = lt.load(tmp_path / "halve.lathe")
    for values in ([0.5], [9.0, -40.0, 3.0], [-7.0, -0.0]):
        x = lt.tensor(values)
        assert same_bits(loaded(x), halve(x))


def test_several_results_and_inputs_that_are_written(tmp_path):
    def step(state, x):
        state += x
        return state * 2, x.sum()

    lt.save(step, tmp_path / "step.lathe", inputs=(lt.zeros(3), lt.ones(3)))
    loaded = lt.load(tmp_path / "step.lathe")
    state = lt.zeros(3)
    for expected in (1.0, 2.0):
        doubled, total = loaded(state, lt.ones(3))
        assert state.tolist() == [expected] * 3
        assert doubled.tolist() == [2 * expected] * 3
        assert total.item() == 3


def test_random_numbers_and_integers(tmp_path):
    def noisy(x, index):
        return lt.dropout(x, 0.5, True)[index].sum()

    index = lt.tensor([0, 2])
    lt.save(noisy, tmp_path / "noisy.lathe", inputs=(lt.ones(3, 50), index))
    loaded = lt.load(tmp_path / "noisy.lathe")
    lt.manual_seed(5)
    expected = noisy(lt.ones(3, 50), index)
    lt.manual_seed(5)
    assert same_bits(loaded(lt.ones(3, 50), index), expected)


def test_a_module_keeps_the_weights_of_the_day_it_was_saved(tmp_path):
    net = trained_net().eval()
    x = lt.randn(5, 1, 8, 8)
    with lt.no_grad():
        expected = net(x)
        lt.save(net, tmp_path / "net.lathe", inputs=x)
        for p in net.parameters():
            p.zero_()
    loaded = lt.load(tmp_path / "net.lathe")
    assert same_bits(loaded(x), expected)
    assert "%fc_bias" in loaded.graph


def test_specs_say_which_sizes_are_free(tmp_path):
    net = trained_net().eval()
    spec = lt.InputSpec((None, 1, 8, 8), name="images")
    lt.save(net, tmp_path / "net.lathe", inputs=spec)
    loaded = lt.load(tmp_path / "net.lathe")
    assert loaded.inputs == [("images", lt.float32, (None, 1, 8, 8))]
    for n in (1, 2, 9):
        x = lt.randn(n, 1, 8, 8)
        with lt.no_grad():
            assert same_bits(loaded(x), net(x))
    with pytest.raises(lt.ShapeError, match=r"(?s)input 0 \(images\).*got: .*1, 9, 8.*expected:"):
        loaded(lt.randn(2, 1, 9, 8))


def test_a_size_that_was_branched_on_is_part_of_the_program(tmp_path):
    def branches(x):
        return x * 2 if x.shape[0] > 3 else x + 1

    lt.save(branches, tmp_path / "f.lathe", inputs=lt.ones(5))
    loaded = lt.load(tmp_path / "f.lathe")
    assert loaded(lt.ones(9)).tolist() == [2] * 9
    with pytest.raises(lt.ShapeError, match="saved for inputs of other sizes"):
        loaded(lt.ones(2))


def test_a_free_size_that_a_loop_runs_over_is_refused(tmp_path):
    class Loops(nn.Module):
        def forward(self, x):
            total = x[0]
            for i in range(1, x.shape[0]):
                total = total + x[i]
            return total

    free, fixed = lt.InputSpec((None, 3)), lt.InputSpec((7, 3))
    for capture in (
        lambda spec: lt.freeze(Loops(), spec),
        lambda spec: lt.save(Loops(), tmp_path / "loops.lathe", spec),
    ):
        with pytest.raises(lt.TraceError, match=r"(?s)axis 0 of x.*test_programs.py"):
            capture(free)
        assert not (tmp_path / "loops.lathe").exists()
    assert lt.freeze(Loops(), fixed)(lt.ones(7, 3)).tolist() == [7.0, 7.0, 7.0]
    assert lt.freeze(Loops(), lt.ones(4, 3))(lt.ones(4, 3)).tolist() == [4.0, 4.0, 4.0]


@pytest.mark.parametrize("value", [2**62 - 1, 2**62, 2**63 - 1, -(2**62) - 1, -(2**63)])
def test_integers_of_all_sizes_are_constants_of_a_file(value, tmp_path):
    held = lt.tensor([value, 1])
    lt.save(lambda x: x * 0 + held, tmp_path / "f.lathe", inputs=held)
    assert lt.load(tmp_path / "f.lathe")(held).tolist() == [value, 1]


def test_threads_share_a_program(tmp_path):
    lt.save(layer, tmp_path / "layer.lathe", inputs=layer_inputs())
    loaded = lt.load(tmp_path / "layer.lathe")
    wrong = []

    def work(n):
        inputs = layer_inputs(n)
        expected = layer(*inputs)
        for _ in range(30):
            if not same_bits(loaded(*inputs), expected):
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 5)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


# ── freeze ──────────────────────────────────────────────────────────────────────────────────────


def test_freezing_folds_batch_norm_and_nothing_else_changes():
    net = trained_net()
    x = lt.randn(5, 1, 8, 8)
    frozen = lt.freeze(net, x)
    assert net.training and net.norm.training
    assert "batch norm" in frozen.note
    assert "packed once, for all calls" in frozen.explain(verbose=True)
    assert frozen.graph.count("convolution2d(") == 1
    for op in ("rsqrt(", "dropout(", "mul("):
        assert op not in frozen.graph
    net.eval()
    with lt.no_grad():
        np.testing.assert_allclose(frozen(x).numpy(), net(x).numpy(), rtol=1e-4, atol=1e-5)


def test_a_frozen_program_is_saved_with_its_bits(tmp_path):
    frozen = lt.freeze(trained_net(), lt.InputSpec((None, 1, 8, 8)))
    frozen.save(tmp_path / "a.lathe")
    lt.save(frozen, tmp_path / "b.lathe")
    assert (tmp_path / "a.lathe").read_bytes() == (tmp_path / "b.lathe").read_bytes()
    loaded = lt.load(tmp_path / "a.lathe")
    assert loaded.note == frozen.note and loaded.graph == frozen.graph
    for n in (1, 4):
        x = lt.randn(n, 1, 8, 8)
        assert same_bits(loaded(x), frozen(x))


def test_explain_names_every_step_with_line_primitive_and_reasons():
    text = lt.freeze(trained_net(), lt.randn(2, 1, 8, 8)).explain(verbose=True)
    assert "test_programs.py:" in text
    for word in (
        "convolution2d",
        "own.gemm (defined): chosen",
        "onednn.conv (pinned)",
        "fuse_pointwise",
    ):
        assert word in text


# ── refusals ────────────────────────────────────────────────────────────────────────────────────


def test_what_cannot_be_saved_says_why(tmp_path):
    path = tmp_path / "x.lathe"
    net = trained_net()
    with pytest.raises(lt.TraceError, match="(?s)norm.*evaluation mode"):
        lt.save(net, path, inputs=lt.randn(2, 1, 8, 8))
    with pytest.raises(lt.TypeError, match="saved for certain inputs"):
        lt.save(layer, path)
    with pytest.raises(lt.TypeError, match="tensor or a tuple of tensors"):
        lt.save(lambda x: {"y": x}, path, inputs=lt.ones(2))
    with pytest.raises(lt.TraceError):
        lt.save(lambda x: x if x.sum() > 0 else -x, path, inputs=lt.ones(2))
    with pytest.raises(lt.TypeError, match="example tensor or as an InputSpec"):
        lt.save(layer, path, inputs=(1, 2, 3))
    with pytest.raises(lt.TypeError, match="freeze takes a module"):
        lt.freeze(layer, lt.ones(2))

    def learns(x):
        net.fc(x).sum().backward()
        return x

    with pytest.raises(lt.TraceError, match="sets the gradient"):
        lt.save(learns, path, inputs=lt.ones(2, 64))
    assert all(p.grad is None for p in net.parameters())
    assert os.listdir(tmp_path) == []


def test_inputs_are_checked(tmp_path):
    lt.save(layer, tmp_path / "layer.lathe", inputs=layer_inputs())
    loaded = lt.load(tmp_path / "layer.lathe")
    x, w, b = layer_inputs()
    with pytest.raises(lt.TypeError, match="number of inputs"):
        loaded(x, w)
    with pytest.raises(lt.TypeError, match="f64"):
        loaded(x.double(), w, b)
    with pytest.raises(lt.TypeError, match="given by name"):
        loaded(x, w=w, c=b)
    with pytest.raises(lt.TypeError, match="takes and gives tensors"):
        loaded(x, w, 3)
    with pytest.raises(lt.ShapeError):
        loaded(x, lt.randn(6, 5), b)


def test_damaged_files_are_refused(tmp_path):
    path = tmp_path / "layer.lathe"
    lt.save(layer, path, inputs=layer_inputs())
    good = path.read_bytes()
    for at in range(0, len(good), 7):
        path.write_bytes(good[:at] + bytes([good[at] ^ 0x10]) + good[at + 1 :])
        with pytest.raises(lt.FileError):
            lt.load(path)
    for length in range(0, len(good), 11):
        path.write_bytes(good[:length])
        with pytest.raises(lt.FileError):
            lt.load(path)
    with pytest.raises(OSError):
        lt.load(tmp_path / "nowhere.lathe")
    with pytest.raises(lt.FileError):
        lt.save(layer, tmp_path / "no" / "folder.lathe", inputs=layer_inputs())


def test_an_unknown_op_is_refused_by_name(tmp_path):
    text = "graph f(%x: f32[s0]) -> (f32[s0]) {\n  %0: f32[s0] = launder(%x)\n  return %0\n}\n"
    with pytest.raises(lt.FileError):
        lt._lathe._parse_program(text.encode(), "text")


# ── without Python ──────────────────────────────────────────────────────────────────────────────

COMPILERS = [["g++"], ["clang++", "-stdlib=libc++"]]


def compile_cpp(compiler, sources, output, *options):
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"{compiler[0]} is not installed")
    probe = "#include <ciso646>\nint main() {}"
    link = [*compiler, "-x", "c++", "-", "-o", os.devnull]
    if subprocess.run(link, input=probe.encode(), capture_output=True).returncode:
        pytest.skip(f"{' '.join(compiler)} has no standard library")
    lib = BUILD / "lib"
    done = subprocess.run(
        [*compiler, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I", ROOT / "include", *options,
         *sources, "-o", output, "-L", lib, "-llathe", f"-Wl,-rpath,{lib}"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("compiler", COMPILERS, ids=["g++", "clang++ with libc++"])
def test_the_tour_runs(tmp_path, compiler):
    tour = tmp_path / "tour"
    compile_cpp(compiler, [ROOT / "examples/cpp/tour.cpp"], tour, "-std=c++17")
    done = subprocess.run([tour, tmp_path / "layer.lathe"], capture_output=True, text=True)
    assert done.returncode == 0 and "WRONG" not in done.stdout, done.stdout + done.stderr
    assert done.stdout.count("ok: ") == 11


def test_the_c_interface(tmp_path):
    program = tmp_path / "consumer_c"
    compile_cpp(["gcc"], [ROOT / "tests/consumer/main.c"], program, "-std=c11")
    done = subprocess.run([program, tmp_path / "square.lathe"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "ok\n"), done.stderr


def test_cpp_gives_the_bits_of_python(tmp_path):
    program = tmp_path / "consumer_cpp"
    compile_cpp(["g++"], [ROOT / "tests/consumer/main.cpp"], program, "-std=c++17")
    frozen = lt.freeze(trained_net(), lt.InputSpec((None, 1, 8, 8)))
    frozen.save(tmp_path / "net.lathe")
    x = lt.randn(7, 1, 8, 8)
    (tmp_path / "x").write_bytes(x.numpy().tobytes())
    command = [program, tmp_path / "net.lathe", tmp_path / "x", "7", "1", "8", "8"]
    done = subprocess.run(command, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == frozen(x).numpy().tobytes()
    linked = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    assert "liblathe.so" in linked and "python" not in linked.lower()
