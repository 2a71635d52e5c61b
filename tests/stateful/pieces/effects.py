"""Steps that change Python's state."""

from .part import part

EFFECTS = [
    part(
        "effect: attributes",
        """
        w.count$ += 1
        y = y + w.count$
        """,
        init="w.count$ = 0",
        changes=[
            "w.count$ = INT",
        ],
    ),
    part(
        "effect: attributes",
        """
        w.h$ = w.h$ * 0.5 + y.mean()
        y = y + w.h$
        """,
        init="w.h$ = lt.zeros(())",
        changes=[
            "w.h$ = lt.tensor(SMALL)",
            "w.h$.fill_(SMALL)",
        ],
    ),
    part(
        "effect: attributes",
        """
        w.one$, w.two$ = w.two$, w.one$
        y = y * w.one$
        """,
        init="w.one$, w.two$ = SMALL, SMALL",
        changes=[
            "w.one$ = SMALL",
        ],
    ),
    part(
        "effect: attributes",
        """
        if hasattr(w, "tmp$"):
            del w.tmp$
        else:
            w.tmp$ = NUM
        y = y + 1
        """,
        changes=[
            "w.tmp$ = NUM",
            'w.__dict__.pop("tmp$", None)',
        ],
    ),
    part(
        "effect: attributes, exceptions",
        """
        try:
            w.lazy$
        except AttributeError:
            w.lazy$ = y.detach().abs().mean()
        y = y + w.lazy$
        """,
        changes=[
            'w.__dict__.pop("lazy$", None)',
            "w.lazy$ = lt.tensor(SMALL)",
        ],
    ),
    part(
        "effect: attributes",
        """
        setattr(w, f"last_{w.n$ % 2}$", y.sum())
        w.n$ += 1
        """,
        init="w.n$ = 0",
        changes=[
            "w.n$ = INT",
        ],
    ),
    part(
        "effect: attributes, properties",
        """
        w.level$.value = w.level$.value + 1
        y = y + w.level$.value
        """,
        top="""
        class Level$:
            seen = 0

            def __init__(self):
                self._value = 0

            @property
            def value(self):
                return self._value

            @value.setter
            def value(self, new):
                Level$.seen += 1
                self._value = new % 5
        """,
        init="w.level$ = Level$()",
        changes=[
            "w.level$._value = INT",
        ],
    ),
    part(
        "effect: attributes, slots",
        """
        w.slot$.n += 1
        y = y * w.slot$.n
        """,
        top="""
        class Count$:
            __slots__ = ("n",)

            def __init__(self):
                self.n = 0
        """,
        init="w.slot$ = Count$()",
        changes=[
            "w.slot$.n = INT",
        ],
    ),
    part(
        "effect: attributes, dataclasses",
        """
        w.state$.steps += 1
        w.state$.best = max(w.state$.best, y.shape[-1] * w.state$.steps)
        """,
        top="""
        @dataclasses.dataclass
        class State$:
            steps: int = 0
            best: float = 0.0
            history: list = dataclasses.field(default_factory=list)
        """,
        init="w.state$ = State$()",
        changes=[
            "w.state$.best = 100.0",
            "w.state$ = State$(INT)",
        ],
    ),
    part(
        "effect: attributes, class attributes",
        """
        Tally$.total += 1
        y = y + Tally$.total
        """,
        top="""
        class Tally$:
            total = 0
        """,
        changes=[
            "Tally$.total = INT",
        ],
    ),
    part(
        "effect: attributes, __call__",
        "y = w.step$(y)",
        top="""
        class Step$:
            def __init__(self):
                self.calls = 0

            def __call__(self, y):
                self.calls += 1
                return y * self.calls
        """,
        init="w.step$ = Step$()",
        changes=[
            "w.step$.calls = INT",
        ],
    ),
    part(
        "effect: lists",
        """
        w.log$.append(1)
        y = y + len(w.log$)
        """,
        init="w.log$ = []",
        changes=[
            "w.log$.clear()",
            "w.log$ = [1, 2]",
        ],
    ),
    part(
        "effect: lists",
        """
        w.kept$.append(y)
        w.kept$ = w.kept$[-2:]
        y = y + w.kept$[0].mean()
        """,
        init="w.kept$ = []",
        changes=[
            "w.kept$.clear()",
        ],
    ),
    part(
        "effect: lists",
        """
        if w.stack$:
            y = y + w.stack$.pop()
        """,
        init="w.stack$ = [1.0, 2.0, 0.5]",
        changes=[
            "w.stack$.append(SMALL)",
            "w.stack$.extend([SMALL, SMALL])",
        ],
    ),
    part(
        "effect: lists, sorting with keys",
        """
        w.order$.sort(key=lambda v: (v * 7) % 3)
        y = y + w.order$[0]
        """,
        init="w.order$ = [1, 2, 3, 4]",
        changes=[
            "w.order$.append(INT)",
            "w.order$.reverse()",
        ],
    ),
    part(
        "effect: lists, nested containers",
        """
        w.tree$["a"][0].append(len(w.tree$["a"]))
        y = y + len(w.tree$["a"][0])
        """,
        init='w.tree$ = {"a": [[], ()]}',
        changes=[
            'w.tree$["a"].append(None)',
            'w.tree$["a"][0] = []',
        ],
    ),
    part(
        "effect: dicts, dict",
        """
        w.seen$["last"] = y.sum()
        w.seen$["n"] = w.seen$.get("n", 0) + 1
        y = y + w.seen$["n"]
        """,
        init="w.seen$ = {}",
        changes=[
            "w.seen$.clear()",
            'w.seen$["n"] = INT',
        ],
    ),
    part(
        "effect: dicts, dict",
        """
        key = tuple(y.shape)
        if key not in w.memo$:
            w.memo$[key] = len(w.memo$)
        y = y + w.memo$[key]
        """,
        init="w.memo$ = {}",
        changes=[
            "w.memo$.clear()",
        ],
    ),
    part(
        "effect: dicts, defaultdict",
        """
        w.groups$[len(w.groups$) % 2].append(y.shape[0])
        y = y * len(w.groups$)
        """,
        init="w.groups$ = collections.defaultdict(list)",
        changes=[
            "w.groups$.clear()",
            'w.groups$["x"] = [1]',
        ],
    ),
    part(
        "effect: dicts, defaultdict",
        """
        w.sums$["a"] += 1
        y = y + w.sums$["a"] + w.sums$["b"]
        """,
        init="w.sums$ = collections.defaultdict(int)",
        changes=[
            'w.sums$["b"] = INT',
            "w.sums$.clear()",
        ],
    ),
    part(
        "effect: dicts",
        """
        w.tally$.update(["a", "b", "a"])
        y = y + w.tally$.most_common(1)[0][1]
        """,
        init="w.tally$ = collections.Counter()",
        changes=[
            'w.tally$["b"] += 9',
            "w.tally$.clear()",
        ],
    ),
    part(
        "effect: dicts",
        """
        w.opts$.setdefault("scale", SMALL)
        y = y * w.opts$["scale"]
        """,
        init="w.opts$ = {}",
        changes=[
            'w.opts$.pop("scale", None)',
            'w.opts$["scale"] = SMALL',
        ],
    ),
    part(
        "effect: lists, deque",
        """
        w.recent$.append(y.shape[0])
        y = y + sum(w.recent$)
        """,
        init="w.recent$ = collections.deque(maxlen=2)",
        changes=[
            "w.recent$.clear()",
            "w.recent$.appendleft(INT)",
        ],
    ),
    part(
        "effect: sets, set",
        """
        w.names$.add(len(w.names$))
        y = y + len(w.names$)
        """,
        init="w.names$ = set()",
        changes=[
            "w.names$.clear()",
            "w.names$ |= {INT, 7}",
        ],
    ),
    part(
        "effect: sets, set",
        """
        if "a" in w.tags$:
            w.tags$.discard("a")
            y = y * 2
        else:
            w.tags$.add("a")
        """,
        init='w.tags$ = {"a", "b"}',
        changes=[
            'w.tags$.add("a")',
            "w.tags$.clear()",
        ],
    ),
    part(
        "set",
        'y = y * (len(w.tags$ & {"a", "b"}) + ("c" in w.tags$))',
        init='w.tags$ = {"a", "b"}',
        changes=[
            'w.tags$ |= {"c"}',
            'w.tags$ -= {"a"}',
            "w.tags$ = frozenset(w.tags$)",
        ],
    ),
    part(
        "set",
        """
        for t in w.terms$:
            y = y * t.k
        """,
        init="w.terms$ = {Term$(SMALL)}",
        top="""
        class Term$:
            def __init__(self, k):
                self.k = k
        """,
        changes=[
            "next(iter(w.terms$)).k = SMALL",
            "w.terms$ = frozenset([Term$(SMALL)])",
        ],
    ),
    part(
        "closures, nonlocal, effect: closures",
        "y = y + w.tick$()",
        init="w.tick$ = ticker_$(INT)",
        top="""
        def ticker_$(n):
            def tick():
                nonlocal n
                n += 1
                return n

            return tick
        """,
        changes=[
            "w.tick$ = ticker_$(INT)",
        ],
    ),
    part(
        "globals, effect: globals",
        """
        bump_$()
        y = y + COUNT_$
        """,
        top="""
        COUNT_$ = 0


        def bump_$():
            global COUNT_$
            COUNT_$ += 1
        """,
        changes=[
            'globals()["COUNT_$"] = INT',
        ],
    ),
    part(
        "default arguments, effect: lists",
        "y = y + len(collect_$(1))",
        top="""
        def collect_$(v, into=[]):
            into.append(v)
            return into
        """,
        changes=[
            "collect_$.__defaults__[0].clear()",
        ],
    ),
    part(
        "effect: made modules, made modules",
        """
        registry_$.count += 1
        y = y * registry_$.count
        """,
        top="""
        registry_$ = types.ModuleType("registry_$")
        registry_$.count = 0
        """,
        changes=[
            "registry_$.count = INT",
        ],
    ),
    part(
        "effect: sets, decorators",
        """
        @registered_$
        def local(t):
            return t + 1


        y = REGISTRY_$["local"](y)
        """,
        top="""
        REGISTRY_$ = {}


        def registered_$(f):
            REGISTRY_$[f.__name__] = f
            return f
        """,
    ),
    part(
        "effect: attributes, descriptors",
        """
        w.meter$.v = y.shape[0]
        y = y + len(w.meter$.log)
        """,
        top="""
        class Logged$:
            def __get__(self, obj, owner=None):
                return obj.log[-1]

            def __set__(self, obj, value):
                obj.log.append(value)


        class Meter$:
            v = Logged$()

            def __init__(self):
                self.log = []
        """,
        init="w.meter$ = Meter$()",
        changes=[
            "w.meter$.log.clear()",
        ],
    ),
    part(
        "cached_property, effect: attributes",
        "y = y * w.once$.v",
        top="""
        class Once$:
            times = 0

            def __init__(self, k):
                self.k = k

            @functools.cached_property
            def v(self):
                Once$.times += 1
                return self.k * 2
        """,
        init="w.once$ = Once$(SMALL)",
        changes=[
            "w.once$.k = SMALL",
            'w.once$.__dict__.pop("v", None)',
            "w.once$ = Once$(SMALL)",
        ],
    ),
    part(
        "printing",
        """
        print("step", w.printed$)
        w.printed$ += 1
        """,
        init="w.printed$ = 0",
    ),
    part(
        "printing",
        'w.file$.write(f"{y.shape[0]};")',
        init="w.file$ = io.StringIO()",
    ),
]
