"""A shared object takes a composite whole: forward by its kernel, gradient by the expansion."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

ATTENTION = r"""
#include <lathe/custom_op.h>
#include <cmath>

struct Attention {
  static constexpr const char* claims = "scaled_dot_product_attention";
  static constexpr const char* entry = "mine.attention";
  static void accepts(lathe::custom::Infer& c) {
    if (c.dtype(0) != lathe::custom::DType::f32 || c.rank(0) != 3) c.fail("f32 of rank 3 only");
    if (!c.is_none(3) || c.real(4) != 0) c.fail("no mask, no dropout");
  }
  static void compute(lathe::custom::Compute& c) {
    auto q = c.input<float>(0), k = c.input<float>(1), v = c.input<float>(2);
    auto y = c.output<float>(0);
    const size_t batch = c.size(0, 0).number(), m = c.size(0, 1).number();
    const size_t w = c.size(0, 2).number();
    const size_t n = c.size(1, 1).number(), u = c.size(2, 2).number();
    for (size_t b = 0; b < batch; ++b)
      for (size_t i = 0; i < m; ++i) {
        std::vector<double> score(n);
        double top = -1e300, total = 0;
        for (size_t j = 0; j < n; ++j) {
          for (size_t t = 0; t < w; ++t)
            score[j] += double(q[(b * m + i) * w + t]) * k[(b * n + j) * w + t];
          score[j] /= std::sqrt(double(w));
          top = std::max(top, score[j]);
        }
        for (double& s : score) total += s = std::exp(s - top);
        for (size_t t = 0; t < u; ++t) {
          double sum = 0;
          for (size_t j = 0; j < n; ++j) sum += score[j] * v[(b * n + j) * u + t];
          y[(b * m + i) * u + t] = float(sum / total);
        }
      }
  }
};
LATHE_OPS(Attention)
"""

PROGRAM = """
import lathe as lt

F = lt.nn.functional

def loss(x, wq, wk, wv, c):
    y = F.scaled_dot_product_attention(x @ wq, x @ wk, x @ wv)
    return ((y + x) * c).sum(), y

def run(order=1):
    lt.manual_seed(3)
    x, c = lt.randn(2, 5, 4, requires_grad=True), lt.randn(2, 5, 4)
    ws = [lt.randn(4, 4, requires_grad=True) for _ in range(3)]
    total, y = loss(x, *ws, c)
    grads = lt.autograd.grad(total, [x, *ws], create_graph=order > 1)
    if order > 1:
        grads = lt.autograd.grad(sum((g * g).sum() for g in grads), [x, *ws])
    return y.detach(), [g.numpy().tobytes() for g in grads]

plain, first = run()
_, second = run(2)
lt.library.load("./libattention.so")
whole, again = run()
assert not lt.equal(plain, whole) and lt.allclose(plain, whole, atol=1e-6)
assert again == first and run(2)[1] == second, "gradients keep the expansion's bits"

x = lt.randn(2, 5, 4)
traced = lt.trace(lambda x: F.scaled_dot_product_attention(x, x, x))
assert lt.equal(traced(x), F.scaled_dot_product_attention(x, x, x))
text = traced.explain(verbose=True)
assert "mine.attention (pinned): chosen" in text, text

def step(x, c):
    x = x.detach().requires_grad_()
    y = F.scaled_dot_product_attention(x, x * 2, x)
    (y * c).sum().backward()
    return y.detach(), x.grad
eager, graph = step(x, x), lt.trace(step)(x, x)
assert all(a.numpy().tobytes() == b.numpy().tobytes() for a, b in zip(eager, graph))

wide = x.double()
assert lt.equal(F.scaled_dot_product_attention(wide, wide, wide),
                F.softmax(wide @ wide.mT * lt.rsqrt(lt.tensor(4.0, dtype=lt.float64)), -1) @ wide)
said = lt.table("scaled_dot_product_attention", wide, wide, wide)
assert "mine.attention (pinned): declines (f32 of rank 3 only)" in said, said
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("claims")
    (where / "attention.cpp").write_text(ATTENTION)
    command = ["g++", "-std=c++17", "-O2", "-Wall", "-fPIC", "-shared", "-I", ROOT / "include"]
    command += [where / "attention.cpp", "-o", where / "libattention.so"]
    subprocess.run(command, check=True)
    return where


def test_a_claimed_composite_keeps_the_gradients_of_its_expansion(folder):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


WRONG = {
    'claims = "add"': "only composites can be claimed whole",
    'claims = "nothing"': "there is no op of this name",
    'entry = "attention"': "an entry lacks its name",
}


@pytest.mark.parametrize("line", WRONG)
def test_what_cannot_be_claimed(tmp_path, line):
    name = line.split(" = ")[0]
    text = "\n".join(
        f"  static constexpr const char* {line};" if f"* {name} = " in row else row
        for row in ATTENTION.split("\n")
    )
    (tmp_path / "wrong.cpp").write_text(text)
    command = ["g++", "-std=c++17", "-fPIC", "-shared", "-I", ROOT / "include"]
    subprocess.run([*command, tmp_path / "wrong.cpp", "-o", tmp_path / "libwrong.so"], check=True)
    program = "import lathe as lt\nlt.library.load('./libwrong.so')"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode != 0 and WRONG[line] in done.stderr, done.stderr
