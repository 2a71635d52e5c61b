"""Where a value can be held: its setup, how it is read, and how it is changed between calls.

VALUE stands for a literal of the value's kind, drawn anew at each place.
"""

import textwrap
from dataclasses import dataclass

from .part import named


@dataclass(frozen=True)
class Holder:
    features: frozenset
    top: str
    init: str
    read: str
    changes: tuple


HOLDERS = []


def holder(features, read, init="", top="", changes=()):
    texts = [textwrap.dedent(t).strip("\n") for t in (top, init)]
    bodies = tuple(textwrap.dedent(c).strip("\n") for c in changes)
    HOLDERS.append(Holder(named(features), *texts, read, bodies))


holder(
    "attributes",
    "w.v$",
    init="w.v$ = VALUE",
    changes=[
        "w.v$ = VALUE",
    ],
)
holder(
    "attributes, nested attributes",
    "w.a$.b.v",
    init="w.a$ = types.SimpleNamespace(b=types.SimpleNamespace(v=VALUE))",
    changes=[
        "w.a$.b.v = VALUE",
        "w.a$.b = types.SimpleNamespace(v=VALUE)",
    ],
)
holder(
    "class attributes",
    "w.c$.v",
    init="w.c$ = Config$()",
    top="""
    class Config$:
        v = VALUE
    """,
    changes=[
        "Config$.v = VALUE",
        "w.c$.v = VALUE",
        'w.c$.__dict__.pop("v", None)',
    ],
)
holder(
    "class attributes, inheritance",
    "Child$.v",
    init="",
    top="""
    class Parent$:
        v = VALUE


    class Child$(Parent$):
        pass
    """,
    changes=[
        "Parent$.v = VALUE",
        "Child$.v = VALUE",
    ],
)
holder(
    "properties",
    "w.p$.v",
    init="w.p$ = WithProperty$(VALUE)",
    top="""
    class WithProperty$:
        def __init__(self, v):
            self._v = v

        @property
        def v(self):
            return self._v

        @v.setter
        def v(self, value):
            self._v = value
    """,
    changes=[
        "w.p$.v = VALUE",
        "w.p$._v = VALUE",
        "WithProperty$.v = property(lambda self: VALUE, WithProperty$.v.fset)",
    ],
)
holder(
    "__getattr__",
    "w.g$.v",
    init="w.g$ = Delegating$(types.SimpleNamespace(v=VALUE))",
    top="""
    class Delegating$:
        def __init__(self, inner):
            self.inner = inner

        def __getattr__(self, name):
            if name == "inner":
                raise AttributeError(name)
            return getattr(self.inner, name)
    """,
    changes=[
        "w.g$.inner.v = VALUE",
        "w.g$.v = VALUE",
        'w.g$.__dict__.pop("v", None)',
    ],
)
holder(
    "__getattr__, dict",
    "w.g$.v",
    init="w.g$ = Record$(v=VALUE)",
    top="""
    class Record$(dict):
        def __getattr__(self, name):
            return self[name]
    """,
    changes=[
        'w.g$["v"] = VALUE',
        "w.g$.update(v=VALUE)",
    ],
)
holder(
    "slots",
    "w.s$.v",
    init="w.s$ = Slotted$(VALUE)",
    top="""
    class Slotted$:
        __slots__ = ("v", "other")

        def __init__(self, v):
            self.v = v
    """,
    changes=[
        "w.s$.v = VALUE",
        "w.s$ = Slotted$(VALUE)",
    ],
)
holder(
    "dataclasses",
    "w.d$.v",
    init="w.d$ = Fields$(VALUE)",
    top="""
    @dataclasses.dataclass
    class Fields$:
        v: object
        name: str = "fields"
    """,
    changes=[
        "w.d$.v = VALUE",
        "w.d$ = dataclasses.replace(w.d$, v=VALUE)",
    ],
)
holder(
    "dataclasses",
    "dataclasses.asdict(w.d$)['v']",
    init="w.d$ = Frozen$(VALUE)",
    top="""
    @dataclasses.dataclass(frozen=True)
    class Frozen$:
        v: object
    """,
    changes=[
        "w.d$ = Frozen$(VALUE)",
    ],
)
holder(
    "named tuples",
    "w.t$.v",
    init='w.t$ = Pair$(VALUE, "x")',
    top="""
    class Pair$(typing.NamedTuple):
        v: object
        name: str
    """,
    changes=[
        "w.t$ = w.t$._replace(v=VALUE)",
    ],
)
holder(
    "named tuples",
    "w.t$[0]",
    init="w.t$ = Couple$(VALUE, None)",
    top='Couple$ = collections.namedtuple("Couple$", "v rest")',
    changes=[
        "w.t$ = Couple$(VALUE, None)",
    ],
)
holder(
    "inheritance, super()",
    "w.i$.value()",
    init="w.i$ = Derived$(VALUE)",
    top="""
    class Base$:
        def __init__(self, v):
            self.v = v

        def value(self):
            return self.v


    class Derived$(Base$):
        def __init__(self, v):
            super().__init__(v)
            self.extra = 1

        def value(self):
            return super().value()
    """,
    changes=[
        "w.i$.v = VALUE",
        "Base$.value = lambda self: VALUE",
        "w.i$ = Derived$(VALUE)",
    ],
)
holder(
    "cached_property, effect: attributes",
    "w.k$.v",
    init="w.k$ = Cached$(VALUE)",
    top="""
    class Cached$:
        def __init__(self, source):
            self.source = source

        @functools.cached_property
        def v(self):
            return self.source
    """,
    changes=[
        'w.k$.__dict__.pop("v", None)',
        "w.k$.source = VALUE",
        "w.k$.v = VALUE",
    ],
)
holder(
    "descriptors",
    "w.e$.v",
    init="""
    w.e$ = Owner$()
    w.e$.v = VALUE
    """,
    top="""
    class Field$:
        def __set_name__(self, owner, name):
            self.name = "_" + name

        def __get__(self, obj, owner=None):
            return self if obj is None else getattr(obj, self.name)

        def __set__(self, obj, value):
            setattr(obj, self.name, value)


    class Owner$:
        v = Field$()
    """,
    changes=[
        "w.e$.v = VALUE",
        "w.e$._v = VALUE",
    ],
)
holder(
    "dict",
    'w.d$["v"]',
    init='w.d$ = {"v": VALUE, "u": 1}',
    changes=[
        'w.d$["v"] = VALUE',
    ],
)
holder(
    "dict",
    'w.d$.get("v", DEFAULT$)',
    init='w.d$ = {"u": VALUE}',
    top="DEFAULT$ = VALUE",
    changes=[
        'w.d$["v"] = VALUE',
        'w.d$.pop("v", None)',
        'globals()["DEFAULT$"] = VALUE',
    ],
)
holder(
    "list",
    "w.l$[0]",
    init="w.l$ = [VALUE, VALUE]",
    changes=[
        "w.l$[0] = VALUE",
        "w.l$.reverse()",
    ],
)
holder(
    "list",
    "w.l$[-1]",
    init="w.l$ = [VALUE]",
    changes=[
        "w.l$.append(VALUE)",
        "w.l$[:] = [VALUE]",
        "w.l$.insert(0, VALUE)",
    ],
)
holder(
    "deque",
    "w.q$[-1]",
    init="w.q$ = collections.deque([VALUE], maxlen=3)",
    changes=[
        "w.q$.append(VALUE)",
        "w.q$.rotate(1)",
        "w.q$.appendleft(VALUE)",
    ],
)
holder(
    "defaultdict, effect: dicts",
    'w.f$["a"]',
    init="w.f$ = collections.defaultdict(default_$)",
    top="""
    def default_$():
        return VALUE
    """,
    changes=[
        'w.f$["a"] = VALUE',
        'w.f$.pop("a", None)',
        "w.f$.default_factory = lambda: VALUE",
    ],
)
holder(
    "defaultdict",
    'w.f$["b"]',
    init="w.f$ = collections.defaultdict(list, b=VALUE)",
    changes=[
        'w.f$["b"] = VALUE',
        "w.f$ = collections.defaultdict(dict, b=VALUE)",
    ],
)
holder(
    "nested containers, dict, list",
    'w.n$["a"][1][0]',
    init='w.n$ = {"a": [(), [VALUE]]}',
    changes=[
        'w.n$["a"][1][0] = VALUE',
        'w.n$["a"] = [None, [VALUE]]',
        'w.n$["a"][1] = [VALUE]',
    ],
)
