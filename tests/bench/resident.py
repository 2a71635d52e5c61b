"""What processes that run a network hold, beside ONNX Runtime's.

    ./dev python tests/bench/resident.py

ResNet-50 and BERT-base with the weights of the bench, each in fresh processes on one thread: one
reads the frozen program from a file, one lets ONNX Runtime read the model; both call it three
times. Prints what is resident after that and at most, and the ratio of the former, interpreter and
libraries included; the last line has the worst.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from peers import threads
from rows import networks

import environment

HERE = Path(__file__).resolve().parent
KINDS = {"ResNet-50": "resnet50", "BERT-base": "bert_base"}
MAKE = """
import sys
from peers.lathe import networks
from rows.networks import NETWORKS
import lathe as lt, numpy as np
kind, file = sys.argv[1:]
model, inputs = networks.built(kind, NETWORKS[kind].inputs(np.random.default_rng(20)))
lt.save(lt.freeze(model, *inputs), file)
"""
CALL = """
import json, sys
from rows.networks import NETWORKS
import numpy as np
kind, file = sys.argv[1:]
arrays = NETWORKS[kind].inputs(np.random.default_rng(20))
{read}
for _ in range(3):
    call()
held = dict(line.split()[:2] for line in open("/proc/self/status") if line.startswith("Vm"))
print(json.dumps([int(held["VmRSS:"]), int(held["VmHWM:"])]))
"""
OURS = """
import lathe as lt
program, inputs = lt.load(file), [lt.tensor(a) for a in arrays]
call = lambda: program(*inputs)
"""
THEIRS = """
from peers.onnxruntime import bound
call = bound(file, arrays)
"""


def process(python, code, *arguments):
    """What a fresh process prints, on one thread."""
    paths = [str(HERE), os.environ.get("PYTHONPATH", "")]
    env = os.environ | dict.fromkeys(threads.VARIABLES, "1") | {"PYTHONPATH": ":".join(paths)}
    command = [str(python), "-c", code, *map(str, arguments)]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"resident.py: {done.stderr.strip().splitlines()[-1]}")
    return done.stdout


def held(python, read, kind, file):
    """(after the calls, at most), in KiB."""
    return json.loads(process(python, CALL.format(read=read), kind, file))


def main():
    worst = 0
    for name, kind in KINDS.items():
        with tempfile.TemporaryDirectory() as folder:
            frozen = Path(folder, "frozen.lt")
            process(sys.executable, MAKE, kind, frozen)
            ours = held(sys.executable, OURS, kind, frozen)
            theirs = held(environment.python(), THEIRS, kind, networks.files(kind)[0])
        worst = max(worst, ours[0] / theirs[0])
        told = (
            f"{who} {now >> 10} MiB, at most {most >> 10}"
            for who, (now, most) in (("Lathe", ours), ("ONNX Runtime", theirs))
        )
        print(f"{name}: {', '.join(told)}: {ours[0] / theirs[0]:.2f}", flush=True)
    print(f"resident: at most {worst:.2f} of ONNX Runtime's")


if __name__ == "__main__":
    main()
