"""Where the time of a program goes: by op, by kernel and by the program's lines.

    with lt.profiler.profile() as p:
        step(x)
    print(p.table(by="line"))
    print(p.table(floor=True))      # beside what this machine can do at best
    p.chrome_trace("step.json")     # for chrome://tracing and ui.perfetto.dev

A profile notes each op of eager code, each call of a compiled program and each step of its plan, on
all threads. Without one, a call asks one flag.
"""

from . import _lathe
from ._settings import get_num_threads

__all__ = ["Event", "profile", "roofline"]

_BY = {"op": "name", "kernel": "kernel", "line": "line"}
_FIELDS = (
    "thread", "parent", "kind", "name", "kernel", "line", "inputs", "outputs", "bytes_read",
    "bytes_written", "operations", "start_ns", "duration_ns",
)  # fmt: skip


class Event:
    """One part of a profile.

    kind: "op" of eager code, "call" of a compiled program, "step" of its plan, "capture" of a
    function that became a program, "compile" of the machine code of a step. name: of the op; a
    step that runs several as one has their names (`ops`) with '+' between them; of a call and a
    capture, the function's. kernel: the entry
    of the table or the engine that ran it; "" if only what is inside of it ran. line: the user's,
    as "file:line". inputs, outputs: the tensors' types, as "f32[2, 3]". bytes_read, bytes_written:
    of their elements, each once; 0 for views and where there is no kernel. operations: the
    additions and multiplications of products and convolutions, two for each term of their sums;
    0 for all else, which memory bounds first. start_ns, duration_ns:
    nanoseconds, from the beginning of the profile; self_ns: those that no event inside has. thread:
    0 for the first that did anything. parent: the event that this one is inside of, or None.
    """

    __slots__ = (*_FIELDS, "self_ns")

    def __init__(self, row, made):
        for field, value in zip(_FIELDS, row, strict=True):
            setattr(self, field, value)
        self.parent = made[self.parent] if self.parent >= 0 else None
        self.self_ns = self.duration_ns
        if self.parent is not None:
            self.parent.self_ns -= self.duration_ns

    @property
    def ops(self):
        """The names of all ops that ran as this one step."""
        return self.name.split("+")

    def within(self):
        """What this event is inside of, innermost first."""
        outer = self.parent
        while outer is not None:
            yield outer
            outer = outer.parent

    def floor_ns(self):
        """The least time that this machine needs for it, in nanoseconds, after roofline(): for
        its bytes, at the rate at which so many are read or written at best, or for its operations,
        whichever is more. 0 where no kernel ran."""
        if not self.kernel:
            return 0.0
        rates, moved = roofline(), self.bytes_read + self.bytes_written
        within = (rate for size, rate in rates["bandwidth"].items() if moved <= size)
        rate = next(within, rates["bandwidth"][max(rates["bandwidth"])])
        return 1e9 * max(moved / rate, self.operations / rates["operations"])

    def __repr__(self):
        ran = f" by {self.kernel}" if self.kernel else ""
        return f"<{self.kind} {self.name}{ran} at {self.line}: {self.duration_ns / 1000:.1f} us>"


_measured = {}


def roofline():
    """What this machine can do at best, measured at the first call of a process and for a number
    of threads, which takes some tenths of a second.

    {"operations": additions and multiplications of float32 in a second, "bandwidth": {bytes: bytes
    in a second}}, with as many threads as lt.get_num_threads() says. What is so large or smaller
    lies in some level of the cache when it is used again; the largest is memory. After Williams,
    Waterman and Patterson, "Roofline", 2009.
    """
    threads = get_num_threads()
    if threads not in _measured:
        operations, bandwidth = _lathe._measure_roofline()
        _measured[threads] = {"operations": operations, "bandwidth": dict(bandwidth)}
    return _measured[threads]


class profile:
    """A block whose calls are noted: `with profile() as p:`. One at a time in a process.

    When the block is over, also by an exception, p has its events. Entered again, it begins anew.
    """

    _rows = _made = None

    def __enter__(self):
        _lathe._begin_profile()
        self._rows = self._made = None
        return self

    def __exit__(self, *_):
        self._rows = _lathe._end_profile()

    def events(self):
        """A list of all events, by thread, in the order in which they began."""
        if self._rows is None:
            raise _lathe.ValueError(
                "a profile has events when its block is over", op="profile",
                got="a profile that was not entered, or is still open",
                expected="a call after the block", next="leave the block first",
            )  # fmt: skip
        if self._made is None:
            self._made = []
            for row in self._rows:
                self._made.append(Event(row, self._made))
        return list(self._made)

    def table(self, by="op", limit=None, floor=False):
        """A text: a line for each op, kernel or line, those with the most time of their own first.

        total has what is inside as well, self has not. GB/s: bytes read and written in the time
        of their own. limit: the most lines. floor: one column more, what share of the time of
        their own this machine needs at least (Event.floor_ns, roofline()).
        """
        if not isinstance(by, str) or by not in _BY:
            raise _lathe.ValueError(
                "a table is by op, kernel or line", op="table", got=repr(by),
                expected="'op', 'kernel' or 'line'", next="name one of them",
            )  # fmt: skip
        groups = sorted(_grouped(self.events(), _BY[by]), key=lambda g: -g.self_ns)
        whole = sum(g.self_ns for g in groups) or 1
        rows = [(by, "calls", "total us", "self us", "share", "MB read", "MB written", "GB/s")]
        rows += [g.cells(whole) for g in groups[:limit]]
        if floor:
            shares = ("floor", *(g.share_of_floor() for g in groups[:limit]))  # not an op
            rows = [(*row, share) for row, share in zip(rows, shares, strict=True)]
        return _aligned(rows)

    def chrome_trace(self, path):
        """Writes the events to a JSON file, as chrome://tracing and ui.perfetto.dev read it."""
        import json
        import os

        text = json.dumps(
            {
                "traceEvents": [_chrome_event(e, os.getpid()) for e in self.events()],
                "displayTimeUnit": "ns",
            }
        )
        with open(path, "w") as file:
            file.write(text)

    def __repr__(self):
        how = "no events yet" if self._rows is None else f"{len(self._rows)} events"
        return f"<lathe.profiler.profile: {how}>"


class _Group:
    """The events of one name, kernel or line."""

    def __init__(self, key):
        self.key, self.calls, self.total_ns, self.self_ns = key or "-", 0, 0, 0
        self.read, self.written, self.moving_ns = 0, 0, 0
        self.ran = []  # by kernels

    def add(self, event, nested):
        self.calls += 1
        self.self_ns += event.self_ns
        if not nested:
            self.total_ns += event.duration_ns
        self.read += event.bytes_read
        self.written += event.bytes_written
        if event.bytes_read + event.bytes_written:
            self.moving_ns += event.self_ns
        if event.kernel:
            self.ran.append(event)

    def share_of_floor(self):
        least, took = sum(e.floor_ns() for e in self.ran), sum(e.self_ns for e in self.ran)
        return f"{100 * least / took:.0f} %" if least and took else ""

    def cells(self, whole):
        moved = self.read + self.written
        rate = f"{moved / self.moving_ns:.1f}" if self.moving_ns > 0 else ""
        times = (f"{ns / 1e3:.1f}" for ns in (self.total_ns, self.self_ns))
        sizes = (f"{n / 1e6:.3f}" for n in (self.read, self.written))
        share = f"{100 * self.self_ns / whole:.1f} %"
        return (_shortened(self.key), str(self.calls), *times, share, *sizes, rate)


def _grouped(events, field):
    groups = {}
    for e in events:
        key = getattr(e, field)
        nested = any(getattr(outer, field) == key for outer in e.within())
        groups.setdefault(key, _Group(key)).add(e, nested)
    return groups.values()


_WIDEST = 60  # characters of a name


def _shortened(name):
    """Of a step of many ops: the first of them, and how many there are."""
    if len(name) <= _WIDEST or "+" not in name:
        return name
    ends = f"+... ({name.count('+') + 1} ops)"
    return name[: name.rindex("+", 0, _WIDEST - len(ends))] + ends


def _aligned(rows):
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    first, *others = widths
    return "\n".join(
        "  ".join((row[0].ljust(first), *map(str.rjust, row[1:], others))).rstrip() for row in rows
    )


def _chrome_event(e, process):
    return {
        "name": e.name, "ph": "X", "ts": e.start_ns / 1e3, "pid": process,
        "cat": e.kind,  # not an op: the format's word for a category
        "dur": e.duration_ns / 1e3, "tid": e.thread,
        "args": {
            "kernel": e.kernel, "line": e.line, "inputs": e.inputs, "outputs": e.outputs,
            "bytes read": e.bytes_read, "bytes written": e.bytes_written,
            "operations": e.operations,
        },
    }  # fmt: skip
