"""A generative adversarial network (Goodfellow and others 2014) that learns a ring of points."""

import numpy as np

import lathe.compat.torch as torch
from lathe.compat.torch import nn

CODE = 8


def layers(inputs, outputs, width=64):
    return nn.Sequential(
        nn.Linear(inputs, width), nn.LeakyReLU(0.2), nn.Linear(width, width), nn.LeakyReLU(0.2),
        nn.Linear(width, outputs),
    )  # fmt: skip


def build():
    generator, critic = layers(CODE, 2), layers(2, 1)
    return (
        generator,
        critic,
        torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999)),
        torch.optim.Adam(critic.parameters(), lr=2e-3, betas=(0.5, 0.999)),
    )


def batch(random, size=64):
    angle = 2 * np.pi * random.integers(0, 8, size) / 8
    real = np.stack([np.cos(angle), np.sin(angle)], 1) + random.normal(0, 0.05, (size, 2))
    noise = random.normal(size=(size, CODE))
    dtype = torch.get_default_dtype()
    return torch.tensor(real, dtype=dtype), torch.tensor(noise, dtype=dtype)


def step(generator, critic, generator_optimizer, critic_optimizer, real, noise):
    judge = nn.BCEWithLogitsLoss()
    ones, zeros = torch.ones(len(real), 1), torch.zeros(len(real), 1)
    fake = generator(noise)

    critic_optimizer.zero_grad()
    critic_loss = judge(critic(real), ones) + judge(critic(fake.detach()), zeros)
    critic_loss.backward()
    critic_optimizer.step()

    generator_optimizer.zero_grad()
    generator_loss = judge(critic(fake), ones)
    generator_loss.backward()
    generator_optimizer.step()
    return critic_loss.detach() + generator_loss.detach()


if __name__ == "__main__":
    random = np.random.default_rng(0)
    state = build()
    for i in range(20):
        print(f"{i:2d} {step(*state, *batch(random)).item():.6f}")
