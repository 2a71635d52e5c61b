"""Line 8: the text of every kernel for NVIDIA's devices, checked by ptxas."""

import importlib.metadata
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ..proof import BUILD, LOGS, Line, Missing, cpp_run, existing, require, run

LINE = Line(8, "NVPTX text of every kernel accepted by ptxas", proof="kernels")
DEVICES = ("sm_80", "sm_90")
PROGRAMS, KERNELS = 500, 1_000  # at random


def ptxas():
    """Of a CUDA toolkit, or of the package nvidia-cuda-nvcc in the environment of this proof."""
    homes = [os.environ.get("CUDA_HOME"), "/usr/local/cuda"]
    places = [shutil.which("ptxas"), *(f"{home}/bin/ptxas" for home in homes if home)]
    for package in importlib.metadata.distributions():
        if (package.metadata["Name"] or "").startswith("nvidia-cuda-nvcc"):
            files = package.files or []
            places += [str(f.locate()) for f in files if str(f).endswith("bin/ptxas")]
    for place in places:
        if place and os.access(place, os.X_OK):
            return place
    raise Missing("no ptxas: neither on PATH nor in CUDA_HOME; or: pip install nvidia-cuda-nvcc")


def refusal(tool, device, text):
    """What ptxas says against a text, or None."""
    command = [tool, f"-arch={device}", str(text), "-o", os.devnull]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode == 0:
        return None
    said = (done.stderr or done.stdout).strip().splitlines() or [f"status {done.returncode}"]
    return f"{text.name}, {device}: {said[0]}"


def texts(programs, kernels):
    """The kernels of random programs, those that are compiled ahead, those of the graphs of the
    tests and kernels at random: a file of PTX for each."""
    folder = LOGS / "ptx"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    collected = LOGS / "ptx-kernels.txt"
    tool = existing(BUILD / "bin/lathe_bits")
    asked = {"LATHE_BITS": str(programs), "LATHE_KERNEL_TEXTS": str(collected)}
    only = "--gtest_filter=RandomPrograms.SlowRandomPrograms"
    done = run("ptx-programs", tool, only, timeout=7200, **asked)
    require(done.code == 0, f"random programs ended with {done.code}; whole log: {done.log}")
    with open(collected, "a") as out:
        out.write(existing(BUILD / "ahead/kernels.txt").read_text())
    cpp_run("ptx-texts", "SimtPtx.*", timeout=7200, LATHE_PTX=str(folder),
            LATHE_PTX_KERNELS=str(collected), LATHE_PTX_COUNT=str(kernels))  # fmt: skip
    return sorted(Path(folder).glob("*.ptx"))


def accepted(programs, kernels):
    tool = ptxas()
    files = texts(programs, kernels)
    require(len(files) > kernels, f"{len(files)} texts")
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        jobs = [pool.submit(refusal, tool, d, f) for f in files for d in DEVICES]
        refused = [job.result() for job in jobs if job.result()]
    require(not refused, f"{len(refused)} refused; first: {refused[:1]}")
    return f"{len(files)} kernels for {' and '.join(DEVICES)}"


@LINE.part("every kernel of the suites for sm_80 and sm_90", minutes=6,
           quick=lambda: accepted(50, 100))  # fmt: skip
def all_accepted():
    return accepted(PROGRAMS, KERNELS)
