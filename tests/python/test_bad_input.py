"""What the world does to a program: no memory, no disk, no LLVM, no vendor, Ctrl-C.

Each ends in a typed error or in the same result by another way, and the program goes on. Wrong
calls are in test_errors.py, damaged files in test_files.py and graph_file_hostile_test.cpp.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from built import SANITIZED

import lathe as lt

PACKAGE = Path(lt.__file__).parent


def python(code, *, path=None, **env):
    environment = dict(os.environ, **env)
    if path is not None:
        environment["PYTHONPATH"] = str(path)
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# ── memory ──────────────────────────────────────────────────────────────────────────────────────

LIMITED = """
import resource, lathe as lt
(lt.ones(300, 300) @ lt.ones(300, 300)).sum().item()      # threads, if any, are there
with open("/proc/self/statm") as f: used = int(f.read().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (used + (64 << 20),) * 2)
"""


@pytest.mark.skipif(SANITIZED, reason="sanitizers reserve the address space")
@pytest.mark.parametrize(
    "code",
    [
        "lt.ones(1 << 28)",
        "lt.ones(4096, 4096) @ lt.ones(4096, 4096)",
        "lt.ones(1 << 22).expand(64, 1 << 22).contiguous()",
        "lt.trace(lambda x: x + 1)(lt.ones(1 << 26))",
        "lt.cat([lt.ones(1 << 22)] * 64)",
    ],
)
def test_no_memory_left_under_ulimit(code):
    said = python(
        LIMITED
        + f"""
for _ in range(3):
    try:
        {code}
    except MemoryError as error:
        assert isinstance(error, lt.MemoryError)
        text = str(error)
    else:
        raise SystemExit("there was room")
assert lt.ones(1000).sum().item() == 1000
print(text)
"""
    )
    assert "at:       <string>:" in said and "next:" in said and "iB" in said


def test_max_memory_names_the_flag():
    said = python(
        """
import lathe as lt
try:
    for i in range(100):
        lt.set_flag("max_memory", "32M")
        x = lt.zeros(1 << 24)
except lt.MemoryError as error:
    print(error)
lt.set_flag("max_memory", 0)
assert lt.zeros(1 << 24).sum().item() == 0
"""
    )
    assert "max_memory" in said and "at:       <string>:6" in said and "next:" in said


# ── the kernel cache ────────────────────────────────────────────────────────────────────────────

COMPILES = """
import lathe as lt
lt.manual_seed(1)
f = lt.trace(lambda x, y: (x * y).tanh() + x)
x, y = lt.randn(100), lt.randn(100)
assert f(x, y).numpy().tobytes() == ((x * y).tanh() + x).numpy().tobytes()
print(f.counts["generated_runs"] > 0)
"""


@pytest.mark.parametrize("place", ["/proc/lathe", "/dev/null", "/dev/null/inside"])
def test_a_cache_that_cannot_be_written(place):
    assert python(COMPILES, LATHE_CACHE_DIR=place, LATHE_ENGINE="llvm").strip() == "True"


def test_a_cache_that_is_full_or_damaged(tmp_path):
    for _ in range(2):
        python(COMPILES, LATHE_CACHE_DIR=str(tmp_path), LATHE_ENGINE="llvm")
    kept = [p for p in tmp_path.rglob("*") if p.is_file()]
    assert kept, "the cache is used at all"
    for p in kept:
        p.write_bytes(b"\0" * 100)
    assert python(COMPILES, LATHE_CACHE_DIR=str(tmp_path), LATHE_ENGINE="llvm").strip() == "True"


# ── parts that are not there ────────────────────────────────────────────────────────────────────


@pytest.fixture
def without(tmp_path):
    """The package with some of its shared objects missing."""

    def make(*missing):
        package = tmp_path / "without" / "lathe"
        package.mkdir(parents=True)
        for entry in PACKAGE.iterdir():
            if entry.name in missing or entry.name == "__pycache__":
                continue
            if entry.suffix == ".so":
                shutil.copy(entry.resolve(), package / entry.name)
            else:
                (package / entry.name).symlink_to(entry.resolve())
        return package.parent

    return make


@pytest.mark.skipif(SANITIZED, reason="copies what the sanitizer has opened")
def test_without_llvm_strips_give_the_same_bits(without):
    place = without("liblathe_llvm.so")
    said = python(
        COMPILES
        + """
print(f.explain(verbose=True))
lt.set_flag("engine", "llvm")
try:
    lt.trace(lambda x: x.exp() + 1)(x)
except lt.UnsupportedError as error:
    print("ERROR", error)
""",
        path=place,
    )
    assert said.startswith("False")
    if "ERROR" in said:
        assert "liblathe_llvm" in said and "at:" in said and "next:" in said


@pytest.mark.skipif(SANITIZED, reason="copies what the sanitizer has opened")
def test_without_a_vendor_the_next_entry_serves_and_the_reason_is_told(without):
    said = python(
        """
import lathe as lt
x = lt.arange(6).float().view(2, 3)
want = (x @ x.T).tolist()
lt.set_flag("disabled", "own.gemm")
assert (x @ x.T).tolist() == want
f = lt.trace(lambda a: a @ a.T)
f(x)
print(f.explain(verbose=True))
lt.set_flag("disabled", "own.gemm,openblas,eigen,reference")
try:
    x @ x.T
except lt.UnsupportedError as error:
    print("ERROR", error)
""",
        path=without("liblathe_onednn.so"),
    )
    assert "onednn.matmul" in said and "not found (liblathe_onednn.so)" in said
    error = said[said.index("ERROR") :]
    assert "no table entry runs this" in error and "disabled by flag" in error
    assert "not found (liblathe_onednn.so)" in error and "at:" in error and "next:" in error


# ── Ctrl-C ──────────────────────────────────────────────────────────────────────────────────────

TRAINS = """
import sys, lathe as lt
from lathe import nn
model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10))
optimizer = lt.optim.Adam(model.parameters(), lr=0.01)
x, t = lt.randn(256, 64), lt.randint(0, 10, (256,))
def step(x, t):
    loss = nn.functional.cross_entropy(model(x), t)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss
run = {}
steps = 0
run(x, t)
print("ready", flush=True)
try:
    while True:
        run(x, t)
        steps += 1
except KeyboardInterrupt:
    pass
lt.save(model, sys.argv[1])
assert all(lt.isfinite(p).all().item() for p in model.parameters())
before = run(x, t).item()
for _ in range(5):
    after = run(x, t).item()
assert after < before, (before, after)
print("went on", steps > 0)
"""

LONG = """
import lathe as lt
x = lt.randn(2000, 2000)
print("ready", flush=True)
try:
    for _ in range(1000):
        y = x
        for _ in range(100): y = y @ x
except KeyboardInterrupt:
    print("went on", x.sum().isfinite().item())
"""


def interrupted(code, *arguments):
    command = [sys.executable, "-c", code, *arguments]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdout=pipe, stderr=subprocess.STDOUT, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=60)
        return said.strip(), time.monotonic() - began, process.returncode
    finally:
        process.kill()


@pytest.mark.serial
@pytest.mark.parametrize("run", ["step", "lt.trace(step)"])
def test_ctrl_c_during_training(tmp_path, run):
    path = tmp_path / "model.safetensors"
    said, _, code = interrupted(TRAINS.replace("{}", run, 1), str(path))
    assert (said, code) == ("went on True", 0)
    assert lt.load(path)["0.weight"].shape == (256, 64)


@pytest.mark.serial
def test_ctrl_c_inside_a_long_op():
    said, seconds, code = interrupted(LONG)
    assert (said, code) == ("went on True", 0) and seconds < 20


# ── disks ───────────────────────────────────────────────────────────────────────────────────────


def test_a_full_disk_leaves_what_was_there(tmp_path):
    said = python(
        f"""
import os, resource, signal, lathe as lt
os.chdir({str(tmp_path)!r})
lt.save({{"a": lt.ones(3)}}, "model")
before = open("model", "rb").read()
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)          # the limit then is an error of write()
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    lt.save({{"a": lt.ones(1 << 20)}}, "model")
except lt.FileError as error:
    assert isinstance(error, OSError)
    print(error)
assert os.listdir() == ["model"] and open("model", "rb").read() == before
lt.save({{"a": lt.ones(4)}}, "model")
"""
    )
    assert "save: the file cannot be written" in said
    assert "at:       <string>:9" in said and "got:      model" in said and "next:" in said


@pytest.mark.parametrize("path", ["/proc/model", "/dev/null/model", "no/such/folder/model"])
def test_places_that_cannot_be_written(path):
    with pytest.raises(lt.FileError, match="save: the file cannot be written") as caught:
        lt.save({"a": lt.ones(1)}, path)
    assert caught.value.got == path and "test_bad_input.py" in caught.value.site
