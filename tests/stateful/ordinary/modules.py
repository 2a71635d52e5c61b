"""Models as people write them."""

import functools
import types

import lathe as lt
import lathe.nn.functional as F
from lathe import nn


def target(w):
    return w


def calls(w):
    for i in range(5):
        yield (lt.arange(12.0).reshape(4, 3) * 0.1 - i * 0.2,)


# %% recurrent_hidden_state: equal, traces 2
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.h = nn.Linear(7, 4), None

    def forward(self, x):
        if self.h is None:
            self.h = lt.zeros(x.shape[0], 4)
        self.h = lt.tanh(self.cell(lt.cat([x, self.h], 1))).detach()
        return self.h


make = Model


# %% hidden_state_that_is_reset: equal, traces 2
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(7, 4)
        self.reset()

    def reset(self):
        self.h = lt.zeros(4, 4)

    def forward(self, x):
        self.h = lt.tanh(self.cell(lt.cat([x, self.h], 1))).detach()
        return self.h * 2


make = Model


def calls(w):
    for i in range(6):
        if i == 3:
            w.reset()
        yield (lt.ones(4, 3) * i,)


# %% lstm_state: equal, traces 2
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.state = nn.LSTM(3, 4, batch_first=True), None

    def forward(self, x):
        y, state = self.rnn(x.unsqueeze(0), self.state)
        self.state = tuple(t.detach() for t in state)
        return y.detach()


make = Model


# %% lazily_built: equal, traces 2
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList()

    def forward(self, x):
        if not self.layers:
            self.layers.append(nn.Linear(x.shape[-1], 4))
            self.layers.append(nn.Linear(4, 1))
        for layer in self.layers:
            x = layer(x).tanh()
        return x


make = Model


# %% lazy_linear: equal, traces 2
def make():
    return nn.Sequential(nn.LazyLinear(4), nn.ReLU())


# %% cached_mask: equal, traces 2
class Model(nn.Module):
    @functools.cached_property
    def mask(self):
        return lt.tril(lt.ones(4, 4))

    def forward(self, x):
        return self.mask @ x


make = Model


# %% memo_of_positions: equal, traces 2
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.cache = {}

    def positions(self, n):
        if n not in self.cache:
            self.cache[n] = lt.arange(n * 1.0).unsqueeze(1)
        return self.cache[n]

    def forward(self, x):
        return x + self.positions(x.shape[0])


make = Model


# %% lru_cached_table: equal, traces 2
@functools.lru_cache(None)
def table(n):
    return [1.0 / (i + 1) for i in range(n)]


class Model(nn.Module):
    def forward(self, x):
        return x * table(3)[1]


make = Model


# %% batch_norm_training: equal, traces 2
def make():
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU())


# %% train_and_eval: equal, traces 2
def make():
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.0))


def calls(w):
    for i in range(6):
        w.train(i < 3)
        yield (lt.arange(12.0).reshape(4, 3) * i,)


# %% dropout: equal, traces 2
def make():
    return nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5))


# %% attention: equal, traces 2
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out, self.heads = nn.Linear(4, 12), nn.Linear(4, 4), 2

    def forward(self, x):
        x = F.pad(x, (0, 1)).unsqueeze(0)
        b, n, d = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        scores = (q @ k.transpose(-1, -2)) / (d // self.heads) ** 0.5
        y = scores.softmax(-1) @ v
        self.last_scores = scores.detach()
        return self.out(y.transpose(1, 2).reshape(b, n, d))


make = Model


# %% config_dataclass: equal, traces 2
import dataclasses


@dataclasses.dataclass(frozen=True)
class Config:
    width: int = 4
    depth: int = 2
    act: str = "gelu"
    residual: bool = True


class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.inner = nn.ModuleList(nn.Linear(3, 3) for _ in range(config.depth))

    def forward(self, x):
        act = getattr(F, self.config.act)
        for layer in self.inner:
            y = act(layer(x))
            x = x + y if self.config.residual else y
        return x


def make():
    return Model(Config())


# %% registry_of_activations: equal, traces 2
ACTIVATIONS = {}


def register(name):
    def add(cls):
        ACTIVATIONS[name] = cls
        return cls

    return add


@register("scaled")
class Scaled(nn.Module):
    def __init__(self, k=2.0):
        super().__init__()
        self.k = k

    def forward(self, x):
        return x * self.k


@register("shifted")
class Shifted(nn.Module):
    def forward(self, x):
        return x + 1


def make():
    return nn.Sequential(*(ACTIVATIONS[n]() for n in ("scaled", "shifted")))


# %% decorated_forward: equal, traces 3
def counted(f):
    @functools.wraps(f)
    def wrapper(self, *args, **kwargs):
        self.calls += 1
        return f(self, *args, **kwargs)

    return wrapper


class Model(nn.Module):
    calls = 0

    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 2)

    @counted
    def forward(self, x):
        return self.lin(x)


make = Model


# %% mixin: equal, traces 2
class ResidualMixin:
    def forward(self, x):
        return x + super().forward(x)


class Square(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)

    def forward(self, x):
        return self.lin(x).square()


class Model(ResidualMixin, Square):
    pass


make = Model


# %% delegation: equal, traces 2
class Wrapper(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.__dict__["module"], name)

    def forward(self, x):
        return self.module(x) * self.in_features


def make():
    return Wrapper(nn.Linear(3, 2))


# %% wrapper_of_dict: equal, traces 2
class Settings(dict):
    def __getattr__(self, name):
        return self[name]


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.settings = Settings(scale=2.0, layers=Settings(n=2))

    def forward(self, x):
        for _ in range(self.settings.layers.n):
            x = x * self.settings.scale
        return x


make = Model


# %% hook_that_collects: equal, traces 2
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two, self.seen = nn.Linear(3, 4), nn.Linear(4, 2), {}
        for name in ("one", "two"):
            getattr(self, name).register_forward_hook(functools.partial(self.keep, name))

    def keep(self, name, module, args, output):
        self.seen[name] = output.detach()

    def forward(self, x):
        return self.two(self.one(x).relu())


make = Model


# %% tied_weights: equal, traces 2
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(5, 3)
        self.head = nn.Linear(3, 5, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, x):
        return self.head(x + self.embed(lt.tensor([0, 1, 2, 3])))


make = Model


# %% early_exit_by_config: equal, traces 2
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks, self.stop_at = nn.ModuleList(nn.Linear(3, 3) for _ in range(4)), 2

    def forward(self, x):
        for i, block in enumerate(self.blocks):
            if i == self.stop_at:
                return x
            x = block(x).relu()
        return x


make = Model


# %% outputs_as_a_named_tuple: equal, traces 2
import typing


class Output(typing.NamedTuple):
    logits: object
    hidden: object
    loss: object = None


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(3, 4), nn.Linear(4, 2)

    def forward(self, x, target=None):
        h = self.one(x).relu()
        y = self.two(h)
        loss = None if target is None else F.mse_loss(y, target)
        return Output(y, h, loss)


make = Model


# %% optional_mask: equal, traces 2
class Model(nn.Module):
    def forward(self, x, mask=None, *, scale=1.0):
        if mask is not None:
            x = x.masked_fill(mask, 0.0)
        return x * scale


make = Model


def calls(w):
    for i in range(6):
        x = lt.ones(4, 3) * i
        yield (x,) if i < 3 else ((x,), {"mask": x > 4, "scale": 1.0})


# %% property_of_the_module: equal, traces 2
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 2)

    @property
    def device(self):
        return next(self.parameters()).device

    @property
    def dtype(self):
        return next(self.parameters()).dtype

    def forward(self, x):
        return self.lin(x.to(self.device, self.dtype))


make = Model
