"""The weights of a loaded program are kept in packed form only, and nobody sees a difference."""

import subprocess
import sys
import threading

import numpy as np
import pytest

import lathe as lt
from lathe import nn


class Net(nn.Module):
    """Products of every kind of side, and a weight that two of them read."""

    def __init__(self, dtype=lt.float32):
        super().__init__()
        self.first = nn.Linear(300, 200, dtype=dtype)
        self.tied = nn.Parameter(lt.randn(200, 200, dtype=dtype) / 14)
        self.conv = nn.Conv1d(200, 150, 3, padding=1, dtype=dtype)
        self.plain = nn.Linear(5, 3, dtype=dtype)  # too small to matter

    def forward(self, x):
        h = (self.first(x) @ self.tied).relu() @ self.tied.t()
        h = self.conv(h[:, None, :].expand(-1, 7, -1).transpose(1, 2))
        return self.plain(h[:, :, :5]).sum(-1)


def loaded(tmp_path, dtype=lt.float32):
    lt.manual_seed(3)
    net = Net(dtype).eval()
    x = lt.randn(40, 300, dtype=dtype)
    path = tmp_path / "net.lt"
    lt.save(lt.freeze(net, x), path)
    return net, x, path, lt.load(path)


def same(a, b):
    np.testing.assert_array_equal(a.detach().numpy(), b.detach().numpy())


@pytest.mark.parametrize("dtype", [lt.float32, lt.float64, lt.bfloat16])
def test_calls_of_all_sizes_and_the_file(tmp_path, dtype):
    net, x, path, program = loaded(tmp_path, dtype)
    for rows in (40, 1, 3, 40, 17, 2):
        given = x[:rows]
        assert lt.equal(program(given), net(given).detach())
    again = tmp_path / "again.lt"
    lt.save(program, again)
    assert again.read_bytes() == path.read_bytes()
    assert lt.equal(program(x), net(x).detach())
    assert lt.equal(lt.load(again)(x), net(x).detach())


@pytest.mark.parametrize("isa", ["portable", "avx2"])
def test_another_instruction_set_packs_anew(tmp_path, isa):
    net, x, _, program = loaded(tmp_path)
    same(program(x), net(x))
    before = lt.get_flag("isa")
    try:
        lt.set_flag("isa", isa)
        for rows in (40, 2):
            same(program(x[:rows]), net(x[:rows]))
    finally:
        lt.set_flag("isa", before)
    same(program(x), net(x))


def test_a_gradient_reads_the_weights(tmp_path):
    net, x, _, program = loaded(tmp_path)
    same(program(x), net(x))
    leaves = [x.clone().requires_grad_() for _ in range(2)]
    for f, leaf in zip((program, net), leaves):
        (f(leaf) ** 2).sum().backward()
    same(leaves[0].grad, leaves[1].grad)
    same(program(x), net(x))


def test_a_model_that_is_there_keeps_its_weights():
    net = Net().eval()
    x = lt.randn(40, 300)
    shown = net.first.weight.detach().numpy()
    before = shown.copy()
    program = lt.freeze(net, x)
    same(program(x), net(x))
    np.testing.assert_array_equal(shown, before)
    np.testing.assert_array_equal(net.first.weight.detach().numpy(), before)


def test_threads_that_call_and_save_at_once(tmp_path):
    net, x, path, _ = loaded(tmp_path)
    wanted = {rows: net(x[:rows]).detach() for rows in (1, 4, 40)}
    for _ in range(5):
        program, wrong = lt.load(path), []
        start = threading.Barrier(5)

        def call(rows, program=program, wrong=wrong, start=start):
            start.wait()
            wrong.extend(rows for _ in range(5) if not lt.equal(program(x[:rows]), wanted[rows]))

        def save(program=program, wrong=wrong, start=start):
            start.wait()
            lt.save(program, tmp_path / "again.lt")
            if (tmp_path / "again.lt").read_bytes() != path.read_bytes():
                wrong.append("file")

        threads = [threading.Thread(target=call, args=(rows,)) for rows in (1, 4, 40, 40)]
        threads.append(threading.Thread(target=save))
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert not wrong


HELD = """
import sys
import lathe as lt

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()

import resource
lt.set_num_threads(1)
x = lt.ones(64, 2048)
(x @ x.t()).sum().item()  # what products need
before = resident()
program = lt.load(sys.argv[1])
program(x)
print(resident() - before)
"""


def test_each_weight_is_there_once(tmp_path):
    layers = nn.Sequential(*(nn.Linear(2048, 2048, bias=False) for _ in range(4)))
    path = tmp_path / "layers.lt"
    lt.save(lt.freeze(layers, lt.ones(64, 2048)), path)
    done = subprocess.run(
        [sys.executable, "-c", HELD, path], capture_output=True, text=True, check=True
    )
    weights = 4 * 2048 * 2048 * 4
    assert 0.9 * weights < int(done.stdout) < 1.4 * weights
