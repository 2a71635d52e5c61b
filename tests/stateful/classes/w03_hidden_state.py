"""W3: state that something holds and that no attribute shows."""

import itertools
import queue
import random
import types

import numpy as np

import lathe as lt


def make():
    w = types.SimpleNamespace()
    fill(w)
    return w


def calls(w):
    for n in (2, 2, 3, 2):
        yield (lt.arange(float(n)) + 1,)


# %% random_random: either
def fill(w):
    w.rng = random.Random(0)


def step(w, x):
    return x * w.rng.random()


# %% numpy_generator: either
def fill(w):
    w.rng = np.random.default_rng(0)


def step(w, x):
    return x * float(w.rng.random())


# %% choice_of_experts: either
def fill(w):
    w.rng, w.experts = random.Random(0), [lt.sin, lt.tanh, lt.neg]


def step(w, x):
    return w.rng.choice(w.experts)(x)


# %% generator_as_an_argument: either
def fill(w):
    w.rng = random.Random(0)


def step(w, x, rng):
    return x + rng.gauss(0, 1)


def calls(w):
    rng = random.Random(1)
    for which in (rng, rng, w.rng, rng):
        yield lt.ones(2), which


# %% count: either
def fill(w):
    w.ids = itertools.count()


def step(w, x):
    return x * next(w.ids)


# %% cycle_in_a_list: either
def fill(w):
    w.turns = [itertools.cycle([1.0, 2.0, 3.0])]


def step(w, x):
    return x * next(w.turns[0])


# %% simple_queue: either
def fill(w):
    w.jobs = queue.SimpleQueue()
    for i in range(9):
        w.jobs.put(i)


def step(w, x):
    return x + w.jobs.get()


# %% bound_builtin: either
def fill(w):
    w.tick = itertools.count(5).__next__


def step(w, x):
    return x + w.tick()


# %% list_of_clocks: either
def fill(w):
    w.clocks = [itertools.count(1).__next__, lambda: 3]


def step(w, x):
    return x + sum(clock() for clock in w.clocks)


# %% deque_that_turns: either
def fill(w):
    import collections

    w.ring = collections.deque([1.0, 2.0, 3.0])


def step(w, x):
    w.ring.rotate(1)
    return x * w.ring[0]


# %% iterator_used_up: either
def fill(w):
    w.feed = iter([1.0, 2.0, 3.0])


def step(w, x):
    return x + next(w.feed, 9.0)


# %% generator_that_is_held: either
def fill(w):
    w.feed = (v * v for v in range(10))


def step(w, x):
    return x + next(w.feed)


# %% open_file: either
def fill(w):
    w.file = open(__file__)


def step(w, x):
    return x + len(w.file.readline())


# %% text_stream: either
def fill(w):
    import io

    w.file = io.StringIO("1\n22\n333\n4444\n")


def step(w, x):
    return x + len(w.file.readline())


# %% module_random: either
def fill(w):
    pass


def step(w, x):
    return x * random.random() + float(np.random.rand())


# %% shuffled_list: either
def fill(w):
    w.order, w.rng = [1.0, 2.0, 3.0], random.Random(2)


def step(w, x):
    w.rng.shuffle(w.order)
    return x * w.order[0]
