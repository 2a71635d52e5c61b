"""Distillation (Hinton, Vinyals and Dean 2015): a small network learns from a larger one."""

import lathe.compat.torch.nn.functional as F
import numpy as np

import lathe.compat.torch as torch
from lathe.compat.torch import nn

INPUTS, CLASSES, TEMPERATURE = 16, 5, 4.0
PROTOTYPES = np.sin(np.arange(CLASSES)[:, None] * np.arange(1, INPUTS + 1))


def layers(width):
    return nn.Sequential(nn.Linear(INPUTS, width), nn.ReLU(), nn.Linear(width, CLASSES))


def build():
    teacher, student = layers(128), layers(12)
    return (
        teacher,
        student,
        torch.optim.Adam(teacher.parameters(), lr=5e-3),
        torch.optim.NAdam(student.parameters(), lr=5e-3),
    )


def batch(random, size=64):
    kind = random.integers(0, CLASSES, size)
    x = PROTOTYPES[kind] + random.normal(0, 0.7, (size, INPUTS))
    return torch.tensor(x, dtype=torch.get_default_dtype()), torch.tensor(kind)


def step(teacher, student, teacher_optimizer, student_optimizer, x, kind):
    teacher_optimizer.zero_grad()
    F.cross_entropy(teacher(x), kind).backward()
    teacher_optimizer.step()

    teacher.eval()
    with torch.no_grad():
        wanted = F.softmax(teacher(x) / TEMPERATURE, dim=-1)
    teacher.train()
    scores = student(x)
    soft = F.kl_div(F.log_softmax(scores / TEMPERATURE, dim=-1), wanted, reduction="batchmean")
    loss = 0.7 * TEMPERATURE**2 * soft + 0.3 * F.cross_entropy(scores, kind)
    student_optimizer.zero_grad()
    loss.backward()
    student_optimizer.step()
    return loss


if __name__ == "__main__":
    random = np.random.default_rng(0)
    state = build()
    for i in range(20):
        print(f"{i:2d} {step(*state, *batch(random)).item():.6f}")
