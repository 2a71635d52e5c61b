"""Steps on tensors: memory that is shared, writes, arrays of NumPy, flags."""

from .part import part

TENSORS = [
    part(
        "views, in-place writes",
        """
        y = y.clone()
        y[..., 0] = SMALL
        y.transpose(0, -1).mul_(2)
        """,
    ),
    part(
        "views",
        "y = y + w.view$.sum()",
        init="""
        w.base$ = lt.arange(6.0)
        w.view$ = w.base$[2:]
        """,
        changes=[
            "w.base$.add_(1)",
            "w.view$ = w.base$[:3]",
            "w.base$[3] = SMALL",
        ],
    ),
    part(
        "views, in-place writes",
        """
        w.view$.add_(0.5)
        y = y + w.base$.sum()
        """,
        init="""
        w.base$ = lt.zeros(4)
        w.view$ = w.base$[1:3]
        """,
        changes=[
            "w.view$ = w.base$[2:]",
            "w.view$ = lt.ones(2)",
        ],
    ),
    part(
        "views",
        """
        out.append(w.base$[1:])
        out.append(w.base$)
        """,
        init="w.base$ = lt.arange(4.0)",
        changes=[
            "w.base$.mul_(2)",
        ],
    ),
    part(
        "in-place writes",
        """
        w.sum$.add_(y.detach().mean())
        y = y + w.sum$
        """,
        init="w.sum$ = lt.zeros(())",
        changes=[
            "w.sum$.zero_()",
            "w.sum$ = lt.ones(())",
        ],
    ),
    part(
        "in-place writes",
        """
        w.ring$[w.at$ % 3] = y.detach().mean()
        w.at$ += 1
        y = y + w.ring$.sum()
        """,
        init="w.ring$, w.at$ = lt.zeros(3), 0",
        changes=[
            "w.at$ = INT",
            "w.ring$ = lt.ones(3)",
        ],
    ),
    part(
        "in-place writes",
        """
        x.mul_(0.5)
        y = y + x
        """,
    ),
    part(
        "in-place writes",
        """
        w.ema$.lerp_(y.detach().mean(), 0.5)
        out.append(w.ema$.clone())
        """,
        init="w.ema$ = lt.ones(())",
        changes=[
            "w.ema$.fill_(SMALL)",
        ],
    ),
    part(
        "in-place writes, views",
        """
        w.one$.add_(1)
        y = y * w.two$
        """,
        init="w.one$ = w.two$ = lt.ones(1)",
        changes=[
            "w.two$ = w.one$.clone()",
            "w.two$ = w.one$",
            "w.two$ = w.one$.view(1)",
        ],
    ),
    part(
        "NumPy arrays",
        "y = y * lt.from_numpy(w.array$)",
        init="w.array$ = np.array([1, 2, 3, 4], np.float32)",
        changes=[
            "w.array$[1] = SMALL",
            "w.array$ = np.ones(4, np.float32)",
            "w.array$ *= 2",
        ],
    ),
    part(
        "NumPy arrays",
        "y = y * w.array$[0] + len(w.array$)",
        init="w.array$ = np.array([SMALL, SMALL])",
        changes=[
            "w.array$[0] = SMALL",
            "w.array$ = np.append(w.array$, 1)",
        ],
    ),
    part(
        "NumPy arrays",
        "y = y * float(np.pi) + w.table$.mean()",
        init="w.table$ = np.arange(4.0)",
        changes=[
            "w.table$ += 1",
            "w.table$ = w.table$ * 2",
        ],
    ),
    part(
        "NumPy arrays, in-place writes",
        """
        w.shared$.add_(1)
        y = y + w.shared$
        """,
        init="""
        w.memory$ = np.zeros(6, np.float32)
        w.shared$ = lt.from_numpy(w.memory$[1:5])
        """,
        changes=[
            "w.memory$ += 1",
            "w.shared$ = lt.from_numpy(w.memory$[:4])",
        ],
    ),
    part(
        "NumPy arrays, in-place writes",
        """
        w.left$.add_(1)
        y = y + w.left$ + w.right$
        """,
        init="""
        w.memory$ = np.zeros(8, np.float32)
        w.left$, w.right$ = lt.from_numpy(w.memory$[:4]), lt.from_numpy(w.memory$[4:])
        """,
        changes=[
            "w.right$ = lt.from_numpy(w.memory$[2:6])",
            "w.left$ = w.right$",
        ],
    ),
    part(
        "NumPy arrays, effect: NumPy arrays",
        """
        w.hits$[0] += 1
        y = y + int(w.hits$[0])
        """,
        init="w.hits$ = np.zeros(2, np.int64)",
        changes=[
            "w.hits$[0] = INT",
        ],
    ),
    part(
        "flags",
        """
        out.append(lt.get_flag("memory_cache"))
        if lt.get_flag("memory_cache") == "64M":
            y = y * 3
        """,
        changes=[
            'lt.set_flag("memory_cache", "64M")',
            'lt.set_flag("memory_cache", "96M")',
        ],
    ),
    part(
        "flags",
        "y = y * (2 if lt.is_grad_enabled() else 3)",
        changes=[
            "lt.set_grad_enabled(BOOL)",
        ],
    ),
    part(
        "flags",
        """
        y = y + lt.ones(4).to(y.dtype)
        y = y * (2 if lt.get_default_dtype() == lt.float64 else 3)
        """,
        changes=[
            "lt.set_default_dtype(lt.float64)",
            "lt.set_default_dtype(lt.float32)",
        ],
    ),
    part(
        "flags",
        "out.append(str(w.shown$))",
        init="w.shown$ = lt.tensor([1.23456789])",
        changes=[
            "lt.set_printoptions(precision=2)",
            "lt.set_printoptions(precision=6)",
        ],
    ),
]
