"""A graph network whose messages are summed by scatter: two communities, two known members each."""

import lathe.compat.torch.nn.functional as F
import numpy as np

import lathe.compat.torch as torch
from lathe.compat.torch import nn

NODES = 40


class Convolution(nn.Module):
    """The mean of the neighbours' messages (Kipf and Welling 2017)."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs, bias=False)
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x, source, target):
        degree = torch.zeros(len(x)).scatter_add(0, target, torch.ones(len(target)))
        norm = degree.clamp(min=1).rsqrt()
        message = self.linear(x)[source] * (norm[source] * norm[target]).unsqueeze(-1)
        index = target.unsqueeze(-1).expand_as(message)
        out = torch.zeros(len(x), message.shape[1]).scatter_add(0, index, message)
        return out + self.bias


class GraphNetwork(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.nodes = nn.Parameter(torch.randn(NODES, width))
        self.first, self.second = Convolution(width, width), Convolution(width, 2)

    def forward(self, source, target):
        x = F.relu(self.first(self.nodes, source, target))
        return F.log_softmax(self.second(x, source, target), dim=1)


def build():
    model = GraphNetwork()
    return model, torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)


def batch(random):
    side = np.arange(NODES) % 2
    chance = np.where(side[:, None] == side, 0.3, 0.03)
    linked = np.triu(random.random((NODES, NODES)) < chance, 1)
    linked = linked | linked.T | np.eye(NODES, dtype=bool)
    source, target = np.nonzero(linked)
    return torch.tensor(source), torch.tensor(target), torch.tensor(side)


def step(model, optimizer, source, target, side):
    scores = model(source, target)
    loss = F.nll_loss(scores[:4], side[:4])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


if __name__ == "__main__":
    random = np.random.default_rng(0)
    state = build()
    for i in range(20):
        print(f"{i:2d} {step(*state, *batch(random)).item():.6f}")
