"""Training steps as people write them."""

import copy
import math
import types

import lathe as lt
import lathe.nn.functional as F
from lathe import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(3, 4), nn.Linear(4, 2)

    def forward(self, x):
        return self.two(F.relu(self.one(x)))


def make():
    w = types.SimpleNamespace(net=Net(), step=0)
    w.opt = lt.optim.SGD(w.net.parameters(), lr=0.1)
    return w


def batches():
    for i in range(5):
        x = lt.arange(12.0).reshape(4, 3) * 0.1 - i * 0.2
        yield x, lt.tensor([0, 1, 1, 0])


def calls(w):
    for x, y in batches():
        yield x, y


# %% zero_grad_first: equal, traces 2
def step(w, x, y):
    w.opt.zero_grad()
    loss = F.cross_entropy(w.net(x), y)
    loss.backward()
    w.opt.step()
    return loss.detach()


# %% zero_grad_last: equal, traces 2
def step(w, x, y):
    loss = F.cross_entropy(w.net(x), y)
    loss.backward()
    w.opt.step()
    w.opt.zero_grad()
    return loss.detach()


# %% zero_grad_between: equal, traces 2
def step(w, x, y):
    loss = F.cross_entropy(w.net(x), y)
    w.opt.zero_grad(set_to_none=False)
    loss.backward()
    w.opt.step()
    return loss.detach()


# %% adam_with_weight_decay: equal, traces 2
def make():
    w = types.SimpleNamespace(net=Net())
    w.opt = lt.optim.AdamW(w.net.parameters(), lr=1e-2, weight_decay=0.01)
    return w


def step(w, x, y):
    w.opt.zero_grad()
    loss = F.cross_entropy(w.net(x), y)
    loss.backward()
    w.opt.step()
    return {"loss": loss.detach(), "logits": w.net(x).detach()}


# %% scheduler_outside: equal, traces 2
def make():
    w = types.SimpleNamespace(net=Net())
    w.opt = lt.optim.SGD(w.net.parameters(), lr=0.1, momentum=0.9)
    w.sched = lt.optim.lr_scheduler.ExponentialLR(w.opt, 0.9)
    return w


def step(w, x, y):
    w.opt.zero_grad()
    loss = F.cross_entropy(w.net(x), y)
    loss.backward()
    w.opt.step()
    return loss.detach()


def calls(w):
    for x, y in batches():
        yield x, y
        w.sched.step()


# %% scheduler_inside: equal, traces 4
def make():
    w = types.SimpleNamespace(net=Net())
    w.opt = lt.optim.SGD(w.net.parameters(), lr=0.1)
    w.sched = lt.optim.lr_scheduler.StepLR(w.opt, 2, 0.5)
    return w


def step(w, x, y):
    w.opt.zero_grad()
    loss = F.cross_entropy(w.net(x), y)
    loss.backward()
    w.opt.step()
    w.sched.step()
    return loss.detach()


# %% warm_up_by_hand: equal, traces 3
def step(w, x, y):
    w.step += 1
    for group in w.opt.param_groups:
        group["lr"] = 0.1 * min(1.0, w.step / 4)
    w.opt.zero_grad()
    loss = F.cross_entropy(w.net(x), y)
    loss.backward()
    w.opt.step()
    return loss.detach()


# %% cosine_by_hand: equal, traces 2
def step(w, x, y):
    w.opt.zero_grad()
    loss = F.cross_entropy(w.net(x), y)
    loss.backward()
    w.opt.step()
    return loss.detach()


def calls(w):
    for i, (x, y) in enumerate(batches()):
        w.opt.param_groups[0]["lr"] = 0.05 * (1 + math.cos(math.pi * i / 5))
        yield x, y


# %% gradient_clipping: equal, traces 2
def step(w, x, y):
    w.opt.zero_grad()
    loss = F.cross_entropy(w.net(x), y)
    loss.backward()
    norm = nn.utils.clip_grad_norm_(w.net.parameters(), 0.5)
    w.opt.step()
    return loss.detach(), norm


# %% clipping_by_hand: equal, traces 2
def step(w, x, y):
    w.opt.zero_grad()
    loss = F.cross_entropy(w.net(x), y)
    loss.backward()
    with lt.no_grad():
        for p in w.net.parameters():
            p.grad.clamp_(-0.1, 0.1)
    w.opt.step()
    return loss.detach()


# %% gradient_accumulation: equal, traces 2
def step(w, xs, ys):
    w.opt.zero_grad()
    total = 0.0
    for x, y in zip(xs, ys):
        loss = F.cross_entropy(w.net(x), y) / len(xs)
        loss.backward()
        total = total + loss.detach()
    w.opt.step()
    return total


def calls(w):
    for x, y in batches():
        yield [x, x * 2], [y, y]


# %% accumulation_over_calls: equal, traces 2
def step(w, x, y):
    loss = F.cross_entropy(w.net(x), y) / 2
    loss.backward()
    return loss.detach()


def calls(w):
    for i, (x, y) in enumerate(batches()):
        yield x, y
        if i % 2:
            w.opt.step()
            w.opt.zero_grad()


# %% moving_average_of_weights: equal, traces 2
def make():
    w = types.SimpleNamespace(net=Net())
    w.average = copy.deepcopy(w.net)
    w.opt = lt.optim.SGD(w.net.parameters(), lr=0.1)
    return w


def step(w, x, y):
    w.opt.zero_grad()
    loss = F.cross_entropy(w.net(x), y)
    loss.backward()
    w.opt.step()
    with lt.no_grad():
        for slow, fast in zip(w.average.parameters(), w.net.parameters()):
            slow.mul_(0.9).add_(fast, alpha=0.1)
    return loss.detach()


# %% weight_decay_by_hand: equal, traces 2
def step(w, x, y):
    penalty = sum(p.square().sum() for n, p in w.net.named_parameters() if "bias" not in n)
    loss = F.cross_entropy(w.net(x), y) + 1e-3 * penalty
    grads = lt.autograd.grad(loss, list(w.net.parameters()))
    with lt.no_grad():
        for p, g in zip(w.net.parameters(), grads):
            p.sub_(g, alpha=0.1)
    return loss.detach()


# %% frozen_part: equal, traces 2
def make():
    w = types.SimpleNamespace(net=Net())
    w.net.one.requires_grad_(False)
    w.opt = lt.optim.SGD([p for p in w.net.parameters() if p.requires_grad], lr=0.1)
    return w


def step(w, x, y):
    w.opt.zero_grad()
    loss = F.cross_entropy(w.net(x), y)
    loss.backward()
    w.opt.step()
    return loss.detach()


# %% two_optimizers: equal, traces 2
def make():
    w = types.SimpleNamespace(net=Net())
    w.opts = {
        "one": lt.optim.SGD(w.net.one.parameters(), lr=0.1),
        "two": lt.optim.Adam(w.net.two.parameters(), lr=0.01),
    }
    return w


def step(w, x, y):
    for opt in w.opts.values():
        opt.zero_grad()
    loss = F.cross_entropy(w.net(x), y)
    loss.backward()
    for opt in w.opts.values():
        opt.step()
    return loss.detach()


# %% loss_as_a_number: equal, traces 2
class Meter:
    def __init__(self):
        self.total, self.count = lt.zeros(()), 0

    def update(self, value, n):
        self.total += value * n
        self.count += n


def make():
    return types.SimpleNamespace(net=Net(), meter=Meter())


def step(w, x, y):
    loss = F.cross_entropy(w.net(x), y).detach()
    w.meter.update(loss, x.shape[0])
    return loss


# %% label_smoothing_from_config: equal, traces 2
CONFIG = {"smoothing": 0.1, "reduction": "mean"}


def step(w, x, y):
    return F.cross_entropy(
        w.net(x), y, label_smoothing=CONFIG["smoothing"], reduction=CONFIG["reduction"]
    )


# %% model_traced_gradients_outside: equal, traces 2
def target(w):
    return w.net


def calls(w):
    for x, y in batches():
        w.opt.zero_grad()
        logits = yield (x,)
        F.cross_entropy(logits, y).backward()
        w.opt.step()
