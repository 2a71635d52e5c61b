"""A physics-informed network (Raissi, Perdikaris and Karniadakis 2019) for Burgers' equation."""

import math

import numpy as np

import lathe.compat.torch as torch
from lathe.compat.torch import nn

VISCOSITY = 0.01 / math.pi


def build(width=20):
    layers = [nn.Linear(2, width), nn.Tanh()]
    for _ in range(3):
        layers += [nn.Linear(width, width), nn.Tanh()]
    model = nn.Sequential(*layers, nn.Linear(width, 1))
    for m in model:
        if isinstance(m, nn.Linear):
            nn.init.xavier_normal_(m.weight)
            nn.init.zeros_(m.bias)
    return model, torch.optim.Adam(model.parameters(), lr=1e-3)


def derivative(y, x):
    return torch.autograd.grad(y, x, grad_outputs=torch.ones_like(y), create_graph=True)[0]


def residual(model, t, x):
    u = model(torch.cat([t, x], dim=1))
    u_x = derivative(u, x)
    return derivative(u, t) + u * u_x - VISCOSITY * derivative(u_x, x)


def batch(random, size=64):
    inside = [random.uniform(0, 1, (size, 1)), random.uniform(-1, 1, (size, 1))]
    start = [np.zeros((size, 1)), random.uniform(-1, 1, (size, 1))]
    walls = [random.uniform(0, 1, (size, 1)), random.choice([-1.0, 1.0], (size, 1))]
    known = np.concatenate([start, walls], axis=1)
    u = np.where(known[0] == 0, -np.sin(np.pi * known[1]), 0.0)
    dtype = torch.get_default_dtype()
    return tuple(torch.tensor(a, dtype=dtype) for a in (*inside, np.hstack([*known]), u))


def step(model, optimizer, t, x, known, u):
    t, x = t.detach().requires_grad_(), x.detach().requires_grad_()
    optimizer.zero_grad()
    loss = residual(model, t, x).pow(2).mean() + (model(known) - u).pow(2).mean()
    loss.backward()
    optimizer.step()
    return loss


if __name__ == "__main__":
    random = np.random.default_rng(0)
    state = build()
    for i in range(20):
        print(f"{i:2d} {step(*state, *batch(random)).item():.6f}")
