"""Kernels that were compiled with the library: common ops run them at once and without LLVM, with
the bits that every engine gives; where they are missing or of another build, the library says so
and works on."""

import os
import subprocess
import sys

import pytest
from built import LIBRARY, ROOT, copy_of_lathe

import lathe as lt

SHIPPED = LIBRARY / "liblathe_shipped.so"
LLVM = LIBRARY / "liblathe_llvm.so"
pytestmark = pytest.mark.skipif(not SHIPPED.exists(), reason="this build compiled no kernels ahead")

PROGRAM = """
import hashlib, sys
import lathe as lt
lt.set_flag("fuse_after", 0)
F = lt.nn.functional
seen = hashlib.sha256()
for dtype in (lt.float32, lt.float64, lt.float16, lt.bfloat16):
    lt.manual_seed(1)
    x = (lt.randn(37, 65) * 2 + 3).to(dtype).requires_grad_()
    w, b = (lt.rand(65).to(dtype).requires_grad_() for _ in range(2))
    target = lt.randint(0, 65, (37,))
    results = [
        F.softmax(x, -1), F.log_softmax(x, 1), lt.logsumexp(x, 1), lt.var(x, 1),
        F.layer_norm(x, (65,), w, b), F.layer_norm(x, (65,)), F.rms_norm(x, (65,), w),
        F.cross_entropy(x, target), F.mse_loss(x, (x * 0.5).detach()),
        F.batch_norm(x, lt.zeros(65).to(dtype), lt.ones(65).to(dtype), w, b, training=True),
    ]
    for y in results:
        seen.update(bytes(y.detach().to(lt.float64).numpy()))
        for g in lt.autograd.grad(y, (x, w, b), lt.ones_like(y), allow_unused=True):
            seen.update(b"" if g is None else bytes(g.to(lt.float64).numpy()))
maps = open("/proc/self/maps").read()
programs = lt._lathe._composites().splitlines()
print("lathe_llvm" in maps, "lathe_shipped" in maps, len(programs) > 20, seen.hexdigest())
"""


def run(folder=None, **variables):
    """(LLVM is mapped, so are the shipped kernels, there are programs, bits), what was said."""
    env = os.environ | {"LATHE_CACHE_DIR": "", "LATHE_ENGINE": "auto"} | variables
    if folder is not None:
        env["PYTHONPATH"] = str(folder)
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    *mapped, bits = done.stdout.split()
    return [word == "True" for word in mapped], bits, done.stderr


@pytest.fixture(scope="module")
def as_it_is():
    return run()


def has(isa):
    before = lt.get_flag("isa")
    try:
        lt.set_flag("isa", isa)
        lt.ones(2).exp()
        return True
    except lt.UnsupportedError:
        return False
    finally:
        lt.set_flag("isa", before)


def test_common_ops_run_without_llvm(as_it_is):
    mapped, _, said = as_it_is
    if not has("avx2"):
        pytest.skip("no kernels are compiled ahead for this processor")
    assert mapped == [False, True, True] and said == ""


@pytest.mark.parametrize("engine, isa", [("simd", "auto"), ("simd", "portable"), ("llvm", "auto"),
                                         ("auto", "avx2"), ("auto", "avx512")])  # fmt: skip
def test_bits_are_those_of_every_engine(as_it_is, engine, isa):
    if engine == "llvm" and not LLVM.exists():
        pytest.skip("this build has no LLVM")
    if not has(isa):
        pytest.skip(f"this processor has no {isa}")
    mapped, bits, _ = run(LATHE_ENGINE=engine, LATHE_ISA=isa)
    assert bits == as_it_is[1]
    assert mapped[:2] == [engine == "llvm", engine == "auto"]


def test_without_the_kernels_it_says_so_once_and_works_on(as_it_is, tmp_path):
    _, bits, said = run(copy_of_lathe(tmp_path, leave_out=(SHIPPED.name,)))
    assert bits == as_it_is[1]
    assert said.count("compiled ahead") == 1 and "not found (liblathe_shipped.so)" in said
    _, bits, said = run(copy_of_lathe(tmp_path / "damaged", broken=(SHIPPED.name,)))
    assert bits == as_it_is[1]
    assert said.count("compiled ahead") == 1 and "cannot be opened" in said


def test_kernels_of_another_build_are_not_used(as_it_is, tmp_path):
    source, other = tmp_path / "other.cpp", tmp_path / "other.so"
    source.write_text(
        '#include "jit/kernel/shipped.h"\n'
        'extern "C" __attribute__((visibility("default")))\n'
        "const lathe::jit::ShippedKernels lathe_kernels{\n"
        "    lathe::jit::kCodegenVersion - 1, nullptr, 0};"
    )
    includes = [f"-I{ROOT}", f"-I{ROOT / 'include'}", f"-I{ROOT / '.deps/abseil/include'}"]
    command = ["g++", "-std=c++20", "-shared", "-fPIC", *includes, source, "-o", other]
    subprocess.run(command, check=True)
    _, bits, said = run(copy_of_lathe(tmp_path / "copy", instead={SHIPPED.name: other}))
    assert bits == as_it_is[1]
    assert said.count("compiled ahead") == 1 and "of another build" in said


def test_they_take_little_room():
    assert SHIPPED.stat().st_size <= 4 << 20
