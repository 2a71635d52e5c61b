"""Bookkeeping around the tensors: metrics, logs, stopping, containers."""

import collections
import contextlib
import dataclasses
import logging
import types

import lathe as lt
from lathe import nn


def calls(w):
    for i in range(5):
        yield (lt.arange(6.0).reshape(2, 3) * 0.5 - i,)


# %% running_mean: equal, traces 2
class Running:
    def __init__(self):
        self.mean, self.count = lt.zeros(3), 0

    def update(self, x):
        self.count += 1
        self.mean += (x.mean(0) - self.mean) / self.count


def make():
    return Running()


def step(w, x):
    w.update(x)
    return x - w.mean


# %% metrics_in_a_dict: equal, traces 2
def make():
    return types.SimpleNamespace(metrics={"loss": None, "n": 0})


def step(w, x):
    loss = x.square().mean()
    w.metrics["loss"] = loss
    w.metrics["n"] += x.shape[0]
    return loss


# %% history_list: equal, traces 2
def make():
    return types.SimpleNamespace(history=[])


def step(w, x):
    w.history.append(x.mean())
    return x * 2


# %% window_of_losses: equal, traces 3
def make():
    return types.SimpleNamespace(recent=collections.deque([0.0, 0.0], maxlen=2))


def step(w, x):
    w.recent.append(x.mean())
    return x + 1


# %% counters_by_name: equal, traces 3
def make():
    return types.SimpleNamespace(counts=collections.Counter())


def step(w, x):
    w.counts["calls"] += 1
    w.counts["rows"] += x.shape[0]
    return x * 2


# %% groups_by_default_dict: equal, traces 2
def make():
    return types.SimpleNamespace(groups=collections.defaultdict(list))


def step(w, x):
    w.groups["means"] = [x.mean()]
    w.groups["shapes"] = [tuple(x.shape)]
    return x.sum()


# %% early_stopping: equal, traces 2
@dataclasses.dataclass
class Stopping:
    patience: int = 2
    bad: int = 0
    best: float = 1e9

    def update(self, loss):
        if loss < self.best:
            self.best, self.bad = loss, 0
        else:
            self.bad += 1
        return self.bad >= self.patience


def make():
    return Stopping()


def step(w, x):
    return x.square().mean()


def calls(w):
    for i in range(6):
        loss = yield (lt.ones(2) * abs(i - 2),)
        if w.update(float(loss)):
            break


# %% best_on_the_device: equal, traces 2
def make():
    return types.SimpleNamespace(best=lt.tensor(1e9))


def step(w, x):
    loss = x.square().mean()
    w.best = lt.minimum(w.best, loss)
    return loss


# %% logging_level: equal, traces 2
log = logging.getLogger("ordinary.bookkeeping")
log.setLevel(logging.WARNING)


def step(x):
    if log.isEnabledFor(logging.DEBUG):
        log.debug("shape %s", tuple(x.shape))
    return x + 1


# %% verbose_flag: equal, traces 2
class Runner:
    verbose = False

    def __call__(self, x):
        y = x * 2
        if self.verbose:
            print("mean", y.mean())
        return y


def make():
    return Runner()


def target(w):
    return w.__call__


# %% missing_key_handled: equal, traces 2
def make():
    return types.SimpleNamespace(options={"scale": 2.0})


def step(w, x):
    try:
        bias = w.options["bias"]
    except KeyError:
        bias = 0.5
    return x * w.options["scale"] + bias


# %% checked_arguments: equal, traces 2
def step(x, reduction="mean"):
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"no reduction {reduction}")
    y = x.square()
    return {"mean": y.mean, "sum": y.sum}.get(reduction, lambda: y)()


# %% asserted_shapes: equal, traces 2
def step(x):
    assert x.dim() == 2, f"two axes, not {x.dim()}"
    assert x.shape[1] == 3
    return x.sum(1)


# %% context_manager: equal, traces 2
@contextlib.contextmanager
def scaled(w, k):
    before, w.k = w.k, k
    try:
        yield
    finally:
        w.k = before


def make():
    return types.SimpleNamespace(k=1.0)


def step(w, x):
    with scaled(w, 3.0):
        y = x * w.k
    return y + w.k


# %% timer_that_is_fake: equal, traces 3
class Timer:
    def __init__(self):
        self.ticks = 0

    def __enter__(self):
        self.began = self.ticks
        return self

    def __exit__(self, *error):
        self.ticks += 1


def make():
    return Timer()


def step(w, x):
    with w:
        return x.exp()


# %% numbers_and_strings_as_results: equal, traces 2
def step(x):
    return {"n": x.shape[0], "name": "batch", "none": None, "values": [(x * 2, 1.5), {"k": True}]}


# %% generator_of_pieces: equal, traces 2
def pieces(x):
    for row in x.split(1):
        yield row.squeeze(0) * 2


def step(x):
    return lt.stack(list(pieces(x)))


# %% comprehension_over_layers: equal, traces 2
def make():
    return types.SimpleNamespace(heads={n: nn.Linear(3, 1) for n in "abc"})


def step(w, x):
    return {name: head(x) for name, head in w.heads.items()}


# %% sorted_items: equal, traces 2
def make():
    return types.SimpleNamespace(weights={"b": 2.0, "a": 1.0, "c": 0.5})


def step(w, x):
    for name, k in sorted(w.weights.items(), key=lambda item: item[1]):
        x = x * k + len(name)
    return x


# %% closures_in_a_list: equal, traces 2
def make():
    return types.SimpleNamespace(fs=[lambda t, k=k: t * k for k in (1.0, 2.0, 3.0)])


def step(w, x):
    return sum(f(x) for f in w.fs)


# %% replay_buffer: equal, traces 2
class Buffer:
    def __init__(self):
        self.data, self.at = lt.zeros(4, 3), 0

    def push(self, x):
        self.data[self.at % 4] = x[0]
        self.at += 1


def make():
    return Buffer()


def step(w, x):
    w.data.mul_(0.9)
    return (w.data - x[0]).square().sum(1)


def calls(w):
    for i in range(5):
        w.push(lt.ones(2, 3) * i)
        yield (lt.ones(2, 3),)


# %% ring_written_inside: equal, traces 2
def make():
    return types.SimpleNamespace(data=lt.zeros(4, 3), at=0)


def step(w, x):
    w.data = lt.cat([w.data[1:], x[:1]])
    return w.data.mean(0)


# %% seen_shapes: equal, traces 2
def make():
    return types.SimpleNamespace(shapes=set())


def step(w, x):
    w.shapes.add(tuple(x.shape))
    return x + len(w.shapes)


# %% epoch_and_step: equal, traces 3
class State:
    epoch = 0
    step = 0


def make():
    return State()


def step(w, x):
    w.step += 1
    if w.epoch == 0:
        return x * 0.5
    return x


def calls(w):
    for i in range(6):
        w.epoch = i // 3
        yield (lt.ones(2),)
