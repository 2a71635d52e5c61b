"""What a call of a traced function costs over its program: the guards, and what a call is besides.

    ./dev python tests/bench/guards.py [case ...] [--rounds 144]

Each line is one function: a call of it, the same program run on the same inputs without a guard
(called through C++ as well), what lies between them, and their ratio: of the processor's time, over
the middle half of rounds in which both take turns. Arguments are other tensors at each call, as in
a training loop.
"""

import argparse
import itertools
import statistics
import time

import lathe as lt


class Deep(lt.nn.Module):
    """100 layers: 200 parameters."""

    def __init__(self):
        super().__init__()
        self.layers = lt.nn.ModuleList([lt.nn.Linear(2, 2) for _ in range(100)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Wide(lt.nn.Module):
    """200 parameters, and hardly a program."""

    def __init__(self):
        super().__init__()
        self.weights = lt.nn.ParameterList([lt.nn.Parameter(lt.ones([2])) for _ in range(200)])

    def forward(self, x):
        return x + lt.cat(list(self.weights)).sum()


def add_one(x):
    return x + 1


CASES = {
    "x + 1": lambda: add_one,
    "100 layers": Deep,
    "200 weights": Wide,
}


BLOCK = 2e-3  # seconds
DEPTHS = 24


def seconds(call, count):
    begin = time.thread_time()
    for _ in range(count):
        call()
    return (time.thread_time() - begin) / count


def checked(name):
    """(traced function, two lists of its arguments); its bits are those of the function itself."""
    function = CASES[name]()
    traced = lt.trace(function)
    given = [(lt.ones([1, 2]),), (lt.zeros([1, 2]),)]
    for arguments in given * 3:
        wanted, got = (f(*arguments).numpy().tobytes() for f in (function, traced))
        assert got == wanted, f"{name}: the traced function gives other bits"
    return traced, given


def deeper(levels, call):
    """call(), so many levels further down the stack of C."""
    return next(map(deeper, (levels - 1,), (call,))) if levels else call()


def middle(values):
    """The mean of the middle half."""
    values = sorted(values)
    return statistics.mean(values[len(values) // 4 : len(values) - len(values) // 4])


def measure(name, rounds):
    """Seconds of a call, of its program, and of a call over its program in the same round."""
    with lt.no_grad():
        f, given = checked(name)
        inputs = itertools.cycle(given)
        bound = f._engine.bound(next(inputs), {})
        count = max(10, int(BLOCK / seconds(bound, 20)))

        def one_round():
            turn = seconds(lambda: next(inputs), count) - seconds(lambda: None, count)
            call = seconds(lambda: f(*next(inputs)), count) - turn
            run = seconds(lambda: bound(), count)
            return call, run, call - run

        # How the stack lies in lines of the cache moves small steps by a sixth.
        got = [deeper(i % DEPTHS, one_round) for i in range(rounds)]
    return tuple(map(middle, zip(*got)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", default=list(CASES))
    parser.add_argument("--rounds", type=int, default=144)
    options = parser.parse_args()
    print(f"{'':<14}{'call us':>10}{'program us':>12}{'over us':>10}{'ratio':>8}")
    for name in options.cases:
        call, run, over = (1e6 * s for s in measure(name, options.rounds))
        print(f"{name:<14}{call:>10.2f}{run:>12.2f}{over:>10.2f}{call / run:>8.2f}")


if __name__ == "__main__":
    main()
