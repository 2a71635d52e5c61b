"""Files that a killed process leaves beside those it was writing: the next one that writes there
removes them, and disturbs no process that is still writing."""

import fcntl
import os
import signal
import subprocess
import sys
import time

import pytest

import lathe as lt

# Killed by the system in the middle of a write: the file may not grow beyond 50 kB.
KILLED = """
import resource, signal, sys, lathe as lt
big = lt.ones(100_000)
path, kind = sys.argv[1:]
program = lt.jit.capture(lambda x: x + big, lt.ones(100_000)) if kind == "lathe" else None
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
program.save(path) if program else lt.save({"a": big}, path)
"""

SAVES = """
import sys, lathe as lt
lt.save({"a": lt.ones(3)}, sys.argv[1])
"""


def python(code, *arguments, **env):
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env=os.environ | env, capture_output=True, text=True, timeout=300,
    )  # fmt: skip


def saved(path):
    done = python(SAVES, path)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def gone():
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.mark.parametrize("kind", ["lathe", "safetensors"])
@pytest.mark.parametrize("next_target", ["model", "another"])
def test_what_a_killed_process_was_writing(tmp_path, kind, next_target):
    target = tmp_path / "model"
    target.write_text("what was there")
    done = python(KILLED, target, kind)
    assert done.returncode == -signal.SIGXFSZ, done.stderr
    assert len(os.listdir(tmp_path)) == 2, "it left something behind"
    assert target.read_text() == "what was there"
    saved(tmp_path / next_target)
    assert set(os.listdir(tmp_path)) == {"model", next_target}
    assert list(lt.load(tmp_path / next_target)) == ["a"]


def test_a_live_writer_is_not_disturbed(tmp_path, gone):
    mine = tmp_path / f"model.writing-{os.getpid()}-0"
    locked = tmp_path / f"model.writing-{gone}-0"  # of another container that shares the folder
    left = tmp_path / f"model.writing-{gone}-1"
    for path in (mine, locked, left):
        path.write_text("half of it")
    with open(locked, "r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        saved(tmp_path / "model")
        assert mine.exists() and locked.exists() and not left.exists()
    saved(tmp_path / "model")
    assert mine.exists() and not locked.exists()


def test_an_old_file_has_no_writer(tmp_path):
    """Its number is that of another process by now: this one."""
    old = tmp_path / f"model.writing-{os.getpid()}-0"
    old.write_text("half of it")
    os.utime(old, (time.time() - 7200,) * 2)
    saved(tmp_path / "model")
    assert os.listdir(tmp_path) == ["model"]


def test_files_of_others_stay(tmp_path, gone):
    """Whose names only look alike, that are no files, or that earlier releases left elsewhere."""
    kept = [f"{gone}.tmp", "notes.tmp", f"other.{gone}.tmp", "a.writing-x", "b.writing-",
            f".writing-{gone}", f"c.writing-{gone}x-1", "d.writing--1-0",
            f"e.writing-{'9' * 30}-0"]  # fmt: skip
    for name in kept:
        (tmp_path / name).write_text("mine")
    (tmp_path / f"folder.writing-{gone}-0").mkdir()
    (tmp_path / f"link.writing-{gone}-0").symlink_to(tmp_path / "notes.tmp")
    (tmp_path / f"model.{gone}.tmp").write_text("what an earlier release left")
    saved(tmp_path / "model")
    there = set(os.listdir(tmp_path))
    assert there == {*kept, "model", f"folder.writing-{gone}-0", f"link.writing-{gone}-0"}


def test_threads_that_save_to_one_path_leave_one_whole_file(tmp_path):
    import threading

    path = tmp_path / "model"

    def save(k):
        for _ in range(5):
            lt.save({"a": lt.full((5000,), float(k))}, path)

    threads = [threading.Thread(target=save, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    values = lt.load(path)["a"]
    assert values.shape == (5000,) and (values == values[0]).all().item()
    assert os.listdir(tmp_path) == ["model"]


COMPILES = """
import lathe as lt
f = lt.trace(lambda x, y: (x * y).tanh() + x)
f(lt.ones(100), lt.ones(100))
"""


def test_the_kernel_cache(tmp_path, gone):
    dead, alive = tmp_path / f".aside-{gone}-0", tmp_path / f".aside-{os.getpid()}-0"
    for path in (dead, alive):
        path.write_text("half an object")
        path.chmod(0o600)
    tmp_path.chmod(0o700)
    done = python(COMPILES, LATHE_CACHE_DIR=str(tmp_path), LATHE_ENGINE="llvm")
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.glob("*.lobj")), "it kept a kernel there"
    assert not dead.exists() and alive.exists()
