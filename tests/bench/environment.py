"""The Python environment with the peers: made once, outside of the checkout, shared by clones.

peers.txt is complete and exact. The folder is named by its hash and linked from .deps/peers, as
third_party/setup.sh does for what Lathe is built from.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WANTED = Path(__file__).with_name("peers.txt")


def store():
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("LATHE_DEPS") or Path(cache) / "lathe")


def base_python():
    """The Python that the environment of the build was made from."""
    return Path(sys.base_prefix) / "bin" / "python3"


def make(prefix):
    print("-- making the environment of the peers (some minutes, about 6 GB) ...", flush=True)
    began = time.time()
    shutil.rmtree(prefix, ignore_errors=True)
    log = ROOT / "build/logs/peers.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "w") as out:
        for command in (
            [str(base_python()), "-m", "venv", str(prefix)],
            [str(prefix / "bin/pip"), "install", "--no-input", "-q", "-r", str(WANTED)],
        ):
            done = subprocess.run(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL)
            if done.returncode != 0:
                raise RuntimeError(f"{command[0]} failed; whole log: {log}")
    (prefix / ".complete").touch()
    print(f"-- made in {time.time() - began:.0f} s", flush=True)


def python():
    """The Python of the environment, which is made if it is not there."""
    version = subprocess.run([base_python(), "-VV"], capture_output=True, check=True).stdout
    name = hashlib.sha256(WANTED.read_bytes() + version).hexdigest()[:12]
    prefix = store() / f"peers-{name}"
    prefix.parent.mkdir(parents=True, exist_ok=True)
    with open(store() / ".peers.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two clones may ask at the same time
        if not (prefix / ".complete").exists():
            make(prefix)
    link = ROOT / ".deps/peers"
    link.parent.mkdir(exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(prefix)
    return prefix / "bin/python"


if __name__ == "__main__":
    print(python())
