"""Processes that run entries one after another; one that dies or hangs costs one mode of an entry.

The parent has loaded PyTorch and its database; a worker is a fork of it. A worker writes the call
that it is at to shared memory, so that the parent can say where it was lost.
"""

import ctypes
import multiprocessing as mp
import os
import resource
import signal
import time
from multiprocessing.connection import wait

from modes import run_mode
from runs import Outcome

TEXT = 400
ALWAYS = ("layout", "dtypes", "traced")  # asked of every entry
MEMORY = 12 << 30  # bytes that a worker may have


class Worker:
    def __init__(self, found, limit):
        self.found, self.limit = found, limit
        self.at = mp.RawArray(ctypes.c_char, TEXT)
        self.here, there = mp.Pipe()
        self.process = mp.get_context("fork").Process(target=serve, args=(there, found, self.at))
        self.process.start()
        there.close()
        self.entry, self.mode, self.began, self.left = None, None, 0, []

    def give(self, entry, modes):
        self.entry, self.left = entry, list(modes)
        self.begin()

    def begin(self):
        self.mode, self.began = self.left.pop(0), time.time()
        self.here.send((self.entry, self.mode))

    def late(self):
        return self.mode is not None and time.time() - self.began > self.limit

    def stop(self):
        self.process.kill()
        self.process.join()
        self.here.close()


def serve(pipe, found, at):
    """A worker's life: modes of entries, until the parent closes."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)

    def progress(text):
        at.value = text.encode("ascii", "replace")[: TEXT - 1]

    while True:
        try:
            entry, mode = pipe.recv()
        except (EOFError, KeyboardInterrupt):
            return
        progress("")
        pipe.send(run_mode(found[entry], mode, progress))


def lost(worker):
    """The Outcome of a mode whose process has died."""
    worker.process.join(5)
    code = worker.process.exitcode
    how = signal.Signals(-code).name if code and code < 0 else f"exit {code}"
    return Outcome("crash", f"{how} <- {worker.at.value.decode()}", 1, 0)


def run_all(found, jobs, processes, limit, finished):
    """Runs jobs [(index of an entry, its modes)]; finished(entry, mode, outcome, seconds) each."""
    jobs, workers = list(reversed(jobs)), []

    def settle(worker, outcome):
        seconds = time.time() - worker.began
        finished(worker.entry, worker.mode, outcome, seconds)
        worker.mode = None
        for mode in absent_too(outcome, worker.left):
            finished(worker.entry, mode, outcome, 0)
            worker.left.remove(mode)

    def replace(worker, outcome):
        settle(worker, outcome)
        worker.stop()
        workers.remove(worker)
        if worker.left:
            jobs.append((worker.entry, worker.left))

    while jobs or any(w.mode for w in workers):
        while jobs and len([w for w in workers if w.mode]) < processes:
            free = [w for w in workers if not w.mode]
            worker = free[0] if free else Worker(found, limit)
            if not free:
                workers.append(worker)
            worker.give(*jobs.pop())
        ready = wait([w.here for w in workers if w.mode], timeout=1)
        for worker in list(workers):
            if worker.here in ready:
                try:
                    outcome = worker.here.recv()
                except (EOFError, ConnectionError):
                    replace(worker, lost(worker))
                    continue
                settle(worker, outcome)
                if worker.left:
                    worker.begin()
            elif worker.late():
                where = worker.at.value.decode()
                replace(worker, Outcome("timeout", f"{limit} s <- {where}", 1, 0))
    for worker in workers:
        worker.stop()


def absent_too(outcome, modes):
    """The modes that need not be tried where the function is absent: they would say the same."""
    absent = outcome.status == "unsupported" and outcome.reason.startswith("no lathe.")
    return [m for m in modes if m in ALWAYS] if absent else []
