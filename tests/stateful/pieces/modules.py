"""Steps with modules, gradients and optimizers."""

from .part import part

MODULES = [
    part(
        "modules",
        "y = w.net$(y)",
        init="w.net$ = lt.nn.Sequential(lt.nn.Linear(4, 4), lt.nn.Tanh())",
        changes=[
            "w.net$[0].weight.detach().mul_(0.5)",
            "w.net$[0] = lt.nn.Linear(4, 4)",
            "w.net$.append(lt.nn.ReLU())",
            "w.net$[0].bias = None",
            "w.net$[0].weight = lt.nn.Parameter(lt.eye(4))",
        ],
    ),
    part(
        "modules, parameters",
        """
        for p in w.net$.parameters():
            y = y + p.detach().sum()
        """,
        init="w.net$ = lt.nn.Linear(4, 4)",
        changes=[
            "w.net$.extra = lt.nn.Parameter(lt.ones(1))",
            "w.net$.bias = None",
        ],
    ),
    part(
        "modules, parameters, shared parameters",
        "y = w.one$(y) + w.two$(y)",
        init="""
        w.one$, w.two$ = lt.nn.Linear(4, 4), lt.nn.Linear(4, 4)
        w.two$.weight = w.one$.weight
        """,
        changes=[
            "w.two$.weight = lt.nn.Parameter(lt.eye(4))",
            "w.two$.weight = w.one$.weight",
            "w.one$.weight.detach().add_(0.5)",
            "w.two$ = w.one$",
        ],
    ),
    part(
        "modules, shared parameters",
        "y = y @ w.tied$.weight.t() + w.head$.weight.sum()",
        init="w.tied$ = w.head$ = lt.nn.Linear(4, 4, bias=False)",
        changes=[
            "w.head$ = lt.nn.Linear(4, 4)",
            "w.tied$ = w.head$",
        ],
    ),
    part(
        "modules, buffers, train and eval",
        "y = w.norm$(lt.cat([y, y + 1]))[: y.shape[0]]",
        init="w.norm$ = lt.nn.BatchNorm1d(4)",
        changes=[
            "w.norm$.eval()",
            "w.norm$.train()",
            "w.norm$.running_mean.fill_(SMALL)",
            "w.norm$.momentum = SMALL / 4",
        ],
    ),
    part(
        "modules, buffers",
        """
        w.track$.seen += 1
        w.track$.mean.mul_(0.5).add_(y.detach().mean())
        y = y + w.track$.mean
        """,
        top="""
        class Track$(lt.nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("seen", lt.zeros((), dtype=lt.int64))
                self.register_buffer("mean", lt.zeros(()))
        """,
        init="w.track$ = Track$()",
        changes=[
            "w.track$.mean = lt.ones(())",
            "w.track$.seen.zero_()",
        ],
    ),
    part(
        "modules, train and eval, lathe's random stream",
        "y = w.drop$(y)",
        init="w.drop$ = lt.nn.Dropout(0.5)",
        changes=[
            "w.drop$.eval()",
            "w.drop$.train()",
            "w.drop$.p = 0.25",
        ],
    ),
    part(
        "modules, train and eval",
        "y = w.gate$(y)",
        top="""
        class Gate$(lt.nn.Module):
            def __init__(self):
                super().__init__()
                self.k = SMALL

            def forward(self, t):
                return t * self.k if self.training else t
        """,
        init="w.gate$ = Gate$()",
        changes=[
            "w.gate$.eval()",
            "w.gate$.train()",
            "w.gate$.k = SMALL",
            "w.gate$.training = False",
        ],
    ),
    part(
        "modules, hooks",
        "y = w.hooked$(y)",
        init="""
        w.hooked$ = lt.nn.Tanh()
        w.handles$ = []
        """,
        changes=[
            "w.handles$.append(w.hooked$.register_forward_hook(lambda m, a, o: o * SMALL))",
            """
            if w.handles$:
                w.handles$.pop().remove()
            """,
            "w.handles$.append(w.hooked$.register_forward_pre_hook(lambda m, a: (a[0] + 1,)))",
        ],
    ),
    part(
        "modules, hooks, effect: lists",
        "y = w.hooked$(y)",
        init="""
        w.hooked$, w.shapes$ = lt.nn.ReLU(), []
        w.hooked$.register_forward_hook(lambda m, a, o: w.shapes$.append(o.shape[0]))
        """,
        changes=[
            "w.shapes$.clear()",
        ],
    ),
    part(
        "modules, nested containers",
        """
        for name, m in w.parts$.items():
            y = m(y) + len(name)
        """,
        init='w.parts$ = lt.nn.ModuleDict({"a": lt.nn.Linear(4, 4), "b": lt.nn.Sigmoid()})',
        changes=[
            'w.parts$["c"] = lt.nn.Tanh()',
            'w.parts$["b"] = lt.nn.ReLU()',
            'w.parts$.pop("c") if "c" in w.parts$ else None',
        ],
    ),
    part(
        "modules, list",
        """
        for m in w.layers$[: w.depth$]:
            y = m(y)
        """,
        init="w.layers$, w.depth$ = lt.nn.ModuleList([lt.nn.Linear(4, 4) for _ in range(3)]), 2",
        changes=[
            "w.depth$ = INT",
            "w.layers$.append(lt.nn.Tanh())",
        ],
    ),
    part(
        "modules, effect: attributes",
        """
        if w.late$ is None:
            w.late$ = lt.nn.Linear(y.shape[-1], 4)
        y = w.late$(y)
        """,
        init="w.late$ = None",
        changes=[
            "w.late$ = None",
        ],
    ),
    part(
        "modules, monkeypatching",
        "y = w.act$(y)",
        init="w.act$ = Act$()",
        top="""
        class Act$(lt.nn.Tanh):
            pass
        """,
        changes=[
            "Act$.forward = lambda self, t: t * SMALL",
            "w.act$.forward = lambda t: t + 1",
        ],
    ),
    part(
        "gradients",
        """
        g = lt.autograd.grad((y.detach() * w.p$).sum(), w.p$)[0]
        y = y + g.sum()
        """,
        init="w.p$ = lt.ones(4, requires_grad=True)",
        changes=[
            "w.p$ = lt.zeros(4, requires_grad=True)",
        ],
    ),
    part(
        "gradients",
        """
        (y.detach() * w.p$ * w.p$).mean().backward()
        y = y + w.p$.grad.detach()
        """,
        init="w.p$ = lt.ones(4, requires_grad=True)",
        changes=[
            "w.p$.grad = None",
            "w.p$.grad = lt.ones(4)",
        ],
    ),
    part(
        "gradients",
        """
        if w.p$.grad is not None:
            y = y + w.p$.grad.sum()
        """,
        init="w.p$ = lt.ones(4, requires_grad=True)",
        changes=[
            "w.p$.grad = lt.full((4,), SMALL)",
            "w.p$.grad = None",
            "(w.p$ * w.p$).sum().backward()",
        ],
    ),
    part(
        "gradients",
        """
        w.a$.grad.add_(1)
        w.b$.grad.add_(1)
        y = y + w.a$.grad
        """,
        init="""
        w.a$, w.b$ = lt.ones(4, requires_grad=True), lt.ones(4, requires_grad=True)
        w.a$.grad, w.b$.grad = lt.zeros(4), lt.zeros(4)
        """,
        changes=[
            "w.a$.grad = w.b$.grad",
            "w.a$.grad = lt.zeros(4)",
        ],
    ),
    part(
        "gradients",
        """
        with lt.no_grad():
            w.p$.mul_(0.5)
        y = y * w.p$.detach()
        """,
        init="w.p$ = lt.ones(4, requires_grad=True)",
        changes=[
            "w.p$.requires_grad_(False)",
            "w.p$.requires_grad_(True)",
        ],
    ),
    part(
        "gradients, parameters",
        "y = y * w.scale$",
        init="w.scale$ = lt.nn.Parameter(lt.ones(4))",
        changes=[
            "w.scale$.requires_grad_(BOOL)",
            "w.scale$ = lt.nn.Parameter(lt.full((4,), SMALL))",
        ],
    ),
    part(
        "optimizers, gradients, modules",
        """
        w.opt$.zero_grad()
        w.lin$(y.detach()).square().mean().backward()
        w.opt$.step()
        y = w.lin$(y)
        """,
        init="""
        w.lin$ = lt.nn.Linear(4, 4)
        w.opt$ = lt.optim.SGD(w.lin$.parameters(), lr=0.1, momentum=0.9)
        """,
        changes=[
            'w.opt$.param_groups[0]["lr"] = SMALL',
            "w.opt$ = lt.optim.SGD(w.lin$.parameters(), lr=0.1)",
            "w.opt$.zero_grad()",
        ],
    ),
    part(
        "optimizers, gradients",
        """
        (w.p$ * y.detach().mean()).sum().backward()
        w.opt$.step()
        w.opt$.zero_grad()
        y = y + w.p$.detach()
        """,
        init="""
        w.p$ = lt.ones(4, requires_grad=True)
        w.opt$ = lt.optim.Adam([w.p$], lr=0.1)
        """,
        changes=[
            'w.opt$.param_groups[0]["lr"] = SMALL',
            "w.p$.grad = None",
        ],
    ),
    part(
        "optimizers, gradients",
        """
        w.opt$.step()
        y = y + w.p$.detach()
        """,
        init="""
        w.p$ = lt.ones(4, requires_grad=True)
        w.opt$ = lt.optim.SGD([w.p$], lr=0.5)
        """,
        changes=[
            "w.p$.grad = lt.ones(4)",
            "w.p$.grad = None",
            "w.opt$.zero_grad(set_to_none=False)",
        ],
    ),
    part(
        "optimizers, gradients",
        'y = y * w.opt$.param_groups[0]["lr"]',
        init="""
        w.p$ = lt.ones(4, requires_grad=True)
        w.opt$ = lt.optim.SGD([w.p$], lr=0.5)
        w.sched$ = lt.optim.lr_scheduler.StepLR(w.opt$, 2)
        """,
        changes=[
            """
            w.opt$.step()
            w.sched$.step()
            """,
            'w.opt$.param_groups[0]["lr"] = SMALL',
        ],
    ),
    part(
        "optimizers, gradients",
        """
        w.opt$.zero_grad()
        y = y * 2
        """,
        init="""
        w.p$ = lt.ones(4, requires_grad=True)
        w.opt$ = lt.optim.SGD([w.p$], lr=0.5)
        """,
        changes=[
            "w.p$.grad = lt.ones(4)",
        ],
    ),
]
