"""Ctrl-C and other Python threads while Lathe computes: loops that data decides about never end
here, so only the interrupt can end them; nothing is measured but that it takes no more than fifty
times the tenth of a second that is meant."""

import signal
import subprocess
import sys
import time

import pytest

BEGINNING = """
import os, sys, threading, time
import lathe as lt

@lt.script
def spin(x):
    while x.sum() < 1e30:
        x = x * 1.0
    return x

@lt.script
def count(x):
    n = 0
    for i in range(int((x[0] * 0).to(lt.int64)) + (1 << 40)):
        x = x * 1.0
    return x

def endless(x):
    while True:
        x = x * 1.0

def stuck(x):
    n = 0
    if x.sum() > 0:
        for i in iter(int, 1):
            n += 1
    return x + n

def refused(f):
    while True:
        try:
            f(x)
        except (lt.TraceError, lt.ScriptError):
            pass

@lt.script
def balance(x):
    n = int(x[0].to(lt.int64))
    while n > 0:
        n = n + 1 - 1
    return x + n

ticks, told_at = [0], [1 << 60]
def tick():
    while True:
        ticks[0] += 1
        if ticks[0] >= told_at[0]:
            told_at[0] = 1 << 60
            print("others ran", flush=True)
        time.sleep(0.001)
threading.Thread(target=tick, daemon=True).start()
x = lt.ones(8)
"""

# A statement stands before the loop: CPython 3.11 takes a signal that it handles between two rounds
# for one at the instruction before the loop; if the loop comes first, that is outside of the try.
INTERRUPTED = """
told_at[0] = ticks[0] + 10
try:
    began = True
    {work}
except KeyboardInterrupt:
    print("caught at", time.monotonic())
print("as it was", x.tolist() == [1.0] * 8, lt.is_grad_enabled(), (x + 1).sum().item() == 16)
print("again", spin(lt.full((8,), 1e30)).tolist()[0] > 9e29)
"""

WORK = {
    "a while loop": "spin(x)",
    "a for loop": "count(x)",
    "a loop of numbers": "balance(x)",
    "a trace that does not end": "refused(lt.trace(endless))",
    "a script that does not end": "refused(lt.script(stuck))",
    "a while loop with gradients": "spin(x.clone().requires_grad_())",
    "sorts": "while True: y.sort()",
    "scans along one line": "while True: y.cumsum(0)",
    "one of several threads": "threading.Thread(target=spin, args=(x,), daemon=True).start()\n"
    "    spin(x)",
    "a list of numbers": "while True: y.tolist()",
    "numbers of a list": "while True: lt.tensor(numbers)",
}


def program(tmp_path, text):
    path = tmp_path / "program.py"
    path.write_text(text)
    return [sys.executable, str(path)]


@pytest.mark.parametrize("work", WORK)
def test_ctrl_c(tmp_path, work):
    data = "y, numbers = lt.rand(1 << 20), [1.0] * (1 << 20)\nspin(lt.full((8,), 1e30))\n"
    body = BEGINNING + data + INTERRUPTED.replace("{work}", WORK[work])
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        program(tmp_path, body), stdout=pipe, stderr=subprocess.STDOUT, text=True
    )
    try:
        # However long it takes on a busy machine: the other thread says so while the work goes on.
        assert process.stdout.readline() == "others ran\n"
        time.sleep(0.2)
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=120)
    finally:
        process.kill()
    caught, *rest = said.splitlines()
    assert caught.startswith("caught at "), said
    assert float(caught.split()[-1]) - sent < 5
    # What follows is of the other thread, which the end of the program stops.
    assert rest[:2] == ["as it was True True True", "again True"], said


def test_a_loop_on_another_thread_leaves_the_main_one_its_turns(tmp_path):
    """It has nobody to stop it; the main thread goes on and ends the process."""
    body = (
        BEGINNING
        + """
spin(lt.full((8,), 1e30))
threading.Thread(target=spin, args=(x,), daemon=True).start()
time.sleep(0.2)
n = 0
for k in range(200):
    n += (lt.ones(4) * k).sum().item() >= 0
    time.sleep(0.0005)
print(n, ticks[0] > 2, flush=True)
os._exit(0)
"""
    )
    done = subprocess.run(program(tmp_path, body), capture_output=True, text=True, timeout=120)
    assert done.stdout == "200 True\n", done.stdout + done.stderr
