"""Line 5: how few steps programs have, and what share of the machine each takes."""

import sys

from ..proof import BUILD, Line, Missing, existing, run

LINE = Line(5, "Groups of five programs beside Inductor's and ONNX Runtime's", proof="kernels")


@LINE.part("steps of each, the share of vendors' kernels, and of the floor", minutes=2)
def ours():
    package = str(existing(BUILD / "python"))
    done = run("kernels-groups", sys.executable, "tests/bench/groups.py", PYTHONPATH=package)
    if done.code:
        raise Missing(f"it ended with {done.code}; whole log: {done.log}")
    return done.last(r"^groups: (.*)")


@LINE.part("beside Inductor's and ONNX Runtime's counts", minutes=4)
def theirs():
    peers = existing(".deps/peers") / "bin/python"
    done = run("kernels-groups-peers", peers, "tests/bench/groups_of_peers.py", PYTHONPATH="")
    if done.code:
        raise Missing(f"it ended with {done.code}; whole log: {done.log}")
    return done.last(r"^groups of peers: (.*)")
