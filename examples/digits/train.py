"""Trains DigitNet on handwritten digits. Run by ./dev demo; --help lists what can be set."""

import argparse
import json
import time

from model import DigitNet, load_digits
from tqdm import tqdm

import lathe as lt
from lathe import nn
from lathe.utils.data import DataLoader, TensorDataset


def accuracy(model, images, labels):
    """The share of images whose largest score is at their label."""
    model.eval()
    with lt.no_grad():
        right = (model(images).argmax(1) == labels).float().mean()
    model.train()
    return right.item()


def training_step(model, optimizer, loss_of, images, labels):
    """Forward, loss, backward and update; gives the loss as a tensor."""
    optimizer.zero_grad()
    loss = loss_of(model(images), labels)
    loss.backward()
    optimizer.step()
    return loss


def train_eagerly(arguments, data):
    """Trains a fresh model; gives it with what happened on the way."""
    train_x, train_y, test_x, test_y = data
    lt.manual_seed(arguments.seed)
    model = DigitNet()
    optimizer = lt.optim.Adam(model.parameters(), lr=arguments.lr)
    loss_of = nn.CrossEntropyLoss()
    loader = DataLoader(
        TensorDataset(train_x, train_y), arguments.batch, shuffle=True, seed=arguments.seed
    )
    losses, times = [], []
    bar = tqdm(total=arguments.epochs * len(loader), unit="step", disable=arguments.quiet)
    for epoch in range(arguments.epochs):
        for images, labels in loader:
            began = time.perf_counter()
            loss = training_step(model, optimizer, loss_of, images, labels)
            losses.append(loss.item())
            times.append(time.perf_counter() - began)
            bar.update()
        bar.set_postfix(epoch=epoch + 1, loss=f"{losses[-1]:.4f}")
    bar.close()
    times.sort()
    return model, {
        "losses": losses,
        "ms_per_step": 1e3 * times[len(times) // 2],
        "accuracy": accuracy(model, test_x, test_y),
    }


def arguments_of(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    parser.add_argument("--json", metavar="FILE", help="write every figure there")
    return parser.parse_args(argv)


def main(argv=None):
    arguments = arguments_of(argv)
    data = load_digits(arguments.seed)
    print(f"digits: {len(data[0])} images to train on, {len(data[2])} to test")
    _, eager = train_eagerly(arguments, data)
    print(
        f"eager: test accuracy {100 * eager['accuracy']:.2f} %, "
        f"last loss {eager['losses'][-1]:.4f}, {eager['ms_per_step']:.2f} ms a step"
    )
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"settings": vars(arguments), "eager": eager}, file, indent=1)
    return eager


if __name__ == "__main__":
    main()
