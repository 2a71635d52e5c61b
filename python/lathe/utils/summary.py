"""What a network is made of, as a table; and a learning rate to begin with."""

import math

from .. import _lathe
from .._grad_mode import no_grad


def summary(model, *inputs):
    """A table of the model's parts as they run on these inputs: name, kind, shape of the result,
    parameters and multiplications; the batch, the first axis, stands as *."""
    rows, handles, total = [], [], [0]

    def noted(name, part):
        def hook(module, given, result):
            count = sum(int(p.numel()) for p in module.parameters())
            work = _multiplications(module, result)
            total[0] += work
            shape = [str(n) for n in result.shape]
            rows.append((name, type(module).__name__, shape, count, work))

        handles.append(part.register_forward_hook(hook))

    for name, part in model.named_modules():
        if name and not any(True for _ in part.children()):
            noted(name, part)
    try:
        with no_grad():
            model(*inputs)
    finally:
        for handle in handles:
            handle.remove()
    lines = [("part", "kind", "result", "parameters", "multiplications")]
    for name, kind, shape, count, work in rows:
        lines.append((name, kind, f"[{', '.join(['*', *shape[1:]])}]", f"{count:,}", f"{work:,}"))
    parameters = sum(int(p.numel()) for p in model.parameters())
    held = sum(int(p.nbytes) for p in model.parameters())
    widths = [max(len(line[k]) for line in lines) for k in range(5)]
    text = [
        "  ".join(w.ljust(n) if k < 3 else w.rjust(n) for k, (w, n) in enumerate(zip(line, widths)))
        for line in lines
    ]
    text.append(f"{parameters:,} parameters, {held:,} bytes, {total[0]:,} multiplications")
    return "\n".join(line.rstrip() for line in text)


def _multiplications(module, result):
    """For each element of the batch."""
    weight = getattr(module, "weight", None)
    if weight is None or weight.ndim < 2:
        return 0
    per_channel = int(weight.numel()) // int(weight.shape[0])
    if type(module).__name__ == "Embedding":
        return 0
    return per_channel * (int(result.numel()) // int(result.shape[0]))


def lr_find(step, optimizer, lowest=1e-6, highest=1.0, steps=60):
    """The losses of `step()` while the learning rate grows from lowest to highest (Smith 2017).

    step: one training step, which gives its loss. Gives ([(rate, loss)], suggestion): the rate
    where the smoothed loss falls fastest. Parameters and optimizer are as before afterwards.
    """
    if not 0 < lowest < highest or steps < 3:
        raise _lathe.ValueError(
            "rates that grow, in three steps or more, expected",
            op="lr_find",
            got=f"{lowest} to {highest} in {steps}",
            expected="0 < lowest < highest",
            next="leave them out for 1e-6 to 1",
        )
    rates = [group["lr"] for group in optimizer.param_groups]
    params = [p for group in optimizer.param_groups for p in group["params"]]
    kept = [p.detach().clone() for p in params]
    state = {
        i: {k: v.clone() if isinstance(v, _lathe.Tensor) else v for k, v in s.items()}
        for i, s in optimizer.state_dict()["state"].items()
    }
    curve, smooth, best = [], None, math.inf
    try:
        for k in range(steps):
            rate = lowest * (highest / lowest) ** (k / (steps - 1))
            for group in optimizer.param_groups:
                group["lr"] = rate
            loss = float(step())
            smooth = loss if smooth is None else 0.8 * smooth + 0.2 * loss
            if not math.isfinite(loss) or smooth > 4 * best:
                break
            best = min(best, smooth)
            curve.append((rate, smooth))
    finally:
        with no_grad():
            for p, value in zip(params, kept):
                p.copy_(value)
        for group, rate in zip(optimizer.param_groups, rates):
            group["lr"] = rate
        groups = optimizer.state_dict()["param_groups"]
        optimizer.load_state_dict({"state": state, "param_groups": groups})
    falls = [(b[1] - a[1], b[0]) for a, b in zip(curve, curve[1:])]
    return curve, min(falls)[1] if falls else lowest
