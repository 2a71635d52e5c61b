"""Line 5: how few steps programs have, and what share of the machine each takes."""

from ..proof import Line, existing, measured

LINE = Line(5, "Groups of five programs beside Inductor's and ONNX Runtime's", proof="kernels")


@LINE.part("steps of each, the share of vendors' kernels, and of the floor", minutes=2)
def ours():
    return measured("kernels-groups", "tests/bench/groups.py").last(r"^groups: (.*)")


@LINE.part("beside Inductor's and ONNX Runtime's counts", minutes=4)
def theirs():
    peers = existing(".deps/peers") / "bin/python"
    script = "tests/bench/groups_of_peers.py"
    done = measured("kernels-groups-peers", script, python=peers, package="")
    return done.last(r"^groups of peers: (.*)")
