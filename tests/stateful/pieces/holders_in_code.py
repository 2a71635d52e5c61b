"""Places of values that are not objects or containers: functions, modules, contexts, iteration."""

from .holders import holder

holder(
    "closures, nonlocal",
    "w.get$()",
    init="w.get$, w.put$ = cell_$(VALUE)",
    top="""
    def cell_$(v):
        def get():
            return v

        def put(value):
            nonlocal v
            v = value

        return get, put
    """,
    changes=[
        "w.put$(VALUE)",
        "w.get$, w.put$ = cell_$(VALUE)",
    ],
)
holder(
    "default arguments",
    "given_$()",
    init="",
    top="""
    def given_$(v=VALUE):
        return v
    """,
    changes=[
        "given_$.__defaults__ = (VALUE,)",
    ],
)
holder(
    "default arguments",
    "given_$()",
    init="",
    top="""
    def given_$(*, v=VALUE):
        return v
    """,
    changes=[
        'given_$.__kwdefaults__["v"] = VALUE',
    ],
)
holder(
    "functions made in loops",
    "w.made$[w.which$]()",
    init="""
    w.made$, w.which$ = [], 0
    for v in (VALUE, VALUE, VALUE):
        w.made$.append(lambda v=v: v)
    """,
    changes=[
        "w.which$ = 1",
        "w.which$ = 2",
        "w.made$.reverse()",
    ],
)
holder(
    "functions made in loops, closures",
    "w.made$[0]()",
    init="""
    w.made$ = []
    for v in (VALUE, VALUE):
        w.made$.append((lambda kept: lambda: kept)(v))
    """,
    changes=[
        "w.made$.reverse()",
        "w.made$[0] = lambda: VALUE",
    ],
)
holder(
    "partial",
    "w.part$()",
    init="w.part$ = functools.partial(same_$, VALUE)",
    top="""
    def same_$(v, unused=0):
        return v
    """,
    changes=[
        "w.part$ = functools.partial(same_$, VALUE)",
    ],
)
holder(
    "globals",
    "GLOBAL_$",
    init="",
    top="GLOBAL_$ = VALUE",
    changes=[
        'globals()["GLOBAL_$"] = VALUE',
    ],
)
holder(
    "globals",
    "read_$()",
    init="",
    top="""
    SHARED_$ = VALUE


    def read_$():
        return SHARED_$


    def write_$(value):
        global SHARED_$
        SHARED_$ = value
    """,
    changes=[
        "write_$(VALUE)",
    ],
)
holder(
    "made modules",
    "project_$.config.SCALE",
    init="",
    top="""
    project_$ = types.ModuleType("project_$")
    project_$.config = types.ModuleType("config_$")
    project_$.config.SCALE = VALUE
    """,
    changes=[
        "project_$.config.SCALE = VALUE",
        'setattr(project_$.config, "SCALE", VALUE)',
    ],
)
holder(
    "made modules",
    'sys.modules["settings_$"].VALUE_',
    init="",
    top="""
    settings_$ = sys.modules["settings_$"] = types.ModuleType("settings_$")
    settings_$.VALUE_ = VALUE
    """,
    changes=[
        "settings_$.VALUE_ = VALUE",
    ],
)
holder(
    "getattr by name",
    "getattr(w, w.name$)",
    init='w.one$, w.two$, w.name$ = VALUE, VALUE, "one$"',
    changes=[
        'w.name$ = "two$"',
        "w.one$ = VALUE",
        'setattr(w, "two$", VALUE)',
    ],
)
holder(
    "getattr by name, dict",
    'vars(w.x$)["v"]',
    init="w.x$ = types.SimpleNamespace(v=VALUE)",
    changes=[
        "w.x$.v = VALUE",
        "vars(w.x$).update(v=VALUE)",
    ],
)
holder(
    "attrgetter",
    "get_$(w)",
    init="w.a$ = types.SimpleNamespace(v=VALUE)",
    top='get_$ = operator.attrgetter("a$.v")',
    changes=[
        "w.a$.v = VALUE",
    ],
)
holder(
    "attrgetter, list",
    "item_$(w.l$)",
    init="w.l$ = [VALUE, VALUE]",
    top="item_$ = operator.itemgetter(1)",
    changes=[
        "w.l$[1] = VALUE",
        "w.l$.reverse()",
    ],
)
holder(
    "context variables",
    "VAR_$.get()",
    init="VAR_$.set(VALUE)",
    top='VAR_$ = contextvars.ContextVar("VAR_$")',
    changes=[
        "VAR_$.set(VALUE)",
    ],
)
holder(
    "context variables, class attributes",
    "Context$.var.get()",
    init="",
    top="""
    class Context$:
        var = contextvars.ContextVar("var_$", default=VALUE)
    """,
    changes=[
        "Context$.var.set(VALUE)",
        "w.token$ = Context$.var.set(VALUE)",
    ],
)
holder(
    "generators",
    "next(each_$(w))",
    init="w.list$ = [VALUE, VALUE]",
    top="""
    def each_$(w):
        for v in w.list$:
            yield v
    """,
    changes=[
        "w.list$[0] = VALUE",
        "w.list$.reverse()",
    ],
)
holder(
    "generators",
    "next(v for v in w.list$ if v is not None)",
    init="w.list$ = [None, VALUE]",
    changes=[
        "w.list$[0] = VALUE",
        "w.list$[0] = None",
        "w.list$[1] = VALUE",
    ],
)
holder(
    "itertools",
    "next(itertools.islice(w.list$, 1, None))",
    init="w.list$ = [VALUE, VALUE]",
    changes=[
        "w.list$[1] = VALUE",
        "w.list$.reverse()",
    ],
)
holder(
    "itertools",
    "[*itertools.chain(w.list$, w.more$)][-1]",
    init="w.list$, w.more$ = [VALUE], [VALUE]",
    changes=[
        "w.more$.append(VALUE)",
        "w.more$.clear()",
        "w.list$ = [VALUE]",
    ],
)
holder(
    "__call__",
    "w.call$()",
    init="w.call$ = Calling$(VALUE)",
    top="""
    class Calling$:
        def __init__(self, v):
            self.v = v

        def __call__(self):
            return self.v
    """,
    changes=[
        "w.call$.v = VALUE",
        "Calling$.__call__ = lambda self: VALUE",
    ],
)
holder(
    "__iter__, __len__",
    "[*w.o$][len(w.o$) - 1]",
    init="w.o$ = Sized$([VALUE, VALUE])",
    top="""
    class Sized$:
        def __init__(self, inside):
            self.inside = inside

        def __len__(self):
            return len(self.inside)

        def __iter__(self):
            return iter(self.inside)
    """,
    changes=[
        "w.o$.inside.append(VALUE)",
        "w.o$.inside[:] = [VALUE]",
        "w.o$ = Sized$([VALUE])",
    ],
)
holder(
    "__eq__",
    "(w.yes$ if w.one$ == w.two$ else w.no$)",
    init="w.one$, w.two$, w.yes$, w.no$ = Same$(1), Same$(1), VALUE, VALUE",
    top="""
    class Same$:
        def __init__(self, k):
            self.k = k

        def __eq__(self, other):
            return isinstance(other, Same$) and self.k == other.k

        def __hash__(self):
            return hash(self.k)
    """,
    changes=[
        "w.one$.k = 2",
        "w.two$.k = 2",
        "w.no$ = VALUE",
        "w.yes$ = VALUE",
    ],
)
holder(
    "lru_cache",
    "remembered_$(w.key$)",
    init="w.key$ = 0",
    top="""
    KEPT_$ = VALUE


    @functools.lru_cache(None)
    def remembered_$(key):
        return KEPT_$
    """,
    changes=[
        "w.key$ += 1",
        'globals()["KEPT_$"] = VALUE',
        "remembered_$.cache_clear()",
    ],
)
holder(
    "weak references",
    "w.weak$().v",
    init="""
    w.kept$ = Target$(VALUE)
    w.weak$ = weakref.ref(w.kept$)
    """,
    top="""
    class Target$:
        def __init__(self, v):
            self.v = v
    """,
    changes=[
        "w.kept$.v = VALUE",
    ],
)
holder(
    "monkeypatching",
    "w.m$.value()",
    init="w.m$ = Patched$()",
    top="""
    class Patched$:
        def value(self):
            return VALUE
    """,
    changes=[
        "Patched$.value = lambda self: VALUE",
        "w.m$.value = lambda: VALUE",
    ],
)
holder(
    "monkeypatching, made modules",
    "library_$.value()",
    init="",
    top="""
    library_$ = types.ModuleType("library_$")
    library_$.value = lambda: VALUE
    """,
    changes=[
        "library_$.value = lambda: VALUE",
    ],
)
holder(
    "context managers",
    "entered_$(w)",
    init="w.cm$ = VALUE",
    top="""
    @contextlib.contextmanager
    def scope_$(w):
        yield w.cm$


    def entered_$(w):
        with scope_$(w) as v:
            return v
    """,
    changes=[
        "w.cm$ = VALUE",
    ],
)
holder(
    "enums, class attributes",
    "w.choice$.value",
    init="w.choice$ = Choice$.A",
    top="""
    class Choice$(enum.Enum):
        A = (VALUE, 0)
        B = (VALUE, 1)

        @property
        def value(self):
            return self._value_[0]
    """,
    changes=[
        "w.choice$ = Choice$.B",
        "w.choice$ = Choice$.A",
    ],
)
holder(
    "exceptions, dict",
    "looked_up_$(w)",
    init="w.d$ = {}",
    top="""
    OTHERWISE_$ = VALUE


    def looked_up_$(w):
        try:
            return w.d$["v"]
        except KeyError:
            return OTHERWISE_$
    """,
    changes=[
        'w.d$["v"] = VALUE',
        'w.d$.pop("v", None)',
        'globals()["OTHERWISE_$"] = VALUE',
    ],
)
holder(
    "decorators, effect: attributes",
    "decorated_$(w)",
    init="w.deco$ = VALUE",
    top="""
    def logged_$(f):
        @functools.wraps(f)
        def wrapper(*args, **kwargs):
            wrapper.depth = 1
            return f(*args, **kwargs)

        return wrapper


    @logged_$
    def decorated_$(w):
        return w.deco$
    """,
    changes=[
        "w.deco$ = VALUE",
        "decorated_$.__wrapped__ = None",
    ],
)
