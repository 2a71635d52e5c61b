"""One capture: arguments in, a program with its guards and effects out."""

from ... import _lathe
from ..._lathe import Tensor
from .plans import Planner, members_of, nested_too_deep, sequence_maker
from .recording import BOXES, MISSING, Restart, dict_of, may_be_resized
from .rows import NUMBERS, PLAIN, is_number, is_plain

_SYMBOLIC = (_lathe.SymInt, _lathe.SymFloat)
_MOST_LEVELS = 128  # of nested arguments; more is a list that contains itself
_MOST_CONTAINERS = 1 << 16  # in them; a few lists that share lists can have 2^60 paths through them


def is_record(kind):
    """Is it a dataclass that keeps all it has in its __dict__? As `dataclasses` says, which takes
    long to import."""
    return (
        hasattr(kind, "__dataclass_fields__")
        and not issubclass(kind, BOXES)
        and (not members_of(kind))
    )


def where(function):
    """ "file:line" of a function, or of the forward() of a module."""
    code = getattr(function, "__code__", None)
    if code is None:
        inner = getattr(function, "forward", None) or type(function).__call__
        code = getattr(inner, "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code else "an unknown line"


class Arguments:
    """Reads the arguments of a call, all of them, and makes others with symbolic tensors."""

    def __init__(self, observer, args, kwargs):
        self.observer = observer
        self.tensors, self.rows = [], []
        self.containers = 0
        self._plans, self._open = {}, set()  # by id: containers that were met, and those around
        roots = observer.root("arguments", args), observer.root("named", kwargs)
        self._plan = [self._read(v, r, 0) for v, r in zip((args, kwargs), roots)]
        self.symbolic = None

    def _read(self, value, row, level):
        """A plan to make the value anew: (kind, what, parts)."""
        kind = type(value)
        if level > _MOST_LEVELS or self.containers > _MOST_CONTAINERS:
            raise nested_too_deep(_MOST_LEVELS)
        if isinstance(value, Tensor):
            return self._tensor(value, row)
        maker = sequence_maker(kind)
        if not (maker or kind is dict or is_record(kind)) or is_plain(value) and kind is not tuple:
            return ("row", row, value)
        if id(value) in self._open:
            raise nested_too_deep(_MOST_LEVELS)
        self.containers += 1
        if id(value) in self._plans:
            return ("again", id(value), value)
        self._open.add(id(value))
        try:
            return self._container(value, row, level, kind, maker)
        finally:
            self._open.discard(id(value))

    def _container(self, value, row, level, kind, maker):
        self._plans[id(value)] = value
        o = self.observer
        inner = level + 1
        if maker:
            o._also(row, "length", (kind, len(value)))
            o.whole.add((id(value), False))
            parts = [
                self._read(v, o.row("item", row, i, v, open=True), inner)
                for i, v in enumerate(value)
            ]
            return ("items", value, maker, parts)
        space = value if kind is dict else dict_of(value)
        if kind is dict:
            o.whole.add((id(value), False))
            inside = row
        else:
            inside = o.dict_row(value, space)
        o._also(inside, "keys", tuple(space))
        parts = []
        for k, v in space.items():
            if kind is not dict and type(v) in PLAIN:  # read where the code reads it
                parts.append((k, ("row", None, v)))
            else:
                parts.append((k, self._read(v, o.row("key", inside, k, v, open=True), inner)))
        return ("dict" if kind is dict else "record", value, kind, parts)

    def _tensor(self, value, row):
        known = self.observer.tensors.get(_lathe._identity(value))
        if known is not None and known is not row and known.n in [r.n for r in self.rows]:
            row = known
        elif _lathe._identity(value) not in self.observer.concrete and type(value) is Tensor:
            self.tensors.append(value)
            self.rows.append(row)
        return ("tensor", row, value)

    def stand_in(self, symbolic):
        """(args, kwargs) with these tensors in the place of those that are passed."""
        o = self.observer
        for row, other in zip(self.rows, symbolic):
            o.stand_ins[row.n] = other
            o.known[id(other)] = other, row
            o.tensors[_lathe._identity(other)] = row
        for row in o.rows:
            if row.test in NUMBERS:
                o.stand_ins[row.n] = _lathe._capture_number(row.n, row.value)
            elif row.test == "array":
                o.stand_ins[row.n] = _lathe._lift(o.stand_ins[row.n])
        made = {}
        return tuple(self._make(p, made) for p in self._plan)

    def _make(self, plan, made):
        kind, what = plan[0], plan[1]
        if kind == "tensor" or kind == "row":
            value = self.observer.stand_ins.get(what.n) if what is not None else None
            return plan[2] if value is None or what.test == "array" else value
        if kind == "again":
            return made[what]
        if kind == "items":
            value = made[id(what)] = plan[2](self._make(p, made) for p in plan[3])
        else:
            value = {} if kind == "dict" else object.__new__(plan[2])
            made[id(what)] = value
            space = value if kind == "dict" else value.__dict__
            space.update((k, self._make(p, made)) for k, p in plan[3])
        self._stands_for(value, what)
        return value

    def _stands_for(self, value, what):
        o = self.observer
        found = o.known.get(id(what))
        if found is None or value is what:
            return
        o.known[id(value)] = value, found[1]
        o.whole.add((id(value), False))
        space, old = dict_of(value), dict_of(what)
        if space is not None and id(old) in o.known:
            o.known[id(space)] = space, o.known[id(old)][1]


class Capture:
    """A run of the function on symbolic tensors. Afterwards: rows, plan, effects, grads."""

    def __init__(self, observer, function, run, args, kwargs):
        self.observer = observer
        self.observer.where = where(function)
        self.observer.traced, self.observer.given_to = function, (args, kwargs)
        self.function, self._run = function, run
        self.observer.default_dtype()
        self.observer.constant(function, getattr(function, "__name__", None))
        self.arguments = Arguments(self.observer, args, kwargs)
        self.given = [*self.arguments.tensors, *self._resized()]
        self.plan = self.effects = self.grads = self.planner = None

    def body(self, symbolic):
        """What the engine traces: gives the results of the graph."""
        o = self.observer
        own = len(self.arguments.tensors)
        args, kwargs = self.arguments.stand_in(symbolic[:own])
        o.of_any_size = dict(zip(map(_lathe._identity, self.given[own:]), symbolic[own:]))
        self._begin_leaves()
        mode = _lathe.is_grad_enabled(), str(_lathe._autocast())
        result = None
        o.begin()
        try:
            result = self._run(o, args, kwargs)
            o.check_net()
            o.refuse_unread()
            if o.again:
                raise Restart
            if (_lathe.is_grad_enabled(), str(_lathe._autocast())) != mode:
                o.where = o.mode_line or o.where
                o.refuse("the traced code leaves another mode behind than it found",
                         next="switch the mode by a `with` statement")  # fmt: skip
            return self._results(result)
        except Exception as problem:
            with o.resting():
                from .sent import is_sent

                sent = is_sent(problem)
            if sent:
                raise
            o.note_unseen()
            if o.refused is not None and problem is not o.refused:
                raise o.refused from None
            raise
        finally:
            o.end()
            o.undo()
            self._put_back()
            _lathe._set_grad_enabled(mode[0])

    def find(self, tensor, identity):
        """The number of the row where a tensor was found; None: nowhere."""
        o = self.observer
        row = o.tensors.get(identity)
        if identity in o.of_any_size:  # C has got at the tensor itself
            o.concrete.add(identity)
            o.again = True
        if row is None:
            for leaf in [r for r in o.tensors.values() if r.step != "grad"]:
                if not isinstance(leaf.value, Tensor):
                    continue
                grad = leaf.value.grad
                if grad is not None and _lathe._identity(grad) == identity:
                    row = o.row("grad", leaf, None, grad)
                    break
        return None if row is None else row.n

    def _resized(self):
        """Tensors from outside whose sizes have been seen to change."""
        o = self.observer
        return [
            t
            for t in o.resized
            if _lathe._identity(t) not in o.concrete and _lathe._identity(t) not in o.tensors
        ]

    def rows_given(self):
        """The rows that find what the program is given."""
        o = self.observer
        resized = self.given[len(self.arguments.tensors) :]
        found = [*self.arguments.rows, *(o.tensors[_lathe._identity(t)] for t in resized)]
        return [row.n for row in found]

    def sizes_outside(self):
        """By row: the sizes of the tensors from outside that might have any."""
        return {
            row.n: tuple(row.value.shape)
            for row in self.observer.tensors.values()
            if row.n not in self.observer.stand_ins and may_be_resized(row)
        }

    # ── gradients ───────────────────────────────────────────────────────────────────────────────

    def _begin_leaves(self):
        """A leaf that is passed is a leaf of the trace as well, with the gradient it has."""
        for row in self.arguments.rows:
            t, other = row.value, self.observer.stand_ins[row.n]
            if t.is_leaf:
                other.requires_grad_(t.requires_grad)
                _lathe._put_grad(other, t.grad)

    def _changed(self):
        for row, t, before in self.observer.leaf_tensors():
            now = t.grad
            if (
                now is before
                or now is not None
                and before is not None
                and (_lathe._same_tensor(now, before))
            ):
                continue
            yield row, now, before

    def _note_shared_gradients(self):
        """What is added to one gradient in place is added to all leaves that have it."""
        by_tensor = {}
        for row, _, before in self.observer.leaf_tensors():
            if before is not None:
                by_tensor.setdefault(_lathe._identity(before), []).append((row, before))
        for leaves in by_tensor.values():
            for row, before in leaves if len(leaves) > 1 else ():
                self.observer.gradient_row(row, before)

    def _put_back(self):
        o = self.observer
        for _, t, before in o.leaf_tensors():
            _lathe._put_grad(t, before)
        for row, _ in o.turned_tensors():
            if row.n not in o.stand_ins:
                row.value.requires_grad_(o.turned[row])

    def _note_counters(self):
        """A number that the code changes is another one at the next call: an input at once."""
        o, again = self.observer, False
        for kind, owner, name, now in o.changes() if o.inputs else ():
            step = "cell" if kind == "cell" else "key"
            row = o.index.get((step, owner.n, type(name), name)) if owner is not None else None
            if row is None or row.path in o.varying or type(now) not in (int, float, *_SYMBOLIC):
                continue
            was = row.wanted if row.test == "equal" else now if row.test == "absent" else None
            if is_number(was) and (was is now or now != was):
                o.varying.add(row.path)
                again = again or row.test == "equal"
        if again:
            raise Restart

    # ── results ─────────────────────────────────────────────────────────────────────────────────

    def _results(self, result):
        o = self.observer
        changed = list(self._changed())
        for row, _, before in changed:
            if (row.n, "grad") not in o.written:  # added to what was there
                o.gradient_row(row, before)
        o.guard_what_stays()
        self._note_counters()
        o.refuse_shared_gradients(changed)
        self._note_shared_gradients()
        o.note_numpy()
        o.finish()
        planner = self.planner = Planner(o, o.refuse)
        self.plan = planner.of(result)
        planner.keeps = True
        self.effects = [
            (kind, planner._of_row(row, None), name, planner.of(value))
            for kind, row, name, value in o.changes()
        ]
        outputs = list(planner.outputs)
        self.grads = []
        for row, now, _ in changed:
            self.grads.append((row.n, -1 if now is None else len(outputs)))
            if now is not None:
                outputs.append(now)
        self._check_turned(outputs)
        o.check_net()
        return outputs

    def _check_turned(self, outputs):
        """The program itself runs before a tensor is told to require grad."""
        o = self.observer
        for _, flag in o.turned_tensors():
            if flag and any(isinstance(t, Tensor) and t.requires_grad for t in outputs):
                o.refuse("the traced code tells a tensor to require grad, and a result leads "
                         "back to it", next="call requires_grad_() before the call, or return "
                         "y.detach()")  # fmt: skip

    @property
    def single(self):
        return self.plan == ("out", 0) and not self.effects and len(self.planner.outputs) == 1

    def guards(self):
        """The rows, for C++."""
        o = self.observer
        for kind, entries in o.bundles.items():
            wanted = tuple(
                (cls, name) if value is MISSING else (cls, name, value)
                for (cls, name), value in entries.items()
            )
            if wanted:
                wanted = (kind.__mro__, *wanted)
                o._also(o.constant(kind), "bundle", wanted)
        return _lathe.Guards([_as_tuple(r) for r in o.rows])

    def may_be_ours(self, problem):
        """Is it an error, or was it made of one, that a stand-in for a number may have led to?"""
        refusals = (_lathe.TraceError, _lathe.ScriptError, OverflowError)
        if isinstance(problem, refusals):  # of what an integer would be in the place of one
            return any(row.test == "integer" for row in self.observer.rows)
        seen = set()
        while problem is not None and id(problem) not in seen:
            if isinstance(problem, (TypeError, AttributeError)):
                return any(row.test in NUMBERS for row in self.observer.rows)
            seen.add(id(problem))
            problem = problem.__cause__ or problem.__context__
        return False

    def close(self):
        """Lets go of all that was read; what is left says what the rows were."""
        o = self.observer
        for row in o.rows:
            row.close()
        rows = o.rows
        o.__dict__.clear()
        self.observer = self.arguments = self._run = None
        return rows


def _as_tuple(row):
    key, by_row = row.key, False
    if type(key).__name__ == "Row":
        key, by_row = key.n, True
    parent = -1 if row.parent is None else row.parent.n
    return (row.step, parent, key, row.test, row.wanted, (row.loose, by_row, row.weak))
