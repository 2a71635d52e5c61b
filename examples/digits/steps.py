"""The training step, once as anybody would write it and once with care; and the loop around it."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from model import DigitNet
from tqdm import tqdm

import lathe as lt
from lathe.nn import functional as F
from lathe.utils.data import DataLoader, TensorDataset


def plain_step(model, optimizer):
    """Forward, loss, backward and update; gives the loss as a tensor."""

    def step(images, labels):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        return loss

    return step


def careful_step(model, optimizer, parts=4):
    """The same in micro-batches, and without an update where the loss is not finite."""

    def step(images, labels):
        optimizer.zero_grad()
        size = images.shape[0] // parts
        total = lt.zeros(())
        for i in range(parts):
            some = slice(i * size, (i + 1) * size)
            loss = F.cross_entropy(model(images[some]), labels[some]) / parts
            loss.backward()
            total = total + loss.detach()
        if total.isfinite():
            optimizer.step()
        return total

    return step


@dataclass
class Way:
    """How to train: what makes the step, what compiles the model or the step, and the way that must
    have the same losses."""

    make: Callable
    model: Callable | None = None
    step: Callable | None = None
    like: str | None = None


WAYS = {
    "eager": Way(plain_step),
    "traced": Way(plain_step, step=lt.trace, like="eager"),
    "model_traced": Way(plain_step, model=lt.trace, like="eager"),
    "careful": Way(careful_step),
    "scripted": Way(careful_step, step=lt.script, like="careful"),
}


def accuracy(model, images, labels):
    """The share of images whose largest score is at their label."""
    model.eval()
    with lt.no_grad():
        right = (model(images).argmax(1) == labels).float().mean()
    model.train()
    return right.item()


def train(way, data, settings):
    """Trains a fresh model; gives it with what happened on the way."""
    train_x, train_y, test_x, test_y = data
    lt.manual_seed(settings.seed)
    model = DigitNet()
    optimizer = lt.optim.Adam(model.parameters(), lr=settings.lr)
    way_to_go = WAYS[way]
    called = way_to_go.model(model) if way_to_go.model else model
    step = way_to_go.make(called, optimizer)
    if way_to_go.step:
        step = way_to_go.step(step)
    loader = DataLoader(
        TensorDataset(train_x, train_y), settings.batch, shuffle=True, drop_last=True,
        seed=settings.seed,
    )  # fmt: skip
    losses, times = [], []
    bar = tqdm(total=settings.epochs * len(loader), desc=f"{way:12}", disable=settings.quiet)
    for _ in range(settings.epochs):
        for images, labels in loader:
            began = time.perf_counter()
            losses.append(step(images, labels).item())
            times.append(time.perf_counter() - began)
            bar.update()
        bar.set_postfix(loss=f"{losses[-1]:.4f}")
    bar.close()
    steady = sorted(times)[len(times) // 2]
    figures = {
        "losses": losses,
        "ms_per_step": 1e3 * steady,
        "first_steps_ms": [1e3 * t for t in times[:3]],
        # Gradients are None in the first step and not in the second: two programs.
        "compile_ms": 1e3 * (sum(times[:2]) - 2 * steady) if way_to_go.like else 0.0,
        "accuracy": accuracy(model, test_x, test_y),
    }
    return model, figures


def peak_mib():
    """The most memory that this process has had resident so far."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def microseconds(function, images, batches=(1, 32)):
    """The time that a call takes for each image, by how many images it is given at once."""
    out = {}
    for batch in batches:
        some = images[:batch].contiguous()
        times = []
        for _ in range(60):
            began = time.perf_counter()
            function(some)
            times.append(time.perf_counter() - began)
        out[str(batch)] = 1e6 * sorted(times)[len(times) // 2] / batch
    return out
