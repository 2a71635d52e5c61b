"""The demo's network in PyTorch, for the table. Run by train.py with a Python that has PyTorch.

python peer_torch.py digits.npz figures.json EPOCHS BATCH LR
"""

import json
import sys
import time

import numpy as np
import torch
from torch import nn


def network(width=16, hidden=64):
    """As DigitNet in model.py."""
    return nn.Sequential(
        nn.Conv2d(1, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(width, 2 * width, 3, padding=1, bias=False), nn.BatchNorm2d(2 * width),
        nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(2 * width * 4, hidden), nn.ReLU(), nn.Dropout(0.25), nn.Linear(hidden, 10),
    )  # fmt: skip


def median(times):
    return sorted(times)[len(times) // 2]


def train(model, x, y, epochs, batch, lr):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    times = []
    for _ in range(epochs):
        order = torch.randperm(len(x))
        for start in range(0, len(x) - batch + 1, batch):
            some = order[start : start + batch]
            images, labels = x[some], y[some]
            began = time.perf_counter()
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
            loss.item()
            times.append(time.perf_counter() - began)
    return 1e3 * median(times)


def microseconds(model, images, batch):
    some, times = images[:batch].contiguous(), []
    for _ in range(200):
        began = time.perf_counter()
        model(some)
        times.append(time.perf_counter() - began)
    return 1e6 * median(times) / batch


def main(data, result, epochs, batch, lr):
    arrays = {name: torch.from_numpy(part) for name, part in np.load(data).items()}
    torch.manual_seed(0)
    model = network()
    ms = train(model, arrays["train_x"], arrays["train_y"], int(epochs), int(batch), float(lr))
    model.eval()
    with torch.no_grad():
        right = (model(arrays["test_x"]).argmax(1) == arrays["test_y"]).float().mean().item()
        us = {str(n): microseconds(model, arrays["test_x"], n) for n in (1, 32)}
    figures = {"ms_per_step": ms, "us_per_image": us, "accuracy": right, "compile_ms": 0.0}
    with open("/proc/self/status") as status:
        figures["peak_mib"] = int(status.read().split("VmHWM:")[1].split()[0]) / 1024
    with open(result, "w") as file:
        json.dump(figures | {"version": torch.__version__}, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
