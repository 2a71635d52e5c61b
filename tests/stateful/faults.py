"""Plants one fault at a time in the observer, the rows of guards and the effects, and checks that
programs written by hand find it.

    python tests/stateful/faults.py [--only NAME] [--jobs N]

Each fault makes one part of the capture forget what it is for; a program must then have another
verdict than without: it is wrong, or one of the nets refuses what was captured. Programs run in
processes of their own, in which LATHE_PLANTED_FAULT names the fault (execute.py plants it). Ends
with "N of N faults found" and "N passed, N failed".
"""

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
VARIABLE = "LATHE_PLANTED_FAULT"
FAULTS = {}  # by name: (function that plants it, programs that are run)


def fault(programs):
    def note(plant):
        FAULTS[plant.__name__] = plant, programs
        return plant

    return note


def _put(owner, name, value):
    """In place of what is there: a fault in what is no more would be none."""
    if not hasattr(owner, name):
        raise AttributeError(f"{owner.__name__} has no {name} to plant a fault in")
    setattr(owner, name, value)


def _weaken(*tests):
    """Rows of these tests hold whatever is there."""
    from lathe.jit.observe import capture

    inner = capture._as_tuple

    def as_tuple(row):
        step, parent, key, test, wanted, rest = inner(row)
        if test in tests:
            test, wanted = "anything", None
        return step, parent, key, test, wanted, rest

    _put(capture, "_as_tuple", as_tuple)


# ── guards ──────────────────────────────────────────────────────────────────────────────────────


@fault("w02")
def plain_values_always_hold():
    _weaken("equal")


@fault("w09")
def identities_always_hold():
    _weaken("is")


@fault("w13")
def one_object_at_two_places_is_not_asked_for():
    _weaken("again")


@fault("w07")
def what_containers_hold_is_not_asked_for():
    _weaken("length", "content", "keys")


@fault("w10")
def classes_always_hold():
    _weaken("bundle", "class")
    from lathe.jit.observe.recording import Recording

    _put(Recording, "look_up", lambda self, kind, mro, name: _found(mro, name))


def _found(mro, name):
    from lathe.jit.observe.recording import in_mro

    return in_mro(mro, name)


# ── the observer ────────────────────────────────────────────────────────────────────────────────


@fault("w02")
def attributes_are_not_seen():
    from lathe.jit.observe.recording import Recording

    inner = Recording.read_key
    _put(
        Recording,
        "read_key",
        lambda self, space, key, raw=False, owner=None: (
            None if owner is not None else inner(self, space, key, raw, owner)
        ),
    )


@fault("w07")
def keys_of_dicts_are_not_seen():
    from lathe.jit.observe.observer import Observer

    _put(Observer, "key_row", lambda self, container, key: None)


@fault("w09")
def code_of_functions_is_not_seen():
    from lathe.jit.observe.names import Names

    inner = Names._very_part
    _put(
        Names,
        "_very_part",
        lambda self, row, part, value: (
            None if part == "__code__" else inner(self, row, part, value)
        ),
    )


@fault("w03")
def unlisted_functions_run():
    from lathe.jit.observe.calls import Calls

    _put(Calls, "_is_pure", lambda self, f, owner, name: True)


@fault("w03")
def iterators_from_outside_move_on():
    from lathe.jit.observe.calls import Calls

    _put(Calls, "_next", lambda self, f, iterator, args, kwargs: f(*args, **kwargs))


@fault("w13")
def arrays_are_read_at_the_capture_only():
    from lathe.jit.observe import observer

    _put(observer, "digest", lambda value: 0)


@fault("w05")
def context_variables_are_not_seen():
    from lathe.jit.observe.calls import Calls

    _put(Calls, "answer", lambda self, f, args: f(*args))


# ── effects ─────────────────────────────────────────────────────────────────────────────────────


@fault("costs")
def what_a_capture_did_is_not_undone():
    from lathe.jit.observe.effects import Effects

    _put(Effects, "undo", lambda self: None)


@fault("costs")
def effects_are_not_repeated():
    from lathe.jit.observe import plans

    _put(plans, "repeat", lambda effects, outputs, objects, memo: None)


@fault("w11")
def shared_gradients_are_not_seen():
    from lathe.jit.observe.capture import Capture

    _put(Capture, "_note_shared_gradients", lambda self: None)


# ── running them ────────────────────────────────────────────────────────────────────────────────


def plant_named():
    """In the process of a program: the fault that the environment names."""
    name = os.environ.get(VARIABLE)
    if not name:
        return
    from lathe.jit.observe.core import Core

    FAULTS[name][0]()
    inner = Core.__init__

    def begin(self, *args, **kwargs):
        inner(self, *args, **kwargs)
        self.net.trust(__file__)  # what is planted is no code of a program

    _put(Core, "__init__", begin)


def finders(name, jobs):
    """The programs that find this fault, those that are wrong first: (name, verdict)."""
    command = [sys.executable, HERE / "run.py", "classes", "ordinary", "--mode", "trace"]
    command += ["--jobs", str(jobs), "--env", f"{VARIABLE}={name}"]
    if FAULTS[name][1]:
        command += ["--only", FAULTS[name][1]]
    done = subprocess.run(command, capture_output=True, text=True)
    if not re.search(r"^\d+ passed, \d+ failed$", done.stdout, re.M):
        raise SystemExit(f"{name}: the programs did not run\n{done.stdout}{done.stderr}")
    told = re.findall(r"^FAILED +trace +(\S+): .*?, it is (\w+)", done.stdout, re.M)
    return sorted(told, key=lambda one: one[1] != "wrong")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    args = parser.parse_args()
    start, found, chosen = time.monotonic(), 0, [n for n in FAULTS if args.only in n]
    for name in chosen:
        wrong = finders(name, args.jobs)
        found += bool(wrong)
        told = "FAILED: nothing finds it"
        if wrong:
            told = f"found by {len(wrong)}, as {wrong[0][0]}, which is {wrong[0][1]} then"
        print(f"{name.replace('_', ' ')}: {told}", flush=True)
    print(f"-- {found} of {len(chosen)} faults found, {time.monotonic() - start:.0f} s")
    print(f"{found} passed, {len(chosen) - found} failed")
    return found != len(chosen)


if __name__ == "__main__":
    sys.exit(main())
