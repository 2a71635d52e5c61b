"""NumPy's accuracy tables: every point of 20 functions, eager, compiled, and at odd lengths.

    ./dev python tests/suites/umath/run.py [--only REGEX]

The tables lie in NumPy's own package, with the bound of each point in units in the last place. A
value is compared by bits: NaN as a class, signed zeros as they are. Eager and compiled results have
to be the same bytes, and so have those of short pieces (the tails of the vector loops).
"""

import argparse
import re
import sys
from collections import namedtuple
from pathlib import Path

import numpy as np

import lathe as lt

NAMES = {"arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh",
         "arctan": "atan", "arctanh": "atanh"}  # fmt: skip
PIECES = (1, 15, 16, 17, 33)
KINDS = {"np.float32": (np.float32, np.uint32), "np.float64": (np.float64, np.uint64)}

Table = namedtuple("Table", "function dtype inputs outputs bounds")
Figure = namedtuple("Figure", "function dtype points within worst faults")


def files():
    folder = Path(np.__file__).parent / "_core/tests/data"
    return sorted(folder.glob("umath-validation-set-*.csv"))


def tables(path):
    """The tables of a file, one a dtype."""
    name = path.stem.removeprefix("umath-validation-set-")
    rows = [line.split(",") for line in path.read_text().splitlines() if line.startswith("np.")]
    for word, (dtype, bits) in KINDS.items():
        chosen = [r for r in rows if r[0] == word]
        if chosen:
            pair = (np.array([int(r[i], 16) for r in chosen], bits).view(dtype) for i in (1, 2))
            yield Table(name, dtype, *pair, np.array([int(r[3]) for r in chosen]))


def ordered(values):
    """Each value's place among the floats: neighbours differ by one."""
    bits = np.int32 if values.dtype == np.float32 else np.int64
    places = values.view(bits)
    return np.where(places < 0, np.iinfo(bits).min - places, places).astype(object)


def distances(got, wanted):
    """Units in the last place, as Python's integers; a NaN for a number is as far as can be."""
    both = np.isnan(got) & np.isnan(wanted)
    far = np.isnan(got) != np.isnan(wanted)
    found = abs(ordered(got) - ordered(wanted))
    found[both] = 0
    found[far] = 1 << 62
    return found


def same(a, b):
    """Are these the same bytes, with one NaN for all?"""
    a, b = (np.where(np.isnan(x), np.nan, x).astype(x.dtype) for x in (a, b))
    return a.tobytes() == b.tobytes()


def pieces(function, inputs):
    """The results in pieces of odd lengths, put together."""
    found, at = [], 0
    while at < len(inputs):
        for length in PIECES:
            found.append(function(lt.from_numpy(inputs[at : at + length].copy())).numpy())
            at += length
    return np.concatenate(found)


def measure(table):
    eager = getattr(lt, NAMES.get(table.function, table.function))
    given = lt.from_numpy(table.inputs)
    got = eager(given).numpy()
    program = lt.trace(lambda x: eager(x))
    program(lt.from_numpy(table.inputs[::-1].copy()))  # other values than those compared
    faults = []
    if not same(program(given).numpy(), got):
        faults.append("compiled is not eager")
    if not same(pieces(eager, table.inputs), got):
        faults.append("pieces differ")
    off = distances(got, table.outputs)
    zeros = (table.outputs == 0) & (np.signbit(got) != np.signbit(table.outputs))
    within = (off <= table.bounds) & ~zeros
    if zeros.any():
        faults.append(f"{zeros.sum()} zeros of the other sign")
    return Figure(
        table.function, table.dtype.__name__, len(got), int(within.sum()), max(off), faults
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="functions whose name matches this")
    args = parser.parse_args()
    found = files()
    if not found:
        sys.exit("umath: not run: this NumPy comes without its tables")
    figures, absent = [], []
    for path in found:
        for table in tables(path):
            if not re.search(args.only, table.function):
                continue
            if not hasattr(lt, NAMES.get(table.function, table.function)):
                absent.append(table)
                continue
            figures.append(figure := measure(table))
            told = "; ".join(figure.faults)
            worst = figure.worst if figure.worst < 1 << 40 else "beyond all"
            print(f"{figure.function:<8} {figure.dtype} {figure.within:>4} of {figure.points}, "
                  f"worst {worst} ulp{'; ' + told if told else ''}")  # fmt: skip
    for table in absent:
        told = f"0 of {len(table.inputs)}: no such function"
        print(f"{table.function:<8} {table.dtype.__name__}    {told}")
    points = sum(f.points for f in figures) + sum(len(t.inputs) for t in absent)
    faults = sum(bool(f.faults) for f in figures)
    print(f"umath: {sum(f.within for f in figures)} of {points} points within bound, "
          f"{faults} tables with other faults")  # fmt: skip


if __name__ == "__main__":
    main()
