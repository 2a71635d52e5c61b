"""A residual network (He and others 2016) that tells discs, squares and crosses apart."""

import lathe.compat.torch.nn.functional as F
import numpy as np

import lathe.compat.torch as torch
from lathe.compat.torch import nn

SIDE = 16


class Residual(nn.Module):
    def __init__(self, inputs, outputs, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.shortcut = nn.Sequential()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += self.shortcut(x)
        return self.relu(out)


class ResNet(nn.Module):
    def __init__(self, width=8, classes=3):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU()
        )
        self.stages = nn.Sequential(
            Residual(width, width), Residual(width, 2 * width, 2), Residual(2 * width, 4 * width, 2)
        )
        self.pool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(4 * width, classes)
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x):
        return self.fc(torch.flatten(self.pool(self.stages(self.stem(x))), 1))


def build():
    model = ResNet()
    optimizer = torch.optim.SGD(
        model.parameters(), lr=0.02, momentum=0.9, weight_decay=5e-4, nesterov=True
    )
    return model, optimizer


def batch(random, size=16):
    rows, columns = np.mgrid[:SIDE, :SIDE]
    x, kind = random.normal(0, 0.2, (size, 1, SIDE, SIDE)), random.integers(0, 3, size)
    for picture, k in zip(x, kind):
        r, c = random.integers(5, SIDE - 5, 2)
        down, right = abs(rows - r), abs(columns - c)
        disc, square = down**2 + right**2 <= 16, np.maximum(down, right) <= 3
        picture[0] += (disc, square, (down == right) & square)[k]
    return torch.tensor(x, dtype=torch.get_default_dtype()), torch.tensor(kind)


def step(model, optimizer, x, kind):
    model.train()
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), kind)
    loss.backward()
    optimizer.step()
    return loss


if __name__ == "__main__":
    random = np.random.default_rng(0)
    state = build()
    for i in range(20):
        print(f"{i:2d} {step(*state, *batch(random)).item():.6f}")
