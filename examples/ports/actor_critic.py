"""An actor and a critic that learn to balance many carts with poles at a time."""

import lathe.compat.torch.nn.functional as F
import numpy as np

import lathe.compat.torch as torch
from lathe.compat.torch import nn

GAMMA, STEPS = 0.98, 12


class ActorCritic(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.body = nn.Linear(4, width)
        self.actor = nn.Linear(width, 2)
        self.critic = nn.Linear(width, 1)

    def forward(self, state):
        hidden = torch.tanh(self.body(state))
        return F.log_softmax(self.actor(hidden), dim=-1), self.critic(hidden).squeeze(-1)


def move(state, action):
    """The cart and pole of Barto, Sutton and Anderson (1983), a fiftieth of a second later."""
    x, speed, angle, turn = state.unbind(-1)
    force = torch.where(action == 1, 10.0, -10.0).to(state.dtype)
    push = (force + 0.05 * turn**2 * torch.sin(angle)) / 1.1
    bend = 9.8 * torch.sin(angle) - torch.cos(angle) * push
    bend = bend / (0.5 * (4.0 / 3.0 - 0.1 * torch.cos(angle) ** 2 / 1.1))
    pull = push - 0.05 * bend * torch.cos(angle) / 1.1
    later = (x + 0.02 * speed, speed + 0.02 * pull, angle + 0.02 * turn, turn + 0.02 * bend)
    return torch.stack(later, dim=-1)


def build():
    model = ActorCritic()
    return model, torch.optim.Adam(model.parameters(), lr=3e-3)


def batch(random, size=16):
    dtype = torch.get_default_dtype()
    start = random.uniform(-0.05, 0.05, (size, 4))
    return torch.tensor(start, dtype=dtype), torch.tensor(random.random((STEPS, size)), dtype=dtype)


def step(model, optimizer, state, dice):
    log_chances, values, rewards, entropy = [], [], [], 0
    for die in dice:
        scores, value = model(state)
        with torch.no_grad():
            action = (die < scores.exp()[:, 1]).long()
            state = move(state, action)
        log_chances.append(scores.gather(-1, action.unsqueeze(-1)).squeeze(-1))
        values.append(value)
        rewards.append(1 - (state[:, 2] / 0.2) ** 2)
        entropy = entropy - (scores.exp() * scores).sum(-1).mean()
    with torch.no_grad():
        gain = model(state)[1]
        gains = []
        for reward in reversed(rewards):
            gain = reward + GAMMA * gain
            gains.insert(0, gain)
    values, gains = torch.stack(values), torch.stack(gains)
    advantage = gains - values.detach()
    actor_loss = -(torch.stack(log_chances) * advantage).mean()
    loss = actor_loss + 0.5 * F.smooth_l1_loss(values, gains) - 0.01 * entropy / STEPS
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


if __name__ == "__main__":
    random = np.random.default_rng(0)
    state = build()
    for i in range(20):
        print(f"{i:2d} {step(*state, *batch(random)).item():.6f}")
