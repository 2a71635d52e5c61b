"""Files of older commits: the names in their texts are read as what they mean today.

older/program.lathe was written by commit 3c8555d from `program` below. It names `max_dim`,
`min_dim`, `conv2d`, `conv2d_input`, `conv2d_weight`, `bernoulli`, `pow` and `squeeze` as they were
then, and a parameter `slope`. DIGESTS is what that commit gave.
"""

import hashlib
from pathlib import Path

import lathe as lt
from lathe.nn import functional as F

FILE = Path(__file__).parent / "older/program.lathe"
DIGESTS = [
    "de2f0a7fcc83566f", "db7f8e2aa97f8d23", "8a136acd559f233c", "2c43d7c21a57d270",
    "f4d2245a49e6f138", "8e01de4dec40c494", "8f5223ed3d6d59c8", "487e66eacf01b5ad",
    "ecab6fabf3feb6c0", "e4188113ada759a0", "3ef462038898d67a", "99925f605ba8b524",
    "73e518010af6c277", "12dfb10a3612484a", "5d484faa68d276ef", "3bb6a60646165de5",
]  # fmt: skip


def program(x, image, kernel, p):
    low, high = lt.min(x, 1), lt.max(x, 0, True)
    few, order = lt.topk(x, 2, 0, False), lt.sort(x, 1, True)
    edges = lt.searchsorted(lt.squeeze(p), x.clone(), right=True)
    power = lt.squeeze(p, 0) ** x.abs()
    dropped = F.dropout(F.leaky_relu(x, 0.25), 0.5)
    shares = lt.softmax(x, 1).sum(0, keepdim=True) + p.mean()
    numbers = lt.arange(1, 4, dtype=lt.float64) + lt.eye(3, dtype=lt.float64)
    image, kernel = image.detach().requires_grad_(), kernel.detach().requires_grad_()
    windows = F.conv2d(image, kernel, stride=2, padding=1)
    slopes = lt.autograd.grad([(windows * windows).sum()], [image, kernel])
    found = (*low, *high, *few, *order, edges, power, dropped, shares, numbers)
    return (*found, windows.detach(), *slopes)


def inputs():
    """Small multiples of 1/4, so that sums of products are exact in any order."""
    x = (lt.arange(12, dtype=lt.float32) * 7 % 12 - 5).reshape(4, 3) / 4
    image = (lt.arange(25, dtype=lt.float32) * 11 % 25 - 12).reshape(1, 1, 5, 5) / 4
    kernel = (lt.arange(8, dtype=lt.float32) - 3).reshape(2, 1, 2, 2) / 4
    return x, image, kernel, lt.tensor([[0.25, 1.0, 2.5]])


def digests(f):
    lt.manual_seed(7)
    results = f(*inputs())
    return [hashlib.sha256(t.numpy().tobytes()).hexdigest()[:16] for t in results]


def test_a_file_of_3c8555d_gives_the_same_bits():
    assert digests(lt.load(FILE)) == DIGESTS
    assert digests(program) == DIGESTS


def test_it_is_written_with_todays_names(tmp_path):
    text = FILE.read_bytes()
    for name in (b" min_dim(", b" max_dim(", b"slope=", b" bernoulli(", b" conv2d_input("):
        assert name in text
    path = tmp_path / "again.lathe"
    lt.load(FILE).save(path)
    text = path.read_bytes()
    for name in (b" min.dim(", b" max.dim(", b"negative_slope=", b" bernoulli.size("):
        assert name in text
    assert digests(lt.load(path)) == DIGESTS
