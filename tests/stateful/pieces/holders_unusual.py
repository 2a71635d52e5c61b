"""Places of values that an observer of reads may look past."""

from .holders import holder

CLASS = """
class Plain$:
    def __init__(self, v):
        self.v = v

    def value(self):
        return self.v
"""


def of_object(features, read, init="", top="", changes=()):
    """A value in an attribute of w.o$, which is read in this way."""
    holder(
        f"attributes, {features}",
        read,
        init="w.o$ = Plain$(VALUE)\n" + init,
        top=CLASS.strip() + ("\n\n\n" + top if top else ""),
        changes=["w.o$.v = VALUE", *changes],
    )


of_object("copies", "copy.copy(w.o$).v", changes=["w.o$ = Plain$(VALUE)"])
of_object("copies, dict", 'copy.deepcopy({"a": w.o$})["a"].v', changes=["w.o$ = Plain$(VALUE)"])
of_object("bound methods", "w.bound$()", "w.bound$ = w.o$.value")
of_object("bound methods", "w.free$()", "w.free$ = types.MethodType(Plain$.value, w.o$)")
of_object(
    "named tuples",
    "w.pair$.inner.v",
    "w.pair$ = Inner$(w.o$)",
    'Inner$ = collections.namedtuple("Inner$", "inner")',
)
of_object("itertools", "next(itertools.chain.from_iterable([[w.o$]])).v")
of_object("generators", "[o.v for o in (w.o$,) if o][0]")
of_object("attrgetter", "list(map(operator.attrgetter('v'), [w.o$]))[0]")
of_object("attrgetter", "operator.methodcaller('value')(w.o$)")
of_object("getattr by name", 'getattr(w.o$, "".join(["v", ""]))')
of_object(
    "weak references",
    "w.weak$.v",
    "w.kept$ = w.o$\nw.weak$ = weakref.proxy(w.o$)",
    changes=["w.kept$.v = VALUE"],
)
of_object(
    "context managers",
    "opened_$(w)",
    top="""
def opened_$(w):
    with contextlib.ExitStack() as stack:
        return stack.enter_context(contextlib.nullcontext(w.o$)).v
""".strip(),
)
of_object("inheritance", "type(w.o$).value(w.o$)", changes=["Plain$.value = lambda self: VALUE"])
of_object("dict", "w.o$.__dict__['v']")
of_object(
    "decorators",
    "single_$(w.o$)",
    top="""
@functools.singledispatch
def single_$(o):
    return None


@single_$.register
def _(o: Plain$):
    return o.v
""".strip(),
)
holder(
    "class attributes, dict",
    'vars(Held$)["v"]',
    top="class Held$:\n    v = VALUE",
    changes=["Held$.v = VALUE"],
)
holder(
    "globals",
    'globals()["BY_NAME_$"]',
    top="BY_NAME_$ = VALUE",
    changes=['globals()["BY_NAME_$"] = VALUE'],
)
holder(
    "dict",
    'w.chain$["v"]',
    "w.chain$ = collections.ChainMap({}, {'v': VALUE})",
    changes=['w.chain$["v"] = VALUE', 'w.chain$.maps[1]["v"] = VALUE', "w.chain$.maps[0].clear()"],
)
holder(
    "dict",
    'w.proxy$["v"]',
    "w.below$ = {'v': VALUE}\nw.proxy$ = types.MappingProxyType(w.below$)",
    changes=['w.below$["v"] = VALUE'],
)
holder(
    "dict, bound methods",
    'w.get$("v")',
    "w.below$ = {'v': VALUE}\nw.get$ = w.below$.get",
    changes=['w.below$["v"] = VALUE'],
)
holder(
    "dict",
    "list(w.view$)[0]",
    "w.below$ = {'v': VALUE}\nw.view$ = w.below$.values()",
    changes=['w.below$["v"] = VALUE'],
)
holder(
    "dict",
    'w.odict$["v"]',
    "w.odict$ = collections.OrderedDict(v=VALUE, u=VALUE)",
    changes=['w.odict$["v"] = VALUE', 'w.odict$.move_to_end("v")'],
)
holder(
    "dict, list",
    'w.users$["v"][0]',
    "w.users$ = collections.UserDict(v=collections.UserList([VALUE]))",
    changes=['w.users$["v"][0] = VALUE', 'w.users$["v"] = [VALUE]'],
)
holder(
    "dict, class attributes",
    'w.missing$["absent"]',
    "w.missing$ = Missing$()",
    top="""
    class Missing$(dict):
        def __missing__(self, key):
            return FALLBACK_$


    FALLBACK_$ = VALUE
    """,
    changes=['globals()["FALLBACK_$"] = VALUE', 'w.missing$["absent"] = VALUE'],
)
holder(
    "__getattr__, attributes",
    "w.all$.k",
    "w.all$ = Every$()\nw.all$.inside['k'] = VALUE",
    top="""
    class Every$:
        def __init__(self):
            self.inside = {}

        def __getattribute__(self, name):
            if name == "k":
                return object.__getattribute__(self, "inside")["k"]
            return object.__getattribute__(self, name)
    """,
    changes=["w.all$.inside['k'] = VALUE"],
)
holder(
    "properties, class attributes",
    "Measured$.scale",
    top="""
    class Meta$(type):
        @property
        def scale(cls):
            return cls._scale


    class Measured$(metaclass=Meta$):
        _scale = VALUE
    """,
    changes=["Measured$._scale = VALUE"],
)
holder(
    "properties, attrgetter",
    "w.got$.v",
    "w.got$ = Got$()\nw.got$._v = VALUE",
    top="""
    class Got$:
        v = property(operator.attrgetter("_v"))
    """,
    changes=["w.got$._v = VALUE"],
)
holder(
    "closures",
    "w.cell$()",
    "w.cell$ = late_$(VALUE)",
    top="""
    def late_$(v):
        return lambda: v
    """,
    changes=["w.cell$.__closure__[0].cell_contents = VALUE"],
)
holder(
    "functions, attributes",
    "marked_$.v",
    top="""
    def marked_$():
        return marked_$.v


    marked_$.v = VALUE
    """,
    changes=["marked_$.v = VALUE"],
)
holder(
    "class attributes, inheritance",
    "w.tools$.read()",
    "w.tools$ = Tools$()",
    top="""
    class Tools$:
        kept = [VALUE]

        @classmethod
        def read(cls):
            return cls.pick(cls.kept)

        @staticmethod
        def pick(values):
            return values[0]
    """,
    changes=["Tools$.kept[0] = VALUE", "Tools$.pick = staticmethod(lambda values: VALUE)"],
)
holder(
    "inheritance, class attributes",
    "Late$.v",
    top="""
    class Registering$:
        known = {}

        def __init_subclass__(cls, **kwargs):
            super().__init_subclass__(**kwargs)
            Registering$.known[cls.__name__] = cls


    class Late$(Registering$):
        v = VALUE
    """,
    changes=["Late$.v = VALUE", "Registering$.known['Late$'].v = VALUE"],
)
holder(
    "dataclasses, slots",
    "w.ds$.v[0]",
    "w.ds$ = Slim$([VALUE])",
    top="""
    @dataclasses.dataclass(slots=True)
    class Slim$:
        v: list
        n: int = 0

        def __post_init__(self):
            self.n = len(self.v)
    """,
    changes=["w.ds$.v[0] = VALUE", "w.ds$.v = [VALUE]"],
)
holder(
    "generators, attributes",
    "asked_$(w)",
    "w.answer$ = VALUE",
    top="""
    def answering_$(w):
        got = yield
        while True:
            got = yield getattr(w, got)


    def asked_$(w):
        g = answering_$(w)
        next(g)
        return g.send("answer$")
    """,
    changes=["w.answer$ = VALUE"],
)
holder(
    "partial, inheritance",
    "w.pm$.read()",
    "w.pm$ = Partly$()",
    top="""
    class Partly$:
        table = {"a": VALUE}

        def get(self, key):
            return self.table[key]

        read = functools.partialmethod(get, "a")
    """,
    changes=['Partly$.table["a"] = VALUE', 'w.pm$.table = {"a": VALUE}'],
)
holder(
    "decorators, descriptors",
    "w.wrapped$.read()",
    "w.wrapped$ = Wrapped$(VALUE)",
    top="""
    class bound_$:
        def __init__(self, f):
            self.f = f

        def __get__(self, obj, owner=None):
            return functools.partial(self.f, obj)


    class Wrapped$:
        def __init__(self, v):
            self.v = v

        @bound_$
        def read(self):
            return self.v
    """,
    changes=["w.wrapped$.v = VALUE"],
)
holder(
    "exceptions, attributes",
    "carried_$(w)",
    "w.load$ = VALUE",
    top="""
    class Carrier$(Exception):
        def __init__(self, load):
            super().__init__("load")
            self.load = load


    def carried_$(w):
        try:
            raise Carrier$(w.load$)
        except Carrier$ as e:
            return e.load
    """,
    changes=["w.load$ = VALUE"],
)
holder(
    "context variables, closures",
    "contextvars.copy_context()[CTX_$]",
    "CTX_$.set(VALUE)",
    top='CTX_$ = contextvars.ContextVar("CTX_$")',
    changes=["CTX_$.set(VALUE)"],
)
holder(
    "nested containers, list, set",
    "sorted(w.index$[k] for k in w.keys$)[0][1]",
    "w.keys$, w.index$ = {'a'}, {'a': (0, VALUE), 'b': (1, VALUE)}",
    changes=["w.keys$.add('b')", "w.index$['a'] = (2, VALUE)", "w.keys$.discard('b')"],
)
