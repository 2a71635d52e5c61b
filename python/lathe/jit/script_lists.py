"""Lists that grow or shrink as data decides.

How long such a list is only a run of the program knows, so it cannot be a list while it is
recorded. A DataList stands for it: for each tensor or number in an item a tensor that has the items
as its rows. It is joined and carried by branches and loops as an object is that has these tensors
as its one attribute. Items are of one kind: tensors of one dtype and shape, numbers, tuples of
these.

A list display, a comprehension or a call of list() gives one from the start if an earlier recording
has shown that what it makes grows so: grown() notes its syntax tree, and the capture begins anew.

A row is a copy of the tensor that was appended, while in eager code the list holds that tensor
itself. The tracer is told (`_note_shared`), and refuses the writes by which one could tell.
"""

import functools
import sys

from .. import _lathe, ops
from .. import _list_loops as list_loops
from .._lathe import Tensor
from .observe.plans import sequence_maker
from .observe.recording import HEAP, Restart
from .script_optional import make_sequence, settled
from .script_values import Number, all_of, is_number, operator_of, refuse

ROWS = " rows"  # the one attribute: a name that no source can have
_NUMBERS = {bool: bool, int: int, float: float, _lathe.SymInt: int, _lathe.SymFloat: float}
_ADVICE = "stack it first, lathe.stack(items), or go through it with `for item in items`"


class _History:
    """A list keeps what it is given with its history, also where no gradients are recorded."""

    def __init__(self):
        self._before = []

    def __enter__(self):
        self._before.append(_lathe._set_grad_enabled(True))

    def __exit__(self, *_):
        _lathe._set_grad_enabled(self._before.pop())


_HISTORY = _History()


def grown(session, value):
    """The list has been seen to change its length where data decides, or to be read so: it is
    recorded as a DataList, in a capture from the start, if the script has made it."""
    made = session.made.get(id(value))
    if made is not None:
        session.observer.recorded.add(made[1])
        session.observer.again = True
        raise Restart


def is_rows(path):
    """Does the path of a joined value end at the tensors of a DataList?"""
    last = path[-1]
    return last == ROWS or (type(last) is tuple and len(last) == 2 and last[1] == ROWS)


def no_rows(state, symbols):
    """Makes the state of a list that has no items yet, but will have such ones. symbols: sizes that
    were there before as many symbols are kept."""
    spec, *rows = state
    kinds = [((0, *_lathe._sizes_before(r, symbols)[1:]), r.dtype) for r in rows]
    return lambda: (spec, *[ops.zeros(sizes, dtype=dtype) for sizes, dtype in kinds])


def _rows_made(change, *columns):
    """What `change` makes of each row and what is beside it in other columns; the tracer is told
    that eagerly it has their memory."""
    made = []
    for parts in zip(*columns):
        with _HISTORY:
            made.append(change(*parts))
        _lathe._note_shared(made[-1], [p for p in parts if p is not made[-1]])
    return made


class DataList:
    """A list of a script whose length data decides. Its state, None until there was an item, is
    what items are (Tensor, the class of a number, or the class of a tuple and what it holds), and
    the rows. recorded: it was made in a part that is recorded, and is another when that is
    recorded again."""

    __slots__ = ("__dict__", "recorded", "session")
    _is_list = True

    def __init__(self, session, items=(), state=None):
        self.session, self.recorded = session, session.recording > 0
        self.state = state
        self.extend(items)

    @property
    def state(self):
        return self.__dict__[ROWS]

    @state.setter
    def state(self, state):
        self.__dict__[ROWS] = state

    @property
    def spec(self):
        return self.state and self.state[0]

    @property
    def rows(self):
        return self.state and self.state[1:]

    def again(self, attributes):
        return DataList(self.session, (), attributes[ROWS])

    def emptied(self, symbols):
        """Makes lists of this kind that have no items."""
        session = self.session
        state = None if self.state is None else no_rows(self.state, symbols or 0)
        return lambda: DataList(session, (), state and state())

    def like(self, change):
        """Another list, whose rows are these, changed."""
        if self.state is None:
            return DataList(self.session)
        return DataList(self.session, (), (self.spec, *_rows_made(change, self.rows)))

    def size(self):
        """How many items there are, as an int or the size that a run tells."""
        return 0 if self.state is None else self.rows[0].shape[0]

    def length(self):
        """The same, as an int or a Number."""
        n = self.size()
        return n if type(n) is int else Number.of(n)

    def is_known(self):
        return type(self.size()) is int

    def truth(self):
        return self.length() != 0

    def fail_where(self, condition):
        session = self.session
        if session.inner:
            refuse("a list whose length data decides, read inside of a lathe.trace",
                   "make the outer function a script too")  # fmt: skip
        session.fail_where(condition.tensor)

    def require_one(self):
        """There is an item, or the program fails."""
        if not self.is_known():
            self.fail_where(self.length() == 0)

    # ── items ───────────────────────────────────────────────────────────────────────────────────

    def row_of(self, value):
        """The tensors of an item."""
        spec = _spec_of(value)
        if self.spec not in (None, spec):
            refuse(f"a list that grows as data decides holds {_said(self.spec)} and {_said(spec)}",
                   "append items of one kind")  # fmt: skip
        tensors = list(_tensors_of(value, spec))
        for row, t in zip(self.rows or (), tensors):
            if row.dtype is not t.dtype or row.ndim != t.ndim + 1:
                _refuse_unlike(row, t)
        return spec, tensors

    def put(self, value, place):
        """The rows that the list has when `place` has put those of the value into each tensor."""
        (spec, tensors), rows = self.row_of(value), self.rows
        if rows is None:
            state = spec, *[ops.unsqueeze(t, 0) for t in tensors]
            rows = no_rows(state, _lathe._symbol_count())()[1:]

        def placed(row, t):
            try:
                return place(row, ops.unsqueeze(t, 0))
            except _lathe.ShapeError:
                return _refuse_unlike(row, t)

        self.state = spec, *_rows_made(placed, rows, tensors)

    def item(self, i):
        """The item at a place that there is."""
        with _HISTORY:
            rows = iter([r[i.tensor if isinstance(i, Number) else i] for r in self.rows])
        return _item_of(self.spec, rows, self.session)

    def place(self, i, what="list index"):
        """Checked: an int where that and the length are known, else a Number, not negative."""
        n = self.length()
        if not isinstance(i, (int, Number, _lathe.SymInt)) or type(i) is bool:
            refuse("an item of a list that data makes longer is read by what is no integer",
                   "convert it: int(i)")  # fmt: skip
        if type(n) is int and n == 0:
            raise IndexError(f"{what} out of range")
        if isinstance(i, int) and isinstance(n, int):
            if not -n <= i < n:
                raise IndexError(f"{what} out of range")
            return i + n if i < 0 else i
        i, n = Number.of(i), Number.of(n)
        if i.kind is not int:
            refuse(f"a {i.kind.__name__} that data decides is no place in a list", "int(i)")
        i = Number(ops.where((i < 0).tensor, (i + n).tensor, i.tensor), int)
        self.fail_where(Number((i < 0).tensor | (i >= n).tensor, bool))
        return i

    # ── what lists do ───────────────────────────────────────────────────────────────────────────

    def append(self, value):
        self.put(value, lambda row, new: ops.cat([row, new]))

    def extend(self, values):
        if type(values) is not DataList or values.is_known():
            for value in list(iter(values)):
                self.append(value)
            return
        if self.state is None:
            self.state = values.state
            return
        if self.spec != values.spec:
            refuse("a list that data makes longer gets items of another kind")
        made = _rows_made(lambda a, b: ops.cat([a, b]), self.rows, values.rows)
        self.state = self.spec, *made

    def insert(self, i, value):
        n = self.length()
        if isinstance(i, Number) or (isinstance(n, Number) and i != 0):
            refuse("an insert at a place that data decides", "insert at 0, or append")
        i = max(i + n, 0) if i < 0 else i
        self.put(value, lambda row, new: ops.cat([row[:i], new, row[i:]]))

    def pop(self, i=-1):
        if self.is_known() and self.size() == 0:
            raise IndexError("pop from empty list")
        self.require_one()
        if type(i) is not int or i not in (0, -1):
            i = self.place(i, "pop index")
        item = self.item(Number.of(i) if not self.is_known() else i)
        self._leave_out(i)
        return item

    def _leave_out(self, i):
        if isinstance(i, Number):
            at = i.size()
            left = self.like(lambda r: ops.cat([r[:at], r[at + 1 :]]))
        elif i == -1:
            left = self.like(lambda r: r[:-1])
        else:
            left = self.like(lambda r: r[1:] if i == 0 else ops.cat([r[:i], r[i + 1 :]]))
        self.state = left.state

    def clear(self):
        self.state = self.like(lambda r: r[:0]).state

    def reverse(self):
        self.state = self[::-1].state

    def copy(self):
        return self.like(lambda r: r)

    def index(self, value):
        refuse("index() of a list whose length data decides", "search with a for loop and break")

    remove = sort = count = index

    def __getitem__(self, i):
        if isinstance(i, slice):
            return self._slice(i)
        return self.item(self.place(i))

    def _slice(self, s):
        if s.step not in (None, 1):
            if s != slice(None, None, -1):
                refuse("a slice with a step, of a list whose length data decides",
                       "slice the stacked tensor")  # fmt: skip
            return self.like(lambda r: ops.flip(r, [0]))
        bounds = [b.size() if isinstance(b, Number) else b for b in (s.start, s.stop)]
        if any(isinstance(b, Number) for b in (s.start, s.stop)):
            self.session.observer.note_size()
        return self.like(lambda r: r[slice(*bounds)])

    def __setitem__(self, i, value):
        if isinstance(i, slice):
            refuse("a write to a slice of a list whose length data decides", "write item by item")
        i = self.place(i, "list assignment index")

        def placed(row, new):
            made = row.clone()
            made[i.tensor if isinstance(i, Number) else i] = new.squeeze(0)
            return made

        self.put(value, placed)

    def __delitem__(self, i):
        self._leave_out(self.place(i, "list assignment index"))

    def __iter__(self):
        return self._items() if self.is_known() else self._no()

    def _items(self):
        at = 0
        while self.is_known() and at < self.size():
            yield self.item(at)
            at += 1
        if not self.is_known():
            self._no()

    def __iadd__(self, values):
        self.extend(values)
        return self

    def __add__(self, values):
        if type(values) is not list and type(values) is not DataList:
            raise TypeError(f'can only concatenate list (not "{type(values).__name__}") to list')
        made = self.copy()
        made.extend(values)
        return made

    def __radd__(self, values):
        if type(values) is not list:
            return NotImplemented
        return DataList(self.session, values) + self

    def as_index(self):
        """The tensor that indexes others as the list does."""
        if self.spec not in (int, bool):
            refuse(f"a list of {_said(self.spec)} as an index", "stack it: lathe.stack(items)")
        return self.rows[0]

    def outputs(self):
        """The rows as results of a program: no views of others."""
        with _HISTORY:
            return [r.clone() for r in self.rows or ()]

    def contains(self, value):
        """`value in self`, of numbers."""
        if self.state is None:
            return False
        if not is_number(value) or self.spec not in _NUMBERS:
            refuse("'in' of a list of tensors whose length data decides",
                   "compare in a for loop, or lathe.stack(items)")  # fmt: skip
        if float in (self.spec, Number.of(value).kind):  # a NaN is in it if it is the same object
            self.fail_where(Number(ops.isnan(Number.of(value).to(float)), bool))
        found = Number(self.rows[0], self.spec) == value
        return Number(ops.any(found.tensor), bool)

    def _no(self, *_):
        refuse("a list whose length data decides cannot be used here", _ADVICE)

    __len__ = __bool__ = __eq__ = __ne__ = __hash__ = __repr__ = __str__ = __format__ = _no
    __mul__ = __rmul__ = __imul__ = __contains__ = __lt__ = __gt__ = __le__ = __ge__ = _no


DataList.__name__ = "list"  # in messages, which are in the user's words


# ── items as tensors ────────────────────────────────────────────────────────────────────────────


def _spec_of(value):
    value = settled(value)
    if type(value) is Tensor:
        return Tensor
    if isinstance(value, Number):
        return value.kind
    if type(value) in _NUMBERS:
        return _NUMBERS[type(value)]
    if isinstance(value, tuple) and sequence_maker(type(value)):
        return type(value), *map(_spec_of, value)
    return refuse(
        f"a list that grows as data decides holds a value of class {type(value).__name__}",
        "append tensors, numbers or tuples of them",
    )


def _said(spec):
    if type(spec) is tuple:
        return f"{spec[0].__name__}s of {', '.join(map(_said, spec[1:]))}"
    return "tensors" if spec is Tensor else f"numbers ({spec.__name__})"


def _refuse_unlike(row, t):
    kinds = [f"{a.dtype.name}{list(s)}" for a, s in ((row, row.shape[1:]), (t, t.shape))]
    refuse(f"a list that grows as data decides holds tensors of {kinds[0]} and {kinds[1]}",
           "append tensors of one dtype and shape")  # fmt: skip


def _tensors_of(value, spec):
    if type(spec) is tuple:
        for v, s in zip(value, spec[1:]):
            yield from _tensors_of(v, s)
    else:
        value = settled(value)
        yield value if spec is Tensor else Number.of(value).tensor


def _item_of(spec, rows, session):
    if type(spec) is tuple:
        return make_sequence(spec[0], [_item_of(s, rows, session) for s in spec[1:]])
    row = next(rows)
    if spec is not Tensor:
        return Number(row, spec)
    session.chosen[id(row)] = session.of_lists[id(row)] = row
    return row


def attribute(items, name, *value):
    """Of a list; value: it is to be set, which no list lets do."""
    if name not in dir(list) or value:
        raise AttributeError(f"'list' object has no attribute {name!r}")
    if name.startswith("__"):
        refuse(f"{name} of a list whose length data decides", _ADVICE)
    return getattr(items, name)


def is_users(value):
    """An object of a class of the user's, whose operators may be code."""
    kind = type(value)
    return kind.__flags__ & HEAP and kind.__module__.split(".")[0] not in ("lathe", "builtins")


def new_list(session, items):
    return DataList(session, items)


# ── Python's functions of them ──────────────────────────────────────────────────────────────────


class Each:
    """The rounds of a for loop over lists whose length data decides: over the items of one, over
    those of several side by side, as zip() gives them, counted from `start`, as by enumerate(), or
    from the last one to the first. As Python's, it sees what the loop does to the lists."""

    def __init__(self, *lists, together=False, start=None, back=False):
        self.lists, self.together, self.start = lists, together, start
        self.begun = lists[0].length() if back else None

    def __iter__(self):
        refuse("a list whose length data decides is gone through outside of a for loop", _ADVICE)

    __next__ = __iter__

    def is_empty(self):
        return any(type(items.size()) is int and items.size() == 0 for items in self.lists)

    def goes_on(self, k):
        """Is there a k-th round?"""
        rounds = [operator_of("<")(self.place(k), items.length()) for items in self.lists]
        if self.begun is not None:
            rounds.append(operator_of("<")(k, self.begun))
        return functools.reduce(all_of, rounds)

    def place(self, k):
        return k if self.begun is None else self.begun - 1 - k

    def at(self, k):
        items = [items.item(self.place(k)) for items in self.lists]
        if self.together:
            return tuple(items)
        return items[0] if self.start is None else (k + self.start, items[0])


def _zip(*lists):
    session = next(items.session for items in lists if type(items) is DataList)

    def as_data(items):
        if type(items) is DataList:
            return items
        if not isinstance(items, (list, tuple, range, Tensor)):
            refuse(f"zip() of a list whose length data decides and of a {type(items).__name__}",
                   "index it: for i in range(len(items))")  # fmt: skip
        return DataList(session, items)

    return Each(*map(as_data, lists), together=True)


def _sum(items, start=0):
    if items.spec is float and sys.version_info >= (3, 12):  # which adds what is lost by rounding
        refuse("sum() of numbers (float) that data decides", "add them in a for loop")
    return items.session.call(list_loops.total, [items, start], {})


def _stack(items, dim=0):
    items.require_one()
    rows = _only_tensors(items)
    return ops.movedim(rows, 0, dim).clone() if dim != 0 else rows.clone()


def _cat(items, dim=0):
    items.require_one()
    rows = _only_tensors(items)
    if rows.ndim < 2:
        refuse("cat of tensors without axes", "lathe.stack(items)")
    if not -rows.ndim < dim < rows.ndim - 1:
        raise _lathe.IndexError("no such axis", op=ops.cat.__name__)
    dim = dim if dim >= 0 else dim + rows.ndim - 1
    return ops.flatten(ops.movedim(rows, 0, dim).clone(), dim, dim + 1)


def _only_tensors(items):
    if items.spec is not Tensor:
        refuse(f"tensors are asked for, of a list of {_said(items.spec)}", "lathe.tensor(items)")
    return items.rows[0]


def _tensor(items, dtype=None):
    items.require_one()
    if items.spec not in (bool, int, float):
        refuse(f"lathe.tensor() of a list of {_said(items.spec)}", "lathe.stack(items)")
    own = _lathe.get_default_dtype() if items.spec is float else items.rows[0].dtype
    return items.rows[0].to(dtype or own).clone()


def _enumerate(items, start=0):
    return Each(items, start=start)


def _reversed(items):
    return Each(items, back=True)


def _of_numbers(op):
    def extreme(items):
        items.require_one()
        if items.spec not in (int, float):
            refuse(f"max() and min() of a list of {_said(items.spec)}",
                   "stack it first: lathe.stack(items)")  # fmt: skip
        rows = items.rows[0]
        if items.spec is float:
            items.fail_where(Number(ops.any(ops.isnan(rows)), bool))
        return Number(rows[op(rows)], items.spec)  # of equal ones, 0.0 and -0.0, the first

    return extreme


def _truths(op):
    def ask(items):
        if items.state is None:
            return op is ops.all
        one_each = items.spec is Tensor and items.rows[0].ndim == 1
        if not one_each and items.spec not in (bool, int, float):
            refuse(f"any() and all() of a list of {_said(items.spec)}",
                   "stack it first: lathe.stack(items).any()")  # fmt: skip
        return Number(op(items.rows[0] != 0), bool)

    return ask


_FUNCTIONS = {
    len: DataList.length, bool: DataList.truth, list: DataList.copy, iter: Each, zip: _zip,
    enumerate: _enumerate, reversed: _reversed, _lathe.tensor: _tensor, sum: _sum,
    max: _of_numbers(ops.argmax), min: _of_numbers(ops.argmin),
    any: _truths(ops.any), all: _truths(ops.all),
}  # fmt: skip
_OF_ALL = (len, bool, list)  # also of those whose length is known
READING = (  # functions of Python's that may be given a list in the place of one of known length
    enumerate, zip, reversed, iter, sum, max, min, any, all, sorted, tuple, set, _lathe.tensor,
)  # fmt: skip
_OPS = {ops.stack.__name__: _stack, ops.cat.__name__: _cat}


def function_of(f, lists):
    """What a function does to such lists; None: it is not known, or Python's own does it, as their
    lengths are known."""
    if all(items.is_known() for items in lists) and not any(f is g for g in _OF_ALL):
        return None
    if type(f) is _lathe.Op:
        return _OPS.get(f.schemas[0].partition("(")[0])
    return next((g for known, g in _FUNCTIONS.items() if known is f), None)
