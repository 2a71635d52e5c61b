"""Style transfer (Gatys, Ecker and Bethge 2016): a picture is trained, and the network is not."""

import lathe.compat.torch.nn.functional as F
import numpy as np

import lathe.compat.torch as torch
from lathe.compat.torch import nn

SIDE = 16


class Features(nn.Module):
    """Convolutions that nobody trained; their random filters have texture enough."""

    def __init__(self, widths=(8, 16, 16)):
        super().__init__()
        self.layers, inputs = nn.ModuleList(), 3
        for width in widths:
            self.layers.append(nn.Conv2d(inputs, width, 3, padding=1, padding_mode="reflect"))
            inputs = width

    def forward(self, x):
        found = []
        for layer in self.layers:
            x = F.relu(layer(x))
            found.append(x)
            x = F.avg_pool2d(x, 2)
        return found


def gram_matrix(features):
    n, c, h, w = features.shape
    flat = features.view(n * c, h * w)
    return torch.mm(flat, flat.t()).div(n * c * h * w)


def build():
    network = Features().eval()
    for p in network.parameters():
        p.requires_grad_(False)
    picture = torch.rand(1, 3, SIDE, SIDE).requires_grad_(True)
    return network, picture, torch.optim.Adam([picture], lr=0.02)


def batch(random):
    rows, columns = np.mgrid[:SIDE, :SIDE]
    content = np.stack([rows > SIDE // 2, columns > SIDE // 2, rows > columns])[None]
    style = 0.5 + 0.5 * np.sin(np.stack([rows + columns, rows - columns, 2 * rows])[None])
    dtype = torch.get_default_dtype()
    return torch.tensor(content, dtype=dtype), torch.tensor(style, dtype=dtype)


def step(network, picture, optimizer, content, style):
    with torch.no_grad():
        wanted = network(content)[1]
        grams = [gram_matrix(f) for f in network(style)]
        picture.clamp_(0, 1)
    optimizer.zero_grad()
    found = network(picture)
    content_loss = F.mse_loss(found[1], wanted)
    style_loss = sum(F.mse_loss(gram_matrix(f), g) for f, g in zip(found, grams))
    rough = (picture[..., 1:] - picture[..., :-1]).abs().mean()
    loss = content_loss + 1e4 * style_loss + 1e-2 * rough
    loss.backward()
    optimizer.step()
    return loss


if __name__ == "__main__":
    random = np.random.default_rng(0)
    state = build()
    for i in range(20):
        print(f"{i:2d} {step(*state, *batch(random)).item():.6f}")
