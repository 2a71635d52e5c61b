"""Factorisation of a table of ratings into users and films, with what each has by itself."""

import lathe.compat.torch.nn.functional as F
import numpy as np

import lathe.compat.torch as torch
from lathe.compat.torch import nn

USERS, FILMS, RANK = 30, 40, 5


class Factorisation(nn.Module):
    def __init__(self):
        super().__init__()
        self.users, self.films = nn.Embedding(USERS, RANK), nn.Embedding(FILMS, RANK)
        self.user_bias, self.film_bias = nn.Embedding(USERS, 1), nn.Embedding(FILMS, 1)
        for table in (self.users, self.films):
            nn.init.normal_(table.weight, std=0.1)
        for table in (self.user_bias, self.film_bias):
            nn.init.zeros_(table.weight)

    def forward(self, user, film):
        both = (self.users(user) * self.films(film)).sum(dim=1)
        return both + self.user_bias(user).squeeze(1) + self.film_bias(film).squeeze(1)


def build():
    model = Factorisation()
    return model, torch.optim.Adagrad(model.parameters(), lr=0.1)


def batch(random, size=128):
    user, film = random.integers(0, USERS, size), random.integers(0, FILMS, size)
    rating = np.sin(user) * np.cos(film) + 0.5 * np.cos(3 * film) + random.normal(0, 0.1, size)
    dtype = torch.get_default_dtype()
    return torch.tensor(user), torch.tensor(film), torch.tensor(rating, dtype=dtype)


def step(model, optimizer, user, film, rating):
    optimizer.zero_grad()
    loss = F.mse_loss(model(user, film), rating)
    loss.backward()
    optimizer.step()
    return loss


if __name__ == "__main__":
    random = np.random.default_rng(0)
    state = build()
    for i in range(20):
        print(f"{i:2d} {step(*state, *batch(random)).item():.6f}")
