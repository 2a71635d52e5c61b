"""What the seeds' TensorFlow programs call, by our own functions: `from tf_names import tf, ...`
stands in the place of their import lines."""

import types

import lathe as lt
from lathe import nn
from lathe.nn import functional as F  # noqa: N812


def as_string(x):
    return f"{x}"


def Print(value, listed, message=""):  # noqa: N802
    print(f"{message}[{', '.join(as_string(v) for v in listed)}]")
    return value


class Session:
    """Values are there already."""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False

    def run(self, value):
        return value.item()


class Model(nn.Module):
    def forward(self, *args, **kwargs):
        return self.call(*args, **kwargs)


class Dense(nn.Module):
    """A linear layer that finds its inputs' size at the first call."""

    def __init__(self, units, activation=None):
        super().__init__()
        self.linear, self.activation = nn.LazyLinear(units), activation

    def forward(self, x):
        x = self.linear(x)
        return x if self.activation is None else self.activation(x)


tf = types.SimpleNamespace(
    as_string=as_string, Print=Print, Session=Session, constant=lt.tensor, while_loop=lt.while_loop,
    nn=types.SimpleNamespace(relu=F.relu, softmax=lambda x: F.softmax(x, dim=-1)),
)  # fmt: skip
autograph = types.SimpleNamespace(convert=lambda: lt.script)
layers = types.SimpleNamespace(Dense=Dense)
