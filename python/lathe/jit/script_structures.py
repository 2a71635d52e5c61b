"""if, while and for in a script: decided on the way, or recorded where data decides."""

import ast
import functools
import itertools

from .. import _lathe, ops
from .._lathe import Tensor
from . import script_source as source
from .script_builtins import BUILTINS
from .script_heap import Heap, said_of
from .script_join import (
    Again,
    AsksLast,
    FirstRound,
    Joiner,
    Known,
    Missing,
    Raised,
    Undefined,
)
from .script_lists import DataList, Each, grown
from .script_optional import facts_of, stand_in
from .script_values import (
    Number,
    as_condition,
    decided_by_data,
    operator_of,
)
from .trace import same_grad

# How a statement ended.
END, RETURN, BREAK, CONTINUE = "end", "return", "break", "continue"
_ATTEMPTS = 16
PLAIN_ERRORS = (ArithmeticError, LookupError, ValueError)  # which eager code meets as a script does
_MOST_ROUNDS = 10_000  # of loops that are written out in what data decides about
_MOST_COPIES = 8  # of what follows ifs that may return, each inside of branches
CLOSED = ((), 0, None)  # what follows is not for a branch to run: the end of a with or a try

INSIDE = ("inside",)  # further rounds of a loop: what follows it is for its first ones


def _marks(depth):
    """The names of whether a loop, the depth-th around, returned, and what."""
    return f" returned {depth}", f" value {depth}"


class Structures:
    """What decides; Interpreter (script.py) is one."""

    # ── if ──────────────────────────────────────────────────────────────────────────────────────

    def _If(self, node, rest):
        return self.choose(node, self.test(node.test), lambda: self.block(node.body, rest),
                           lambda: self.block(node.orelse, rest), rest)  # fmt: skip

    def choose(self, node, test, yes, no, rest):
        """One of two parts of a statement; both, where data decides."""
        if not decided_by_data(test):
            return yes() if self.truth(node, test) else no()
        if source.may_exit(node):
            if isinstance(node, ast.If) and self.is_copied_often(node):
                return self.passed(node, test, rest)
            return self.exits(node, test, rest, yes, no)
        self.decide(node, test, lambda: self.ended(yes()), lambda: self.ended(no()),
                    source.assigned([node]), dead=self.dead_after(rest))  # fmt: skip
        return None

    def dead_after(self, rest):
        """Local names that nothing reads any more, where `rest` is what follows."""
        read = set()
        while rest is not None:
            if rest is CLOSED:
                return set()
            statements, at, rest = rest
            read = read.union(*map(source.read_names, statements[at:]))
        dead = {n for n in self.env if not n.startswith(" ")} - read
        return dead & self.passing(self.loops[-1]) if self.loops else dead

    def ended(self, outcome):
        assert outcome is None or outcome[0] == END

    def exits(self, node, test, rest, yes, no):
        """Both branches run to the end of the function, or of the loop's body."""
        after = rest
        while after is not None:
            if after is CLOSED:
                self.refuse(node, "a with or try that data decides whether to leave",
                            next="move the if around it")  # fmt: skip
            after = after[2]

        def part(branch):
            out = branch() or (END, None)
            if out[0] == END:
                out = self.follow(rest)
            if not self.loops:
                return out[1] if out[0] == RETURN else None
            if isinstance(out[0], Number):  # a branch inside has decided already
                return out[0]
            if out[0] == RETURN:
                self.returned(len(self.loops) - 1, out[1])
            return out[0] in (BREAK, RETURN)

        names, copies = self.assigned_here(), self.copies
        self.copies *= max(source.ways_through(node), 1)
        try:
            value = self.decide(node, test, lambda: part(yes), lambda: part(no), names,
                                keep=bool(self.loops))  # fmt: skip
        finally:
            self.copies = copies
        if not self.loops:
            return RETURN, value
        if isinstance(value, Number):
            return value, None  # whether the loop is left
        return (BREAK if value else CONTINUE), None

    def is_copied_often(self, node):
        """Would what follows an if be recorded too often, inside of each of the ways through it?"""
        ways = source.ways_through(node)
        return ways > 1 and self.copies * ways > _MOST_COPIES and not source.leaves_loop(node)

    def passed(self, node, test, rest):
        """An if that may return, as a loop of one round: what follows it is recorded once."""
        self.begin_returns(node)
        self.loops.append(node)
        try:
            self.exits(node, test, None, lambda: self.block(node.body, None),
                       lambda: self.block(node.orelse, None))  # fmt: skip
        finally:
            self.loops.pop()
        return self.end_returns(node, rest)

    def assigned_here(self):
        if not self.loops:
            return source.assigned(self.node.body)
        if isinstance(self.loops[-1], ast.If):
            marks = [n for n in _marks(len(self.loops) - 1) if n in self.env]
            return source.assigned([self.loops[-1]]) + marks
        marks = [n for n in _marks(len(self.loops) - 1) if n in self.env]
        passing = self.passing(self.loops[-1])
        return [n for n in source.assigned(self.loops[-1].body) if n not in passing] + marks

    def passing(self, loop):
        """Names of a loop that no round hands on."""
        if isinstance(loop, ast.If):
            return set()
        names = source.of_a_round(self.node, loop)
        return names - set(self.shared) - self.declared.keys() if names else names

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

    def learn(self, name, first, second, heap, symbols):
        """Has one side a value to return, and the other none? Then both are recorded again. Lists
        and objects that were there before are themselves on both sides."""
        if (first is Missing) is not (second is Missing):
            value = second if first is Missing else first
            # Those that a recording has made are others in the next one.
            keep = heap.shared - self.session.chosen.keys() - self.session.recorded
            self.makers[name] = stand_in(value, symbols, keep=keep)
            raise Again

    def truth(self, node, value):
        return self.do(node, bool, value)

    # ── recording ───────────────────────────────────────────────────────────────────────────────

    def decide(self, node, test, yes, no, names=(), keep=True, dead=()):
        """An if that data decides: gives what the branches give, joined. `names` are what they may
        assign; joined too, unless nothing reads them any more (`keep`). dead: other names that
        nothing reads."""
        known, level = self.known_of(node), self.levels.get(node, 0)
        self.levels[node] = level + 1
        try:
            return self.decide_knowing(known, node, test, yes, no, names, keep, dead)
        finally:
            self.levels[node] = level

    def decide_knowing(self, known, node, test, yes, no, names, keep, dead):
        names = list(dict.fromkeys(names))
        condition = self.condition(node, test)
        yes_facts, no_facts = facts_of(test)
        session = self.session
        raised = {}  # makes what a branch that raises would give
        for attempt in range(_ATTEMPTS):
            heap = self.heap(self.env.keys() if not keep else dead)
            joiner = Joiner(self, node, known, heap, _lathe._symbol_count())
            slots = {s: heap.held(s) for s in known.slots if s[0] in heap.boxes}
            branch = functools.partial(self.branch, node, names, joiner, slots, keep, raised)
            try:
                results = self.do(
                    node, _lathe._record_if, condition,
                    functools.partial(branch, yes, yes_facts, condition),
                    functools.partial(branch, no, no_facts, ops.logical_not(condition)),
                    functools.partial(joiner.pairs, raised),
                )  # fmt: skip
            except FirstRound:
                raise
            except Again:
                continue
            except _lathe.AutogradError:
                if attempt == 0:
                    raise
                self.refuse(  # the first recording has released what the second would go through
                    node, "a gradient is taken in a part that data decides about",
                    next="call backward() before the if, and decide about the step",
                )  # fmt: skip
            except Raised:
                self.fail(node)  # both do
            joined = joiner.joined(results)
            for name, item in joined["env"].items():
                if item is Undefined:
                    self.env.pop(name, None)
                else:
                    self.env[name] = item
            for i, g in joined["grads"].items():
                if hasattr(type(g), "_is_optional"):
                    self.refuse(
                        node, "data decides whether a tensor has a gradient",
                        got=f"a .grad of {list(session.leaves()[i].shape)} or None",
                        next="give zeros on both ways: optimizer.zero_grad(set_to_none=False)",
                    )  # fmt: skip
                _lathe._put_grad(session.leaves()[i], g)
            for slot, item in joined["slots"].items():
                heap.put(slot, item)
            return joined["value"][""]
        return self.refuse(node, "what the branches change does not settle",
                           next="keep what changes in tensors or local names")  # fmt: skip

    def known_of(self, node):
        """What is known of a statement; of one that is inside of itself, as the further rounds of a
        loop are, for each level."""
        return self.learnt.setdefault((node, self.levels.get(node, 0)), Known())

    def heap(self, dead=()):
        """What objects hold now. dead: names of this function that nothing reads after the part."""
        others = [i.env for i in self.session.live if i is not self]
        others += [r.state for r in self.session.recursions]
        others += [self.session.given, {"": self.session.checks}]
        own = {n: self.env[n] for n in dead}
        live = {n: v for n, v in self.env.items() if n not in own}
        return Heap(self.session, [*others, live], own)

    def branch(self, node, names, joiner, slots, keep, raised, part, facts, here):
        session, heap, known = self.session, joiner.heap, joiner.known
        before, grads = dict(self.env), session.grads()
        session.recording += 1
        session.here.append(here)
        try:
            with session.scope(facts):
                try:
                    value = self.failing(node, part)
                except Raised:
                    return joiner.add_raised(raised, self.note_failure(known, heap))
                self.unchanged_names(node, names, before)
                self.note_changes(node, known, heap)
                now = session.grads()
                grads = session.all_grads(grads)
                changed = {i for i, (a, b) in enumerate(zip(grads, now)) if not same_grad(a, b)}
                if not changed <= set(known.grads):
                    known.grads = tuple(sorted({*known.grads, *changed}))
                    raise Again
                env = {n: self.filled(n, self.env.get(n, Undefined)) for n in names if keep}
                for n in env:
                    if joiner.sides and n.startswith(" value"):
                        self.learn(n, joiner.unjoined(n), env[n], heap, joiner.symbols)
                after = {s: heap.now(s) for s in slots}
                after = {s: was if after[s] is heap.boxes[s[0]].then[s[1]] else after[s]
                         for s, was in slots.items()}  # fmt: skip
                return joiner.add(value, env, {i: now[i] for i in known.grads}, after)
        except Exception as e:
            session.crossed = e
            raise
        finally:
            session.recording -= 1
            session.here.pop()
            session.put_grads(grads)
            heap.put_back(heap.changes())
            self.env.clear()
            self.env.update(before)

    def failing(self, node, part):
        """What the part gives; an error of plain Python is one that eager code meets if it comes
        here."""
        try:
            return part()
        except PLAIN_ERRORS as e:
            if isinstance(e, _lathe.Error) or self.is_tried():
                raise
            self.fail(node)

    def note_failure(self, known, heap):
        """The number that says so is the one thing that a branch which raises changes."""
        slot = id(self.session.checks), "failed"
        if slot not in known.slots:
            known.slots[slot] = self.session.checks
            raise Again
        return {slot: heap.now(slot)}

    def unchanged_names(self, node, names, before):
        passing = self.passing(self.loops[-1]) if self.loops else ()
        for name, value in self.env.items():
            if (
                name not in names
                and name not in passing
                and value is not before.get(name, Undefined)
            ):
                self.refuse(node, f"a part that data decides about changes {name!r}")

    def note_changes(self, node, known, heap):
        """What a part has changed in objects: known already, or it is recorded again."""
        new = {}
        for key, now in heap.changes().items():
            if heap.is_private(key) and heap.can_put_back(key):
                continue
            slots, box = heap.changed_slots(key, now), heap.boxes[key]
            if slots is None:
                grown(self.session, box.obj)
                self.refuse(
                    node, f"{box.said()} gets another structure in a part that data decides about",
                    got=f"{said_of(box.then)} before, {said_of(now)} after",
                    next="give it its final items before: a value that is not there may be None",
                )  # fmt: skip
            new.update((s, box.obj) for s in slots if s not in known.slots)
        if heap.slots_changed():
            self.refuse(node, "a part that data decides about changes a class, or __slots__",
                        next="keep what changes in tensors or local names")  # fmt: skip
        if new:
            known.slots.update(new)
            raise Again

    # ── loops ───────────────────────────────────────────────────────────────────────────────────

    def _While(self, node, rest):
        self.begin_returns(node)
        known, left, presumed = self.known_of(node), False, False
        while True:
            decided = True
            if left is False:
                test = self.test(node.test)
                decided = decided_by_data(test)
                if not decided and not self.truth(node, test):
                    return self.ended_whole(node, rest)
            if decided and (presumed or left is not False or not known.first_round):
                try:
                    if not self.asks_first(node, left):
                        ended = self.left_after(node, left) if left is not False else (
                            self.negated(node, test))  # fmt: skip
                        self.record(node, ended, lambda: True, lambda: None, asks_last=True)
                    return self.end_returns(node, rest)
                except FirstRound as e:
                    if e.known is not known:
                        raise
            if decided:
                presumed = True
                if left is not False:  # data decides whether there is a round: it is refused now
                    continue
                self.presume(node, test)
            out, left = self.round_apart(node, rest)
            if out is not None:
                return out

    def presume(self, node, test):
        """A call in which it is not true runs as it is."""
        self.may_fail(node)
        self.do(node, self.session.fail_where, self.negated(node, test).tensor)

    def round_apart(self, node, rest):
        """A round before those that are recorded as a loop: (how the loop ends, None: it goes on;
        whether it is left)."""
        how, value = self.round(node)
        if how == RETURN:
            self.forget_returns()
            return (how, value), False
        if how == BREAK:
            return self.end_returns(node, rest) or (END, None), False
        return None, how if isinstance(how, Number) else False

    def asks_first(self, node, left):
        """Records a while as one that asks before each round, if asking does nothing else: it was
        asked before, when nobody knew that data decides, and what it does would be done twice."""
        known = self.known_of(node)
        if not known.asks_last and not source.has_walrus(node.test):
            try:
                self.record(node, left, lambda: self.test(node.test), lambda: None)
                return True
            except AsksLast:
                known.asks_last = True
        return False

    def negated(self, node, test):
        return self.do(node, operator_of("not"), self.as_truth(node, test))

    def left_after(self, node, how):
        """Is a while left after a round that ended so? It is asked, if the round did not say."""

        def ask():
            test = self.test(node.test)
            if decided_by_data(test):
                return self.negated(node, test)
            return not self.truth(node, test)

        if not isinstance(how, Number):
            return how == BREAK or ask()
        return self.decide(node.test, how, lambda: True, ask, source.assigned([node.test]))

    def ended_whole(self, node, rest):
        """A loop that nothing left: its else is next."""
        self.forget_returns()
        return self.block(node.orelse, rest)

    def round(self, node):
        """One round of a loop: how it ended; a Number where data decides whether it is left."""
        if self.session.recording:  # where eager code may never come
            self.session.rounds += 1
            if self.session.rounds > _MOST_ROUNDS:
                self.refuse_endless(node)
        self.loops.append(node)
        try:
            return self.block(node.body, None)
        finally:
            self.loops.pop()

    def refuse_endless(self, node):
        self.refuse(node, "a loop inside of a branch or loop that data decides about does not end",
                    got=f"{_MOST_ROUNDS} rounds, each of them written out",
                    next="bound it, or let a tensor decide when it ends")  # fmt: skip

    def record(self, node, left, ask, begin, asks_last=False, count=0):
        """The rounds from here on, as one loop in the graph. `begin` starts each round; asks_last:
        the condition of the while is asked at the end of each; count: of rounds before."""
        if node.orelse:
            self.refuse(node, "an else of a loop that data decides about")
        passing = self.passing(node)
        names = [n for n in source.assigned([node]) if n not in passing]
        names = [n for n in names if n in self.env and not isinstance(self.env[n], Undefined)]
        names = [n for n in names if not self.written_only(node, n)]
        fresh = [n for n in source.assigned([node]) if n not in self.env or n in passing]
        returns = [n for n in _marks(len(self.loops)) if n in self.env]
        may_break = source.has_break(node.body) or bool(returns) or asks_last
        before, known = dict(self.env), self.known_of(node)
        for n in passing & self.env.keys():  # set anew before it is read
            del self.env[n]
        for _ in range(_ATTEMPTS):
            dropped = {n: Undefined("", known.dropped[n]) for n in names if n in known.dropped}
            self.env.update(dropped)
            start = {n: self.env[n] for n in names if n not in dropped}
            start.update((n, self.filled(n, self.env[n])) for n in returns)
            if may_break:
                start[" left"] = left
            if isinstance(node, ast.For):
                start[" count"] = count
            try:
                self.record_once(node, start, returns, ask, begin, asks_last)
            except (AsksLast, FirstRound):
                self.env.clear()
                self.env.update(before)
                raise
            except Again:  # what it returns, or changes, is known now
                continue
            for n in fresh:
                self.env[n] = Undefined.at(node, n)
            self.env.update(dropped)
            return
        self.refuse(node, "what the rounds of the loop change does not settle")

    def record_once(self, node, start, returns, ask, begin, asks_last):
        heap, known = self.heap(), self.known_of(node)
        slots = [s for s in known.slots if s[0] in heap.boxes]
        names = list(start)
        start.update((s, heap.held(s)) for s in slots)
        joiner = Joiner(self, node, known, heap, _lathe._symbol_count())
        tensors = joiner.carry(start)
        before = dict(self.env)
        grads = self.session.grads()
        asked = []  # facts of the condition, by name

        def bind(values):
            self.env.clear()
            self.env.update(before)
            state = joiner.carried(values)
            self.env.update((n, state[n]) for n in names)
            for s in slots:
                heap.put(s, state[s])
            return state

        def condition(values):
            with _Part(self, node, heap):
                state = bind(values)
                go = ask()
                changed = any(heap.now(s) is not state[s] for s in slots)
                if changed or _lathe._block_is_ordered():
                    raise AsksLast
                facts = facts_of(go)[0]
                asked[:] = [(n, there) for n in names for m, there in facts if state[n] is m]
                flag = state.get(" left", False)
                if decided_by_data(flag):
                    go = operator_of("and")(operator_of("not")(flag), go)
                return as_condition(go) if decided_by_data(go) else bool(go)

        def body(values):
            with _Part(self, node, heap):
                state = bind(values)
                with self.session.scope([(state[n], there) for n, there in asked]):
                    return self.one_round(
                        node, joiner, state, start, names, slots, returns, grads, begin, asks_last
                    )

        self.session.rounds_known.append(known)
        try:
            results = self.do(node, _lathe._record_while, condition, body, tensors)
        finally:
            self.session.rounds_known.pop()
            self.session.put_grads(grads)
            heap.put_back(heap.changes())
            self.env.clear()
            self.env.update(before)
        state = joiner.carried(results)
        for s in slots:
            heap.put(s, state[s])
        self.env.update((n, state[n]) for n in names if n not in (" left", " count"))

    def one_round(self, node, joiner, state, start, names, slots, returns, grads, begin, asks_last):
        """The body of a loop, and what it gives to the next round."""
        try:
            begin()
            how, value = self.round(node)
        except Raised:
            return joiner.next({**state, **self.note_failure(joiner.known, joiner.heap)})
        if how == RETURN:
            self.returned(len(self.loops), value)
            how = BREAK
        if asks_last:
            how = self.left_after(node, how)
        if not all(map(same_grad, self.session.all_grads(grads), self.session.grads())):
            self.refuse(node, "gradients are set inside a loop that data decides about",
                        next="take the gradient after the loop")  # fmt: skip
        self.note_changes(node, joiner.known, joiner.heap)
        now = {n: self.env.get(n, Undefined) for n in names}
        for n in returns:
            if n.startswith(" value"):
                self.learn(n, start[n], now[n], joiner.heap, joiner.symbols)
        if " left" in now:
            now[" left"] = how if isinstance(how, (Number, bool)) else how == BREAK
        now.update((s, joiner.heap.now(s)) for s in slots)
        return joiner.next(now)

    def written_only(self, node, name):
        """A tensor that the loop writes in place under this name, and never names anew."""
        return isinstance(self.env[name], Tensor) and source.only_augmented([node], name)

    def _For(self, node, rest):
        items = self.evaluate(node.iter)
        if isinstance(items, BUILTINS.Range):
            return self.counted(node, rest, items)
        if type(items) is DataList and not items.is_known():
            items = Each(items)
        if type(items) is Each and items.is_empty():
            items = ()
        if type(items) is Each:
            return self.each(node, rest, items)
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
            how, value = self.round(node)
            if how == RETURN:
                if rest is not INSIDE:
                    self.forget_returns()
                return how, value
            if how == BREAK:
                return self.end_returns(node, rest) if rest is not INSIDE else None
            if isinstance(how, Number):  # the remaining rounds, unless it is left
                if node.orelse:
                    self.refuse(node, "an else of a loop that data decides about")
                remaining = list(itertools.islice(iterator, _MOST_ROUNDS + 1))
                if len(remaining) > _MOST_ROUNDS:
                    self.refuse_endless(node)
                marks = [n for n in _marks(len(self.loops)) if n in self.env]
                names = source.assigned([node]) + marks

                def more(remaining=remaining):
                    out = self.rounds(node, iter(remaining), INSIDE)
                    if out is not None and out[0] == RETURN:
                        self.returned(len(self.loops), out[1])

                if remaining:
                    self.decide(node, how, lambda: None, more, names)
                return self.end_returns(node, rest) if rest is not INSIDE else None

    def counted(self, node, rest, items):
        """for i in range(n), where data decides n."""
        start, step = items.start, items.step
        count = items.count()

        def ask():
            return operator_of("<")(self.env[" count"], count)

        def begin():
            k = self.env[" count"]
            self.assign(node.target, k * step + start)
            self.env[" count"] = k + 1

        return self.recorded(node, rest, ask, begin)

    def each(self, node, rest, each):
        """for item in items, where data decides how many there are."""

        def ask():
            return each.goes_on(self.env[" count"])

        def begin():
            k = self.env[" count"]
            self.assign(node.target, self.do(node, each.at, Number.of(k)))
            self.env[" count"] = k + 1

        return self.recorded(node, rest, ask, begin)

    def recorded(self, node, rest, ask, begin):
        """A for loop, as one of the graph."""
        self.begin_returns(node)
        known, left, count = self.known_of(node), False, 0
        while True:
            if known.first_round and count == 0:
                outer, self.env[" count"] = self.env.get(" count"), count
                self.presume(node, ask())
                begin()
                out, left = self.round_apart(node, rest)
                if outer is None:
                    del self.env[" count"]
                else:
                    self.env[" count"] = outer
                if out is not None:
                    return out
                count = 1
            try:
                self.record(node, left, ask, begin, count=count)
                return self.end_returns(node, rest)
            except FirstRound as e:
                if e.known is not known:
                    raise


class _Part:
    """While a part of a loop is recorded: what it changed is put back at the end."""

    def __init__(self, interpreter, node, heap):
        self.i, self.node, self.heap = interpreter, node, heap

    def __enter__(self):
        self.before = dict(self.i.env)
        self.i.session.recording += 1

    def __exit__(self, kind, value, traceback):
        i = self.i
        i.session.crossed = value
        try:
            if kind is None:
                i.note_changes(self.node, i.known_of(self.node), self.heap)
        finally:
            i.session.recording -= 1
            self.heap.put_back(self.heap.changes())
            i.env.clear()
            i.env.update(self.before)
