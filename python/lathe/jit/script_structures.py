"""if, while and for in a script: decided on the way, or recorded where data decides."""

import ast
import functools

from .. import _lathe
from .._lathe import Tensor
from . import script_source as source
from .script_builtins import BUILTINS
from .script_expressions import Closure
from .script_join import Joiner, Missing, Undefined, stand_in
from .script_values import (
    Number,
    as_condition,
    decided_by_data,
    operator_of,
)
from .trace import same_grad

# How a statement ended.
END, RETURN, BREAK, CONTINUE = "end", "return", "break", "continue"
_ATTEMPTS = 5
CLOSED = ((), 0, None)  # what follows is not for a branch to run: the end of a with or a try

INSIDE = ("inside",)  # further rounds of a loop: what follows it is for its first ones


def _marks(depth):
    """The names of whether a loop, the depth-th around, returned, and what."""
    return f" returned {depth}", f" value {depth}"


class Again(Exception):
    """The structure must be recorded again, knowing more."""


class Structures:
    """What decides; Interpreter (script.py) is one."""

    # ── if ──────────────────────────────────────────────────────────────────────────────────────

    def _If(self, node, rest):
        test = self.test(node.test)
        if not decided_by_data(test):
            return self.block(node.body if self.truth(node, test) else node.orelse, rest)
        if not source.may_exit(node):
            names = source.assigned(node.body) + source.assigned(node.orelse)
            self.decide(node, test, lambda: self.ended(self.block(node.body, None)),
                        lambda: self.ended(self.block(node.orelse, None)), names)  # fmt: skip
            return None
        return self.exits(node, test, rest, lambda: self.block(node.body, rest),
                          lambda: self.block(node.orelse, rest))  # fmt: skip

    def ended(self, outcome):
        assert outcome[0] == END

    def exits(self, node, test, rest, yes, no):
        """Both branches run to the end of the function, or of the loop's body."""
        after = rest
        while after is not None:
            if after is CLOSED:
                self.refuse(node, "a with or try that data decides whether to leave",
                            next="move the if around it")  # fmt: skip
            after = after[2]

        def part(branch):
            out = branch()
            if out[0] == END:
                out = self.follow(rest)
            if not self.loops:
                return out[1] if out[0] == RETURN else None
            if isinstance(out[0], Number):  # a branch inside has decided already
                return out[0]
            if out[0] == RETURN:
                self.returned(len(self.loops) - 1, out[1])
            return out[0] in (BREAK, RETURN)

        names = self.assigned_here()
        value = self.decide(node, test, lambda: part(yes), lambda: part(no), names,
                            keep=bool(self.loops))  # fmt: skip
        if not self.loops:
            return RETURN, value
        if isinstance(value, Number):
            return value, None  # whether the loop is left
        return (BREAK if value else CONTINUE), None

    def assigned_here(self):
        if not self.loops:
            return source.assigned(self.node.body)
        marks = [n for n in _marks(len(self.loops) - 1) if n in self.env]
        return source.assigned(self.loops[-1]) + marks

    # ── return in a loop ────────────────────────────────────────────────────────────────────────
    # Where data decides whether a loop returns, it is left, and two names that no source can hold
    # say whether it returned and what. Before it did, a stand-in of the same kind is the value.

    def begin_returns(self, node):
        if source.may_return(node):
            flag, value = _marks(len(self.loops))
            self.env[flag], self.env[value] = False, Missing

    def returned(self, depth, result):
        flag, value = _marks(depth)
        self.env[flag], self.env[value] = True, result

    def end_returns(self, node, rest):
        """What follows a loop: nothing, if it returned."""
        flag, value = self.forget_returns()
        if not decided_by_data(flag) or value is Missing:
            return (RETURN, value) if flag is True else None
        return self.exits(node, flag, rest, lambda: (RETURN, value), lambda: (END, None))

    def forget_returns(self):
        return [self.env.pop(n, False) for n in _marks(len(self.loops))]

    def filled(self, name, value):
        """The value under a name at the end of a branch; a stand-in, if one is known to be due."""
        return self.makers[name]() if value is Missing and name in self.makers else value

    def learn(self, name, first, second, *why):
        """Has one side a value to return, and the other none? Then both are recorded again."""
        if (first is Missing) is not (second is Missing):
            self.makers[name] = stand_in(second if first is Missing else first)
            raise Again(*why)

    def truth(self, node, value):
        return self.do(node, bool, value)

    # ── recording ───────────────────────────────────────────────────────────────────────────────

    def decide(self, node, test, yes, no, names=(), keep=True):
        """An if that data decides: gives what the branches give, joined. `names` are what they may
        assign; joined too, unless nothing reads them any more (`keep`)."""
        names = list(dict.fromkeys(names))
        condition = self.do(node, as_condition, test)
        with_grads = ()
        for _ in range(_ATTEMPTS):
            joiner = Joiner(self, node)
            try:
                results = self.do(
                    node, _lathe._record_if, condition,
                    functools.partial(self.branch, node, yes, names, joiner, with_grads, keep),
                    functools.partial(self.branch, node, no, names, joiner, with_grads, keep),
                    joiner.pairs,
                )  # fmt: skip
            except Again as again:
                with_grads = again.args[0]
                continue
            value, env, grads = joiner.joined(results)
            for name, item in env.items():
                if item is Undefined:
                    self.env.pop(name, None)
                else:
                    self.env[name] = item
            for i, g in grads.items():
                _lathe._put_grad(self.session.leaves()[i], g)
            return value
        return self.refuse(node, "the gradients that the branches set do not settle")

    def branch(self, node, part, names, joiner, with_grads, keep):
        session = self.session
        before, grads, state = dict(self.env), session.grads(), self.mark()
        session.recording += 1
        try:
            value = part()
            self.unchanged(node, state, names, before)
            now = session.grads()
            grads = session.all_grads(grads)
            changed = tuple(i for i, (a, b) in enumerate(zip(grads, now)) if not same_grad(a, b))
            if not set(changed) <= set(with_grads):
                raise Again(tuple(sorted({*with_grads, *changed})))
            env = {n: self.filled(n, self.env.get(n, Undefined)) for n in (names if keep else ())}
            for n in env:
                if joiner.sides and n.startswith(" value"):
                    self.learn(n, joiner.unjoined(n), env[n], with_grads)
            return joiner.add(value, env, {i: now[i] for i in with_grads}, before)
        finally:
            session.recording -= 1
            session.put_grads(grads)
            self.env.clear()
            self.env.update(before)

    def mark(self):
        """What must not change while a part is recorded: Python's state, and others' names."""
        return self.session.mark(
            [{k: v for k, v in other.env.items() if not isinstance(v, (Number, Closure))}
             for other in self.session.live]
        )  # fmt: skip

    def unchanged(self, node, state, names, before):
        kept = dict(self.env)
        self.env.clear()
        self.env.update(before)
        try:
            now = self.mark()
        finally:
            self.env.clear()
            self.env.update(kept)
        for name in kept:
            if name not in names and kept[name] is not before.get(name, Undefined):
                self.refuse(node, f"a part that data decides about changes {name!r}")
        if self.session.changed(state, now):
            self.refuse(
                node, "a part that data decides about changes a Python object",
                next="keep what changes in tensors or local names: x = x + [y] instead of append",
            )  # fmt: skip

    # ── loops ───────────────────────────────────────────────────────────────────────────────────

    def _While(self, node, rest):
        self.begin_returns(node)
        left = False
        while True:
            if left is False:
                test = self.test(node.test)
                if not decided_by_data(test):
                    if not self.truth(node, test):
                        return self.ended_whole(node, rest)
                    how, value = self.round(node.body)
                    if how == RETURN:
                        self.forget_returns()
                        return how, value
                    if how == BREAK:
                        return self.end_returns(node, rest)
                    left = how if isinstance(how, Number) else False
                    continue
            self.record(node, left, lambda: self.test(node.test), lambda: None)
            return self.end_returns(node, rest)

    def ended_whole(self, node, rest):
        """A loop that nothing left: its else is next."""
        self.forget_returns()
        return self.block(node.orelse, rest)

    def round(self, body):
        """One round of a loop: how it ended; a Number where data decides whether it is left."""
        self.loops.append(body)
        try:
            return self.block(body, None)
        finally:
            self.loops.pop()

    def record(self, node, left, ask, begin):
        """The rounds from here on, as one loop in the graph. `begin` starts each round."""
        if node.orelse:
            self.refuse(node, "an else of a loop that data decides about")
        if source.has_walrus(node):
            self.refuse(
                node, "an assignment inside an expression, in a loop that data decides about"
            )
        names = source.assigned([node])
        names = [n for n in names if n in self.env and not isinstance(self.env[n], Undefined)]
        names = [n for n in names if not self.written_only(node, n)]
        fresh = [n for n in source.assigned([node]) if n not in self.env]
        returns = [n for n in _marks(len(self.loops)) if n in self.env]
        may_break = source.has_break(node.body) or bool(returns)
        start = {n: self.env[n] for n in names}
        start.update((n, self.filled(n, self.env[n])) for n in returns)
        if may_break:
            start[" left"] = left
        if isinstance(node, ast.For):
            start[" count"] = 0
        joiner = Joiner(self, node)
        tensors = joiner.carry(start)
        before = dict(self.env)
        grads = self.session.grads()

        def bind(values):
            self.env.clear()
            self.env.update(before)
            state = joiner.carried(values)
            self.env.update(state)
            return state

        def condition(values):
            with self.part(node, names):
                state = bind(values)
                go = ask()
                flag = state.get(" left", False)
                if decided_by_data(flag):
                    go = operator_of("and")(operator_of("not")(flag), go)
                return as_condition(go) if decided_by_data(go) else bool(go)

        def body(values):
            with self.part(node, names):
                bind(values)
                begin()
                how, value = self.round(node.body)
                if how == RETURN:
                    self.returned(len(self.loops), value)
                    how = BREAK
                if not all(map(same_grad, self.session.all_grads(grads), self.session.grads())):
                    self.refuse(node, "gradients are set inside a loop that data decides about",
                                next="take the gradient after the loop")  # fmt: skip
                now = {n: self.env.get(n, Undefined) for n in start}
                for n in returns:
                    if n.startswith(" value"):
                        self.learn(n, start[n], now[n])
                if may_break:
                    now[" left"] = how if isinstance(how, Number) else how == BREAK
                return joiner.next(now)

        try:
            results = self.do(node, _lathe._record_while, condition, body, tensors)
        except Again as again:
            if again.args:
                raise
            results = None
        finally:
            self.session.put_grads(grads)
            self.env.clear()
            self.env.update(before)
        if results is None:  # what it returns is known now
            self.record(node, left, ask, begin)
            return
        state = joiner.carried(results)
        for n in (" left", " count"):
            state.pop(n, None)
        self.env.update(state)
        for n in fresh:
            self.env[n] = Undefined.at(node, n)

    def written_only(self, node, name):
        """A tensor that the loop writes in place under this name, and never names anew."""
        return isinstance(self.env[name], Tensor) and source.only_augmented(node.body, name)

    def part(self, node, names):
        return _Part(self, node, names)

    def _For(self, node, rest):
        items = self.evaluate(node.iter)
        if isinstance(items, BUILTINS.Range):
            self.begin_returns(node)
            self.counted(node, items)
            return self.end_returns(node, rest)
        iterator = self.do(node.iter, iter, items)
        self.begin_returns(node)
        return self.rounds(node, iterator, rest)

    def rounds(self, node, iterator, rest):
        while True:
            try:
                item = self.do(node.iter, next, iterator)
            except StopIteration:
                return self.ended_whole(node, rest) if rest is not INSIDE else None
            self.assign(node.target, item)
            how, value = self.round(node.body)
            if how == RETURN:
                if rest is not INSIDE:
                    self.forget_returns()
                return how, value
            if how == BREAK:
                return self.end_returns(node, rest) if rest is not INSIDE else None
            if isinstance(how, Number):  # the remaining rounds, unless it is left
                if node.orelse:
                    self.refuse(node, "an else of a loop that data decides about")
                remaining = list(iterator)
                marks = [n for n in _marks(len(self.loops)) if n in self.env]
                names = source.assigned([node]) + marks

                def more(remaining=remaining):
                    out = self.rounds(node, iter(remaining), INSIDE)
                    if out is not None and out[0] == RETURN:
                        self.returned(len(self.loops), out[1])

                if remaining:
                    self.decide(node, how, lambda: None, more, names)
                return self.end_returns(node, rest) if rest is not INSIDE else None

    def counted(self, node, items):
        """for i in range(n), where data decides n."""
        start, step = items.start, items.step
        count = items.count()

        def ask():
            return operator_of("<")(self.env[" count"], count)

        def begin():
            k = self.env[" count"]
            self.assign(node.target, k * step + start)
            self.env[" count"] = k + 1

        self.record(node, False, ask, begin)


class _Part:
    """While a part of a loop is recorded: what it must not change is compared at the end."""

    def __init__(self, interpreter, node, names):
        self.i, self.node, self.names = interpreter, node, names

    def __enter__(self):
        i = self.i
        self.before, self.state = dict(i.env), i.mark()
        i.session.recording += 1

    def __exit__(self, kind, value, traceback):
        i = self.i
        i.session.recording -= 1
        i.env.clear()
        i.env.update(self.before)
        if kind is None and i.session.changed(self.state, i.mark()):
            i.refuse(self.node, "a loop that data decides about changes a Python object",
                     next="keep what changes in tensors or local names")  # fmt: skip
