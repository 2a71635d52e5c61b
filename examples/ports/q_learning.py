"""Deep Q learning (Mnih and others 2015) from remembered moves in a corridor."""

import lathe.compat.torch.nn.functional as F
import numpy as np

import lathe.compat.torch as torch
from lathe.compat.torch import nn

PLACES, GAMMA, TAU = 10, 0.9, 0.1


class QNetwork(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(PLACES, width), nn.ReLU(), nn.Linear(width, 2))

    def forward(self, place):
        return self.layers(F.one_hot(place, PLACES).to(torch.get_default_dtype()))


def build():
    network, target = QNetwork(), QNetwork()
    target.load_state_dict(network.state_dict())
    return network, target, torch.optim.AdamW(network.parameters(), lr=5e-3, amsgrad=True)


def batch(random, size=64):
    place, action = random.integers(0, PLACES - 1, size), random.integers(0, 2, size)
    after = np.clip(place + 2 * action - 1, 0, PLACES - 1)
    return tuple(torch.tensor(a) for a in (place, action, after, after == PLACES - 1))


def step(network, target, optimizer, place, action, after, done):
    value = network(place).gather(1, action.unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        following = target(after).max(1).values
        wanted = torch.where(done, 1.0, GAMMA * following)
    loss = F.huber_loss(value, wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for slow, fast in zip(target.parameters(), network.parameters()):
            slow.copy_(TAU * fast + (1 - TAU) * slow)
    return loss


if __name__ == "__main__":
    random = np.random.default_rng(0)
    state = build()
    for i in range(20):
        print(f"{i:2d} {step(*state, *batch(random)).item():.6f}")
