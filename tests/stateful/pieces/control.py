"""Steps that raise, catch, sort, and format; and library functions that are replaced."""

from .part import part

CONTROL = [
    part(
        "raise before writes, exceptions",
        """
        if w.fail$:
            raise KeyError(w.fail$)
        w.done$ += 1
        """,
        init="w.fail$, w.done$ = 0, 0",
        changes=[
            "w.fail$ = INT",
            "w.fail$ = 0",
        ],
        raises=["KeyError"],
    ),
    part(
        "raise after writes, exceptions",
        """
        w.done$ += 1
        w.buf$.add_(1)
        if w.fail$:
            raise ValueError('late')
        """,
        init="w.fail$, w.done$, w.buf$ = False, 0, lt.zeros(2)",
        changes=[
            "w.fail$ = True",
            "w.fail$ = False",
        ],
        raises=["ValueError"],
    ),
    part(
        "raise after writes, exceptions",
        """
        x.add_(1)
        y = y * w.d$["k"]
        """,
        init='w.d$ = {"k": 2.0}',
        changes=[
            "w.d$.clear()",
            'w.d$["k"] = SMALL',
        ],
        raises=["KeyError"],
    ),
    part(
        "raise after writes, exceptions",
        """
        w.log$.append(1)
        y = y @ w.m$
        w.log$.append(2)
        """,
        init="w.m$, w.log$ = lt.eye(4), []",
        changes=[
            "w.m$ = lt.ones(3, 4)",
            "w.m$ = lt.eye(4) * 2",
        ],
        raises=["RuntimeError", "ValueError"],
    ),
    part(
        "raise after writes, exceptions, lathe's random stream",
        """
        r = lt.rand(4)
        if w.bad$:
            raise StopIteration
        y = y + r
        """,
        init="w.bad$ = False",
        changes=[
            "w.bad$ = BOOL",
        ],
        raises=["StopIteration"],
    ),
    part(
        "raise before writes, exceptions",
        """
        assert w.ok$, f"not ok: {w.ok$}"
        y = y + 1
        """,
        init="w.ok$ = True",
        changes=[
            "w.ok$ = BOOL",
            "w.ok$ = []",
        ],
        raises=["AssertionError"],
    ),
    part(
        "exceptions",
        """
        try:
            y = y * w.maybe$.k
        except AttributeError as e:
            out.append(type(e).__name__)
        """,
        init="w.maybe$ = None",
        changes=[
            "w.maybe$ = types.SimpleNamespace(k=SMALL)",
            "w.maybe$ = None",
        ],
    ),
    part(
        "exceptions",
        """
        try:
            y = y + w.list$[w.index$]
        except IndexError:
            y = y - 1
        finally:
            w.tried$ += 1
        """,
        init="w.list$, w.index$, w.tried$ = [1.0, 2.0], 0, 0",
        changes=[
            "w.index$ = INT",
            "w.list$.append(SMALL)",
        ],
    ),
    part(
        "exceptions",
        """
        with contextlib.suppress(KeyError):
            y = y * w.d$['a']
            y = y + w.d$['b']
        """,
        init="w.d$ = {'a': SMALL}",
        changes=[
            "w.d$['b'] = SMALL",
            "w.d$.pop('a', None)",
        ],
    ),
    part(
        "exceptions, raise after writes",
        """
        try:
            deeper_$(w)
        except Custom$ as e:
            y = y + e.args[0]
        """,
        top="""
        class Custom$(Exception):
            pass


        def deeper_$(w):
            w.depth$ += 1
            if w.depth$ % 2:
                raise Custom$(w.depth$)
        """,
        init="w.depth$ = 0",
        changes=[
            "w.depth$ = INT",
        ],
    ),
    part(
        "exceptions, raise after writes",
        """
        try:
            w.s$.add_(1)
            y = y + w.s$.reshape(w.n$)
        except RuntimeError:
            y = y - 1
        """,
        init="w.s$, w.n$ = lt.zeros(1), 1",
        changes=[
            "w.n$ = 3",
            "w.n$ = 1",
        ],
    ),
    part(
        "sorting with keys",
        """
        for n in sorted(w.scores$, key=lambda k: w.scores$[k]):
            y = y * w.scores$[n] + 1
        """,
        init='w.scores$ = {"a": 1.0, "b": 2.0, "c": 0.5}',
        changes=[
            'w.scores$["a"] = SMALL',
            'w.scores$["b"] = SMALL',
        ],
    ),
    part(
        "sorting with keys, attrgetter",
        """
        best = max(w.items$, key=operator.attrgetter("k"))
        y = y * best.k + len(best.name)
        """,
        init="""
        w.items$ = [types.SimpleNamespace(k=v, name="x" * i) for i, v in enumerate((1.0, 2.0, 0.5))]
        """,
        changes=[
            "w.items$[0].k = 9.0",
            "w.items$[-1].k = SMALL",
            "w.items$.pop() if len(w.items$) > 1 else None",
        ],
    ),
    part(
        "sorting with keys, __eq__",
        "y = y + sorted(w.ranked$)[0].k + min(w.ranked$, default=None).k",
        top="""
        @functools.total_ordering
        class Ranked$:
            def __init__(self, k):
                self.k = k

            def __eq__(self, other):
                return self.k == other.k

            def __lt__(self, other):
                return self.k < other.k
        """,
        init="w.ranked$ = [Ranked$(2.0), Ranked$(1.0)]",
        changes=[
            "w.ranked$[0].k = SMALL",
            "w.ranked$.append(Ranked$(0.5))",
        ],
    ),
    part(
        "f-strings",
        """
        label = f"{w.name$}:{w.width$:03d}:{w.value$:.2f}"
        out.append(label)
        y = y * len(label)
        """,
        init='w.name$, w.width$, w.value$ = "a", 2, 1.234',
        changes=[
            'w.name$ = "long"',
            "w.width$ = INT",
            "w.value$ = 123.456",
        ],
    ),
    part(
        "f-strings",
        'out.append(f"{y.shape} {y.dtype} {w.k$!r:>5}")',
        init="w.k$ = SMALL",
        changes=[
            "w.k$ = SMALL",
            'w.k$ = "s"',
        ],
    ),
    part(
        "f-strings, __eq__",
        """
        out.append(f"{w.shown$}")
        if w.shown$ == w.other$:
            y = y * 2
        """,
        top="""
        class Shown$:
            def __init__(self, k):
                self.k = k

            def __repr__(self):
                return f"Shown({self.k})"

            def __format__(self, spec):
                return repr(self)

            def __eq__(self, other):
                return self.k == other.k
        """,
        init="w.shown$, w.other$ = Shown$(1), Shown$(1)",
        changes=[
            "w.shown$.k = INT",
            "w.other$.k = INT",
        ],
    ),
    part(
        "monkeypatching",
        "y = lt.relu(y) + 1",
        changes=[
            "lt.relu = lambda t: t * 2",
            "lt.relu = RELU",
        ],
        top="RELU = lt.relu",
    ),
    part(
        "monkeypatching",
        "y = lt.nn.functional.relu(y)",
        top="OLD_$ = lt.nn.functional.relu",
        changes=[
            "lt.nn.functional.relu = lambda t: t + SMALL",
            "lt.nn.functional.relu = OLD_$",
        ],
    ),
    part(
        "monkeypatching",
        "y = y * math.floor(2.5)",
        changes=[
            "math.floor = lambda v: 7",
            "math.floor = FLOOR",
        ],
        top="FLOOR = math.floor",
    ),
    part(
        "monkeypatching, functions",
        "y = plain_$(y)",
        top="""
        def plain_$(t):
            return t * 2


        def other_$(t):
            return t * 5
        """,
        changes=[
            "plain_$.__code__ = other_$.__code__",
            'globals()["plain_$"] = other_$',
        ],
    ),
    part(
        "inheritance",
        """
        if isinstance(w.kind$, Abstract$):
            y = y * 2
        """,
        top="""
        class Abstract$(abc.ABC):
            pass


        class Concrete$:
            pass
        """,
        init="w.kind$ = Concrete$()",
        changes=[
            "Abstract$.register(Concrete$)",
            "w.kind$ = None",
            "w.kind$ = Concrete$()",
        ],
    ),
    part(
        "inheritance",
        "y = w.animal$.act(y)",
        top="""
        class Cat$:
            def act(self, t):
                return t + 1


        class Dog$(Cat$):
            def act(self, t):
                return super().act(t) * 2
        """,
        init="w.animal$ = Cat$()",
        changes=[
            "w.animal$.__class__ = Dog$",
            "w.animal$ = Dog$()",
            "w.animal$ = Cat$()",
        ],
    ),
    part(
        "__len__, __iter__",
        """
        if w.bag$:
            for v in w.bag$:
                y = y + v
        out.append(len(w.bag$))
        """,
        top="""
        class Bag$:
            def __init__(self):
                self.inside = []

            def __len__(self):
                return len(self.inside)

            def __iter__(self):
                yield from self.inside

            def __contains__(self, v):
                return v in self.inside
        """,
        init="w.bag$ = Bag$()",
        changes=[
            "w.bag$.inside.append(SMALL)",
            "w.bag$.inside.clear()",
        ],
    ),
    part(
        "context variables",
        """
        def inner():
            return VAR_$.get(1.5)


        y = y * contextvars.copy_context().run(inner)
        """,
        top='VAR_$ = contextvars.ContextVar("VAR_$")',
        changes=[
            "VAR_$.set(SMALL)",
        ],
    ),
    part(
        "context variables, effect: context variables",
        """
        token = MODE_$.set('inside')
        y = y + len(MODE_$.get())
        MODE_$.reset(token)
        """,
        top='MODE_$ = contextvars.ContextVar("MODE_$", default="out")',
        changes=[
            'MODE_$.set("changed")',
        ],
    ),
    part(
        "context variables, effect: context variables",
        """
        LEVEL_$.set(LEVEL_$.get() + 1)
        y = y * LEVEL_$.get()
        """,
        top='LEVEL_$ = contextvars.ContextVar("LEVEL_$", default=0)',
        changes=[
            "LEVEL_$.set(INT)",
        ],
    ),
    part(
        "functions, partial",
        "y = w.pipeline$(y)",
        top="""
        def pipeline_$(t, fs=[lt.sin, functools.partial(lt.mul, other=SMALL)]):
            return functools.reduce(lambda a, f: f(a), fs, t)
        """,
        init="w.pipeline$ = pipeline_$",
        changes=[
            "w.pipeline$.__defaults__[0].append(lt.tanh)",
            "w.pipeline$.__defaults__[0].reverse()",
        ],
    ),
    part(
        "functions",
        """
        total = 0.0


        def add(v):
            nonlocal total
            total += v


        for v in w.list$:
            add(v)
        y = y + total
        """,
        init="w.list$ = [1.0, 0.5]",
        changes=[
            "w.list$.append(SMALL)",
        ],
    ),
]
