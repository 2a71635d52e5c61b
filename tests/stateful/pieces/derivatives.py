"""Steps that take derivatives, and that change what a derivative is taken of."""

from .part import part

DERIVATIVES = [
    part(
        "gradients",
        "y = y + lt.func.grad(lambda t: (t * t * w.k$).sum())(y.detach())",
        init="w.k$ = SMALL",
        changes=["w.k$ = SMALL"],
    ),
    part(
        "gradients, hooks",
        """
        t = (w.p$ * y.detach().mean()).sum()
        t.backward()
        y = y + w.p$.grad
        w.p$.grad = None
        """,
        init="w.p$ = lt.ones(4, requires_grad=True)\nw.p$.register_hook(lambda g: g * 2)",
        changes=["w.p$ = lt.ones(4, requires_grad=True)"],
    ),
    part(
        "gradients, inheritance",
        "y = Double$.apply(y) + w.p$",
        top="""
        class Double$(lt.autograd.Function):
            @staticmethod
            def forward(ctx, t):
                return t * 2

            @staticmethod
            def backward(ctx, g):
                return g * 7
        """,
        init="w.p$ = lt.ones(4, requires_grad=True)",
        changes=["w.p$.requires_grad_(False)", "w.p$.requires_grad_(True)"],
    ),
    part(
        "gradients, modules",
        "y = lt.utils.checkpoint.checkpoint(w.block$, y, use_reentrant=False)",
        init="w.block$ = lt.nn.Sequential(lt.nn.Linear(4, 4), lt.nn.Tanh())",
        changes=["w.block$[1] = lt.nn.ReLU()", "w.block$.requires_grad_(BOOL)"],
    ),
    part(
        "gradients",
        "y = y * w.a$ + (w.a$.detach() if w.cut$ else w.a$)",
        init="w.a$, w.cut$ = lt.ones(4, requires_grad=True), True",
        changes=["w.cut$ = BOOL", "w.a$ = lt.zeros(4, requires_grad=True)"],
    ),
    part(
        "gradients",
        """
        (y.detach() * w.p$).sum().backward()
        w.seen$.append(w.p$.grad.clone())
        y = y + len(w.seen$)
        """,
        init="w.p$, w.seen$ = lt.ones(4, requires_grad=True), []",
        changes=["w.p$.grad = None", "w.seen$.clear()"],
    ),
    part(
        "gradients, optimizers",
        """
        loss = (w.p$ * y.detach()).square().mean()
        w.p$.grad = lt.autograd.grad(loss, w.p$)[0]
        w.opt$.step()
        y = y + loss.detach()
        """,
        init="w.p$ = lt.ones(4, requires_grad=True)\nw.opt$ = lt.optim.RMSprop([w.p$], lr=0.1)",
        changes=['w.opt$.param_groups[0]["lr"] = SMALL', 'w.opt$.param_groups[0]["alpha"] = 0.5'],
    ),
    part(
        "optimizers, gradients, shared parameters",
        """
        (w.lin$(y.detach()) + w.p$).square().mean().backward()
        for group in w.opt$.param_groups:
            for p in group["params"]:
                p.grad.clamp_(-0.5, 0.5)
        w.opt$.step()
        w.opt$.zero_grad()
        y = y + w.p$.detach()
        """,
        init="""
        w.lin$, w.p$ = lt.nn.Linear(4, 4), lt.ones(4, requires_grad=True)
        groups = [{"params": w.lin$.parameters()}, {"params": [w.p$], "lr": 0.5}]
        w.opt$ = lt.optim.SGD(groups, lr=0.1)
        """,
        changes=[
            'w.opt$.param_groups[1]["lr"] = SMALL',
            'w.opt$.param_groups[0]["weight_decay"] = 0.5',
        ],
    ),
    part(
        "gradients, train and eval",
        "with lt.no_grad() if w.frozen$ else lt.enable_grad():\n    y = y * w.p$",
        init="w.p$, w.frozen$ = lt.ones(4, requires_grad=True), False",
        changes=["w.frozen$ = BOOL"],
    ),
    part(
        "gradients, in-place writes",
        "with lt.no_grad():\n    w.p$ -= 0.1 * y.mean()\ny = y + w.p$.detach()",
        init="w.p$ = lt.ones(4, requires_grad=True)",
        changes=["w.p$ = lt.zeros(4, requires_grad=True)"],
    ),
    part(
        "modules, parameters",
        "y = y * sum(p.abs().mean() for n, p in w.net$.named_parameters() if w.part$ in n)",
        init='w.net$, w.part$ = lt.nn.Sequential(lt.nn.Linear(4, 4)), "weight"',
        changes=['w.part$ = "bias"', "w.net$.append(lt.nn.Linear(2, 2))"],
    ),
    part(
        "modules, buffers",
        'y = y + w.net$.state_dict()["0.running_mean"]',
        init="w.net$ = lt.nn.Sequential(lt.nn.BatchNorm1d(4))",
        changes=[
            "w.net$[0].running_mean.add_(1)",
            "w.net$.load_state_dict({k: v + 1 for k, v in w.net$.state_dict().items()})",
        ],
    ),
    part(
        "hooks, modules, monkeypatching",
        "y = w.m$(y)",
        init="""
        w.m$ = lt.nn.Tanh()
        w.m$.register_forward_pre_hook(lambda m, a: SCALES_$['k'] * a[0])
        """,
        top="SCALES_$ = {'k': SMALL}",
        changes=["SCALES_$['k'] = SMALL"],
    ),
]
