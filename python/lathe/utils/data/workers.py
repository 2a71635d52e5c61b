"""Processes that make a loader's batches.

Each worker has a queue of tasks and all share one of results. A task is a list of item numbers (or
None:
the next items of an iterable dataset). Tasks are handed out in turn, a few ahead, and results given
in the order of the tasks. Tensors travel by pickle.
"""

import itertools
import multiprocessing
import queue
import random
import traceback

from ... import _lathe


class WorkerInfo:
    """What a worker knows of itself: id, num_workers, seed, dataset."""

    def __init__(self, **known):
        vars(self).update(known)

    def __repr__(self):
        return f"WorkerInfo(id={self.id}, num_workers={self.num_workers}, seed={self.seed})"


_info = None


def get_worker_info():
    """The worker that this process is; None in the main process."""
    return _info


class _Failed:
    """An exception on its way to the main process."""

    def __init__(self, error, worker):
        self.kind = type(error)
        self.text = f"in worker {worker} of a DataLoader:\n{traceback.format_exc()}"

    def again(self):
        """The exception as it may be raised here."""
        try:
            return self.kind(self.text)
        except Exception:
            return RuntimeError(self.text)


class _End:
    """An iterable dataset has no more items."""


def _work(number, count, dataset, fetch, tasks, results, seed, start):
    global _info
    _info = WorkerInfo(id=number, num_workers=count, seed=seed, dataset=dataset)
    random.seed(seed)
    _lathe.manual_seed(seed)
    failed = None
    try:
        if start is not None:
            start(number)
        make = fetch(dataset)
    except Exception as error:
        failed = _Failed(error, number)
    while (task := tasks.get()) is not None:
        which, items, fresh = task
        try:
            if fresh and failed is None:
                make = fetch(dataset)
            results.put((which, failed or make(items)))
        except StopIteration:
            results.put((which, _End()))
        except Exception as error:
            results.put((which, _Failed(error, number)))


class Workers:
    """The processes of one loader. fetch(dataset) gives a function from a task to a batch;
    StopIteration out of that ends an iterable dataset."""

    def __init__(self, loader, fetch, seed):
        context = loader.multiprocessing_context
        if context is None or isinstance(context, str):
            context = multiprocessing.get_context(context)
        self._timeout, self._ahead = loader.timeout, loader.prefetch_factor or 2
        self._in_order, count = loader.in_order, loader.num_workers
        self._results, self._tasks, self._processes = context.Queue(), [], []
        self._pass = 0
        for i in range(count):
            tasks = context.Queue()
            process = context.Process(
                target=_work, daemon=True,
                args=(i, count, loader.dataset, fetch, tasks, self._results,
                      (seed + i) % (1 << 63), loader.worker_init_fn),
            )  # fmt: skip
            process.start()
            self._tasks.append(tasks)
            self._processes.append(process)

    def run(self, tasks):
        """The batches of one pass."""
        self._pass += 1
        this, tasks = self._pass, iter(tasks)
        working = list(range(len(self._processes)))
        sent, wanted, waiting, ready, fresh = 0, 0, {}, {}, set(working)
        turn = itertools.cycle(working)

        def send():
            nonlocal sent
            for _ in range(len(self._processes)):
                worker = next(turn)
                if worker in working:
                    break
            else:
                return False
            try:
                items = next(tasks)
            except StopIteration:
                return False
            self._tasks[worker].put(((this, sent), items, worker in fresh and this > 1))
            fresh.discard(worker)
            waiting[sent] = worker
            sent += 1
            return True

        for _ in range(self._ahead * len(working)):
            if not send():
                break
        while waiting or ready:
            number = next(iter(ready), wanted) if not self._in_order else wanted
            while number not in ready:
                found, value = self._next()
                if found[0] != this:
                    continue  # of a pass that was given up
                ready[found[1]] = value
                number = wanted if self._in_order else found[1]
            value, worker = ready.pop(number), waiting.pop(number)
            wanted += self._in_order
            if isinstance(value, _End):
                working = [w for w in working if w != worker]
                if working and self._in_order is not None:
                    send()
                continue
            send()
            if isinstance(value, _Failed):
                raise value.again()
            yield value

    def _next(self):
        waited = 0.0
        while True:
            try:
                return self._results.get(timeout=min(self._timeout, 1.0) if self._timeout else 1.0)
            except queue.Empty:
                waited += 1.0
            dead = [p for p in self._processes if not p.is_alive()]
            if dead:
                raise _lathe.Error(
                    "a worker has ended without a word", op="DataLoader",
                    got=f"exit code {dead[0].exitcode}", expected="a worker that gives batches",
                    next="look for what ended it, or leave num_workers out to see it here",
                )  # fmt: skip
            if self._timeout and waited >= self._timeout:
                raise _lathe.Error(
                    "the workers take longer than timeout", op="DataLoader",
                    got=f"{self._timeout} s without a batch", expected="a batch",
                    next="give more time, or leave timeout out",
                )  # fmt: skip

    def stop(self):
        for tasks in self._tasks:
            tasks.put(None)
        for process in self._processes:
            process.join(timeout=2.0)
            if process.is_alive():
                process.terminate()
                process.join()
        self._processes = []
        for channel in (*self._tasks, self._results):
            channel.cancel_join_thread()
            channel.close()

    def __del__(self):
        if self._processes:
            self.stop()
