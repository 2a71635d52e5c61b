"""The same program in processes of its own: nothing may depend on the number of threads, on the
instruction set, on a clock or on an address."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.serial

PROGRAM = """
import hashlib, re, lathe as lt
from lathe import nn

lt.manual_seed(3)
model = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
    nn.Linear(8 * 4 * 4, 64), nn.ReLU(), nn.Linear(64, 10),
)
optimizer = lt.optim.Adam(model.parameters(), lr=0.01)
x, target = lt.randn(64, 1, 8, 8), lt.randint(0, 10, (64,))

def step(x, target):
    loss = nn.functional.cross_entropy(model(x), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss

def digest(*tensors):
    h = hashlib.sha256()
    for t in tensors:
        h.update(t.detach().contiguous().numpy().tobytes())
    return h.hexdigest()

step(x, target)
fast = lt.trace(step)
losses = [fast(x, target) for _ in range(3)]
a, b = lt.randn(300, 700), lt.randn(700, 200)
big = lt.randn(1 << 18)
values = [a @ b, big.sum(), big.softmax(0), big.cumsum(0), big.sort()[0], big.topk(9)[0],
          lt.rand(1 << 16), big.view(512, 512).mean(1), big.view(512, 512).T.contiguous().var(0)]
print(hashlib.sha256(fast.graph.encode()).hexdigest())
print(PLAN)
print(digest(*losses, *model.state_dict().values()))
print(digest(*values))
"""
# Every step with its choice, without the times of passes. What explain() says of code depends on
# the instruction set.
PLAN = (
    r"hashlib.sha256(re.sub(r'\s+[\d.]+ ms', '', fast.explain(verbose=True)).encode()).hexdigest()"
)


def said(plan=PLAN, **env):
    environment = {**os.environ, **{f"LATHE_{k.upper()}": str(v) for k, v in env.items()}}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("PLAN", plan)],
        env=environment, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_one_and_eight_threads_make_the_same_plan_and_the_same_bytes():
    one, eight = said(threads=1), said(threads=8)
    assert one == eight and len(one.split()) == 4


def test_the_comparison_sees_a_difference():
    assert said(threads=1, rewrites_off="all") != said(threads=1)


@pytest.mark.parametrize("isa", ["avx2", "portable"])
def test_instruction_sets_agree(isa):
    assert said(plan="0", isa=isa) == said(plan="0")


def test_engines_agree():
    bytes_of = {e: said(plan="0", engine=e).split()[2:] for e in ("auto", "simd", "llvm", "nodes")}
    assert all(b == bytes_of["auto"] for b in bytes_of.values()), bytes_of
