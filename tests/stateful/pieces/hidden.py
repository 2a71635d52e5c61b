"""Steps that read or move state that no attribute shows: random streams, counters, iterators."""

from .part import part

HIDDEN = [
    part(
        "random.Random",
        "y = y * w.rng$.random()",
        init="w.rng$ = random.Random(INT)",
        changes=[
            "w.rng$.seed(INT)",
            "w.rng$.random()",
        ],
    ),
    part(
        "random.Random",
        "y = y * w.rng$.choice(w.options$)",
        init="w.rng$, w.options$ = random.Random(INT), [1.0, 2.0]",
        changes=[
            "w.options$.append(SMALL)",
        ],
    ),
    part(
        "random.Random",
        "y = y + random.uniform(-1, 1)",
        changes=[
            "random.seed(INT)",
        ],
    ),
    part(
        "random.Random",
        """
        if w.rng$.random() < 0.5:
            y = -y
        out.append(w.rng$.getstate()[0])
        """,
        init="w.rng$ = random.Random(INT)",
        changes=[
            "w.rng$ = random.Random(INT)",
        ],
    ),
    part(
        "np.random.Generator",
        "y = y * float(w.gen$.normal())",
        init="w.gen$ = np.random.default_rng(INT)",
        changes=[
            "w.gen$.normal()",
            "w.gen$ = np.random.default_rng(INT)",
        ],
    ),
    part(
        "np.random.Generator",
        "y = y + lt.from_numpy(w.gen$.random(4).astype(np.float32))",
        init="w.gen$ = np.random.default_rng(INT)",
    ),
    part(
        "np.random.Generator",
        "y = y + float(np.random.rand())",
        changes=[
            "np.random.seed(INT)",
        ],
    ),
    part(
        "lathe's random stream",
        "y = y + lt.rand(4)",
        changes=[
            "lt.manual_seed(INT)",
            "lt.rand(1)",
        ],
    ),
    part(
        "lathe's random stream",
        "y = lt.nn.functional.dropout(y, 0.5, w.noisy$)",
        init="w.noisy$ = True",
        changes=[
            "w.noisy$ = BOOL",
            "lt.manual_seed(INT)",
        ],
    ),
    part(
        "lathe's random stream",
        "y = y + lt.rand(4, generator=w.stream$)",
        init="""
        w.stream$ = lt.Generator()
        w.stream$.manual_seed(INT)
        """,
        changes=[
            "w.stream$.manual_seed(INT)",
        ],
    ),
    part(
        "lathe's random stream",
        """
        lt.manual_seed(w.seed$)
        y = y + lt.randn(4)
        """,
        init="w.seed$ = INT",
        changes=[
            "w.seed$ = INT",
        ],
    ),
    part(
        "counters in C, itertools",
        "y = y + next(w.ids$)",
        init="w.ids$ = itertools.count(INT)",
        changes=[
            "next(w.ids$)",
            "w.ids$ = itertools.count(INT)",
        ],
    ),
    part(
        "counters in C, itertools",
        "y = y * next(w.turns$)",
        init="w.turns$ = itertools.cycle([1.0, 2.0, 0.5])",
        changes=[
            "next(w.turns$)",
        ],
    ),
    part(
        "counters in C, functions",
        "y = y + w.next$()",
        init="w.next$ = itertools.count(INT).__next__",
    ),
    part(
        "fake clocks",
        "y = y + w.clock$()",
        init="w.clock$ = Clock$()",
        top="""
        class Clock$:
            def __init__(self):
                self.now = 0

            def __call__(self):
                self.now += 1
                return self.now
        """,
        changes=[
            "w.clock$.now = INT",
        ],
    ),
    part(
        "fake clocks",
        """
        began = clock_$.time()
        y = y * 2
        out.append(clock_$.time() - began)
        """,
        top="""
        clock_$ = types.ModuleType("clock_$")
        clock_$.ticks = 0


        def time_$():
            clock_$.ticks += 3
            return clock_$.ticks


        clock_$.time = time_$
        """,
        changes=[
            "clock_$.ticks = INT",
        ],
    ),
    part(
        "generators, iterators",
        "y = y + next(w.gen$, 0.0)",
        init="w.gen$ = (v * 0.5 for v in range(9))",
        changes=[
            "w.gen$ = (v for v in [SMALL, SMALL])",
            "next(w.gen$, None)",
        ],
    ),
    part(
        "generators, iterators",
        """
        for v in w.batches$:
            y = y + v
            break
        """,
        init="w.batches$ = batches_$(INT)",
        top="""
        def batches_$(n):
            for i in range(n + 3):
                yield i
        """,
        changes=[
            "w.batches$ = batches_$(INT)",
        ],
    ),
    part(
        "iterators",
        "y = y + next(w.it$, 5.0)",
        init="w.it$ = iter([1.0, 2.0, 3.0])",
        changes=[
            "w.it$ = iter([SMALL])",
        ],
    ),
    part(
        "iterators, __iter__",
        """
        for v in w.feed$:
            y = y * v
            break
        """,
        init="w.feed$ = Feed$()",
        top="""
        class Feed$:
            def __init__(self):
                self.at = 0

            def __iter__(self):
                return self

            def __next__(self):
                self.at += 1
                return self.at
        """,
        changes=[
            "w.feed$.at = INT",
        ],
    ),
    part(
        "iterators",
        """
        y = y + w.queue$.get_nowait()
        w.queue$.put(SMALL)
        """,
        init="""
        w.queue$ = queue.SimpleQueue()
        w.queue$.put(SMALL)
        """,
    ),
    part(
        "generators",
        "y = y + sum(v * v for v in w.list$)",
        init="w.list$ = [0.5, 2.0]",
        changes=[
            "w.list$.append(SMALL)",
            "w.list$[0] = SMALL",
        ],
    ),
    part(
        "generators, effect: lists",
        "y = y + sum(doubled_$(w))",
        init="w.list$, w.trail$ = [0.5, 2.0], []",
        top="""
        def doubled_$(w):
            for v in w.list$:
                w.trail$.append(v)
                yield 2 * v
        """,
        changes=[
            "w.list$.append(SMALL)",
            "w.trail$.clear()",
        ],
    ),
    part(
        "itertools",
        """
        for a, b in itertools.product(w.left$, w.right$):
            y = y + a * b
        """,
        init="w.left$, w.right$ = [0.5], [1.0, 2.0]",
        changes=[
            "w.left$.append(SMALL)",
            "w.right$[0] = SMALL",
        ],
    ),
    part(
        "itertools, sorting with keys",
        """
        for k, g in itertools.groupby(sorted(w.items$, key=len), key=len):
            y = y + k * len(list(g))
        """,
        init='w.items$ = ["a", "bb", "cc"]',
        changes=[
            'w.items$.append("ddd")',
            'w.items$[0] = "xyz"',
        ],
    ),
    part(
        "itertools",
        "y = y + list(itertools.accumulate(w.items$, w.op$))[-1]",
        init="w.items$, w.op$ = [1, 2, 3], operator.add",
        changes=[
            "w.op$ = operator.mul",
            "w.items$.append(INT)",
        ],
    ),
    part(
        "attributes, effect: attributes",
        """
        if w.step$ % 3 == 0:
            y = y * 2
        w.step$ += 1
        """,
        init="w.step$ = 0",
        changes=[
            "w.step$ = INT",
        ],
    ),
]
