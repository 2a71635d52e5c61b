"""Changes of Python's state that an observer of writes may look past."""

from .part import part

UNUSUAL = [
    part(
        "effect: attributes",
        "w.__dict__.update(n$=w.n$ + 1)\ny = y + w.n$",
        init="w.n$ = 0",
        changes=["w.n$ = INT"],
    ),
    part(
        "effect: attributes",
        "w.node$ = Node$(w.node$, y.shape[0])\ny = y + w.node$.total()",
        top="""
        class Node$:
            def __init__(self, below, n):
                self.below = below if below is None or below.below is None else below.below
                self.n = n

            def total(self):
                return self.n + (self.below.total() if self.below else 0)
        """,
        init="w.node$ = None",
        changes=["w.node$ = None", "w.node$ = Node$(None, INT)"],
    ),
    part(
        "effect: attributes, super()",
        "w.strict$.k = w.strict$.k + 0.5\ny = y * w.strict$.k",
        top="""
        class Strict$:
            def __init__(self, k):
                self.writes = 0
                self.k = k

            def __setattr__(self, name, value):
                if name == "k":
                    self.__dict__["writes"] += 1
                super().__setattr__(name, value)
        """,
        init="w.strict$ = Strict$(1.0)",
        changes=["w.strict$.k = SMALL"],
    ),
    part(
        "effect: attributes, in-place writes",
        "w.front$, w.back$ = w.back$, w.front$\nw.front$.add_(1)\ny = y + w.front$ - w.back$",
        init="w.front$, w.back$ = lt.zeros(1), lt.ones(1)",
        changes=["w.front$ = lt.full((1,), SMALL)", "w.back$ = w.front$"],
    ),
    part(
        "effect: attributes",
        "w.keep$ = x\ny = y + w.keep$",
        changes=["w.keep$ = None"],
    ),
    part(
        "effect: attributes, views",
        "w.part$ = w.whole$[1:]\nw.part$.add_(0.5)\ny = y + w.whole$.sum()",
        init="w.whole$ = lt.arange(3.0)",
        changes=["w.whole$ = lt.zeros(3)", "w.part$.mul_(2)"],
    ),
    part(
        "effect: attributes, class attributes",
        "setattr(type(w.kind$), 'seen', type(w.kind$).seen + 1)\ny = y + w.kind$.seen",
        top="""
        class Kind$:
            seen = 0
        """,
        init="w.kind$ = Kind$()",
        changes=["Kind$.seen = INT", "w.kind$.seen = INT"],
    ),
    part(
        "effect: attributes, generators",
        "y = y + sum(counting_$(w))",
        top="""
        def counting_$(w):
            for v in (0.5, 1.0):
                w.yielded$ += 1
                yield v * w.yielded$
        """,
        init="w.yielded$ = 0",
        changes=["w.yielded$ = INT"],
    ),
    part(
        "effect: attributes, sorting with keys",
        "y = y + sorted(w.list$, key=w.cost$)[0]",
        top="""
        class Cost$:
            asked = 0

            def __call__(self, v):
                self.asked += 1
                return -v if self.asked > 4 else v
        """,
        init="w.list$, w.cost$ = [1.0, 2.0, 3.0], Cost$()",
        changes=["w.cost$.asked = INT", "w.list$.append(SMALL)"],
    ),
    part(
        "effect: attributes, exceptions",
        """
        try:
            w.tries$ += 1
            raise LookupError
        except LookupError:
            w.caught$ = w.tries$
        y = y + w.caught$
        """,
        init="w.tries$ = 0",
        changes=["w.tries$ = INT"],
    ),
    part(
        "effect: lists",
        "w.slots$[1:2] = [y.shape[0], len(w.slots$)]\ny = y + len(w.slots$)",
        init="w.slots$ = [0, 1]",
        changes=["del w.slots$[2:]", "w.slots$ = [5]"],
    ),
    part(
        "effect: lists",
        "del w.queue$[0]\nw.queue$ += [len(w.queue$)]\ny = y * w.queue$[0]",
        init="w.queue$ = [1.0, 2.0, 3.0]",
        changes=["w.queue$[0] = SMALL", "w.queue$.reverse()"],
    ),
    part(
        "effect: lists",
        "heapq.heappush(w.heap$, -y.shape[0])\ny = y + heapq.heappop(w.heap$)",
        init="w.heap$ = [1, 3, 2]",
        changes=["heapq.heappush(w.heap$, INT)"],
    ),
    part(
        "effect: lists, closures",
        "[w.trail$.append(v) for v in (1, 2)]\ny = y + sum(w.trail$[-2:])",
        init="w.trail$ = []",
        changes=["w.trail$.clear()", "w.trail$.append(INT)"],
    ),
    part(
        "effect: lists",
        "w.same$.append(w.same$[0])\nw.same$[0][0] += 1\ny = y + w.same$[-1][0]",
        init="w.same$ = [[0]]",
        changes=["w.same$[0] = [INT]"],
    ),
    part(
        "effect: dicts",
        'w.opts$ |= {"n": w.opts$.get("n", 0) + 1}\ny = y + w.opts$["n"]',
        init="w.opts$ = {}",
        changes=["w.opts$ = dict(n=INT)", "w.opts$.clear()"],
    ),
    part(
        "effect: dicts",
        "key, value = w.pairs$.popitem()\nw.pairs$[key + 'x'] = value\ny = y + len(key)",
        init='w.pairs$ = {"a": 1, "b": 2}',
        changes=['w.pairs$ = {"c": 3}', 'w.pairs$["d"] = 1'],
    ),
    part(
        "effect: dicts, in-place writes",
        """
        for name, t in w.stats$.items():
            t.mul_(0.5).add_(1)
        w.stats$["last"] = y.detach().mean()
        y = y + w.stats$["a"]
        """,
        init='w.stats$ = {"a": lt.zeros(())}',
        changes=['w.stats$["a"] = lt.ones(())', 'w.stats$.pop("last", None)'],
    ),
    part(
        "effect: dicts, __getattr__",
        "w.rec$.n = w.rec$.n + 1\ny = y + w.rec$.n",
        top="""
        class Rec$(dict):
            def __getattr__(self, name):
                return self[name]

            def __setattr__(self, name, value):
                self[name] = value
        """,
        init="w.rec$ = Rec$(n=0)",
        changes=["w.rec$.n = INT", 'w.rec$["n"] = INT'],
    ),
    part(
        "effect: closures, functions made in loops",
        "y = y + sum(f() for f in w.tickers$)",
        top="""
        def tickers_$():
            made = []
            for k in (1, 2):
                n = 0

                def tick(k=k):
                    nonlocal n
                    n += k
                    return n

                made.append(tick)
            return made
        """,
        init="w.tickers$ = tickers_$()",
        changes=["w.tickers$ = tickers_$()", "w.tickers$[0]()"],
    ),
    part(
        "effect: globals, monkeypatching",
        "y = act_$(y)\nswap_$()",
        top="""
        def once_$(t):
            return t * 2


        def twice_$(t):
            return t * 4


        act_$ = once_$


        def swap_$():
            global act_$
            act_$ = twice_$ if act_$ is once_$ else once_$
        """,
        changes=['globals()["act_$"] = once_$'],
    ),
    part(
        "effect: globals",
        'globals()["MADE_$"] = y.shape[0]\ny = y + MADE_$',
        changes=['globals()["MADE_$"] = INT'],
    ),
    part(
        "raise after writes, exceptions, effect: attributes, effect: lists",
        """
        w.a$ += 1
        w.l$.append(w.a$)
        w.t$.mul_(2)
        if w.a$ % w.every$ == 0:
            raise LookupError(w.a$)
        y = y + w.t$
        """,
        init="w.a$, w.l$, w.t$, w.every$ = 0, [], lt.ones(1), 3",
        changes=["w.every$ = 2", "w.a$ = INT", "w.every$ = 7"],
        raises=["LookupError"],
    ),
    part(
        "raise before writes, generators, exceptions",
        "y = y + sum(checked_$(w))",
        top="""
        def checked_$(w):
            for v in w.feed$:
                if v is None:
                    raise TypeError("no number")
                yield v
        """,
        init="w.feed$ = [1.0, 2.0]",
        changes=["w.feed$.append(None)", "w.feed$ = [SMALL]"],
        raises=["TypeError"],
    ),
]
