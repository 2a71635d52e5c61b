"""match in a script: values may be compared where data decides, structure is known."""

import ast
from collections import deque
from types import MappingProxyType

from .script_lists import DataList
from .script_optional import settled
from .script_structures import END
from .script_values import all_of, any_of, decided_by_data, operator_of

_SEQUENCE, _MAPPING = 1 << 5, 1 << 6  # Py_TPFLAGS_SEQUENCE, Py_TPFLAGS_MAPPING

_ABSENT = type("Absent", (), {})()


class Matching:
    """What runs a match statement; Interpreter (script.py) is one."""

    def _Match(self, node, rest):
        subject = self.session.observer.match(settled(self.evaluate(node.subject)))
        return self.cases(node, subject, node.cases, rest)

    def cases(self, node, subject, cases, rest):
        if not cases:
            return END, None
        case, more = cases[0], cases[1:]
        found = self.pattern(case.pattern, subject)
        if case.guard is not None and found is not False:
            if decided_by_data(found):
                self.refuse(case.pattern, "a pattern that data decides about, with a guard",
                            next="write an if inside the case")  # fmt: skip
            found = self.test(case.guard)
        return self.choose(node, found, lambda: self.block(case.body, rest),
                           lambda: self.cases(node, subject, more, rest), rest)  # fmt: skip

    def pattern(self, p, subject):
        """Does it match? True, False, or a number that data decides."""
        return getattr(self, "_p_" + type(p).__name__)(p, subject)

    def _p_MatchValue(self, p, subject):
        answer = self.do(p, operator_of(ast.Eq()), subject, self.evaluate(p.value))
        return answer if decided_by_data(answer) else self.truth(p, answer)

    def _p_MatchSingleton(self, p, subject):
        return self.identity(p, subject, p.value, True)

    def _p_MatchOr(self, p, subject):
        found = False
        for part in p.patterns:
            one = self.pattern(part, subject)
            if one is True:
                return True
            if decided_by_data(one):
                found = self.do(p, any_of, found, one)
        return found

    def _p_MatchAs(self, p, subject):
        found = True if p.pattern is None else self.pattern(p.pattern, subject)
        if p.name is not None and found is not False:
            self.bind(p, found, p.name, subject)
        return found

    def bind(self, p, found, name, value):
        if decided_by_data(found):
            self.refuse(p, f"{name!r} is bound by a pattern that data decides about",
                        next="bind it inside the case")  # fmt: skip
        self.set_name(p, name, value)

    def every(self, p, pairs):
        """Do all of these patterns match?"""
        found = True
        for part, value in pairs:
            one = self.pattern(part, value)
            if one is False:
                return False
            if decided_by_data(one):
                found = self.do(p, all_of, found, one)
        return found

    def is_one(self, p, subject, flag, kinds):
        """Does Python take it for a sequence, or a mapping, in a match? kinds: those in C."""
        is_one = bool(type(subject).__flags__ & flag)
        if is_one and not isinstance(subject, kinds):
            self.refuse(p, f"a {type(subject).__name__}, which a pattern would take apart",
                        next="match a list, a tuple or a dict")  # fmt: skip
        if is_one:
            self.session.observer.use(subject)
        return is_one

    def _p_MatchSequence(self, p, subject):
        if type(subject) is DataList:
            if not subject.is_known():
                self.refuse(p, "a match of a list whose length data decides", next="ask len(items)")
            subject = list(iter(subject))
        if not self.is_one(p, subject, _SEQUENCE, (list, tuple, deque, range)):
            return False
        items, parts = list(subject), p.patterns
        star = next((i for i, q in enumerate(parts) if isinstance(q, ast.MatchStar)), None)
        if star is None:
            return len(items) == len(parts) and self.every(p, zip(parts, items))
        after = len(parts) - star - 1
        if len(items) < star + after:
            return False
        middle = items[star : len(items) - after]
        pairs = [*zip(parts[:star], items), *zip(parts[star + 1 :], items[len(items) - after :])]
        found = self.every(p, pairs)
        if parts[star].name is not None and found is not False:
            self.bind(p, found, parts[star].name, middle)
        return found

    def _p_MatchMapping(self, p, subject):
        if not self.is_one(p, subject, _MAPPING, (dict, MappingProxyType)):
            return False
        keys = [self.evaluate(k) for k in p.keys]
        if any(k not in subject for k in keys):
            return False
        found = self.every(p, [(q, subject[k]) for q, k in zip(p.patterns, keys)])
        if p.rest is not None and found is not False:
            left = {k: v for k, v in subject.items() if k not in keys}
            self.bind(p, found, p.rest, left)
        return found

    def _p_MatchClass(self, p, subject):
        cls = self.evaluate(p.cls)
        is_one = self.call(p, isinstance, [subject, cls], {})
        if is_one is not True:
            if decided_by_data(is_one):
                self.refuse(p, "the class of a value that may be None, in a match",
                            next="ask `is not None` first")  # fmt: skip
            return False
        names = self.do(p, getattr, cls, "__match_args__") if p.patterns and not _whole(cls) else ()
        if _whole(cls) and p.patterns:
            return self.every(p, [(p.patterns[0], subject)])
        pairs = [*zip(p.patterns, names), *zip(p.kwd_patterns, p.kwd_attrs)]
        if len(p.patterns) > len(names):
            return False
        found = [(q, self.do(p, getattr, subject, name, _ABSENT)) for q, name in pairs]
        return all(v is not _ABSENT for _, v in found) and self.every(p, found)


def _whole(cls):
    """The one positional pattern of these is for the value itself."""
    return cls in (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)
