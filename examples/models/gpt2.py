"""GPT-2 (Radford and others 2019), 124M: trained on whole texts, decoded token by token.

`forward` gives the scores of the next word after every word. `decode` takes one word, and the keys
and values of those before it, which it does not compute again.
"""

import lathe as lt
from lathe import nn
from lathe.nn import functional as F


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def split(self, x):
        """q, k and v, each [batch, head, word, number]."""
        batch, length, _ = x.shape
        parts = self.qkv(x).split(x.shape[-1], dim=-1)
        return [p.reshape(batch, length, self.heads, -1).transpose(1, 2) for p in parts]

    def join(self, mixed):
        batch, heads, length, width = mixed.shape
        return self.out(mixed.transpose(1, 2).reshape(batch, length, heads * width))

    def forward(self, x):
        q, k, v = self.split(x)
        return self.join(F.scaled_dot_product_attention(q, k, v, is_causal=True))

    def decode(self, x, keys, values):
        """Also gives the key and the value of x."""
        q, k, v = self.split(x)
        keys, values = lt.cat([keys, k], dim=2), lt.cat([values, v], dim=2)
        return self.join(F.scaled_dot_product_attention(q, keys, values)), k, v


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def mlp(self, x):
        return self.down(F.gelu(self.up(x), approximate="tanh"))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))

    def decode(self, x, keys, values):
        mixed, k, v = self.attention.decode(self.norm1(x), keys, values)
        x = x + mixed
        return x + self.mlp(self.norm2(x)), k, v


class GPT2(nn.Module):
    def __init__(self, words=50257, length=1024, width=768, layers=12, heads=12):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.positions = nn.Embedding(length, width)
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        for name, p in self.named_parameters():
            if name.endswith("weight") and "norm" not in name:
                nn.init.normal_(p, std=0.02)

    def scores(self, x):
        return F.linear(self.norm(x), self.words.weight)

    def forward(self, tokens):
        x = self.words(tokens) + self.positions(lt.arange(tokens.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.scores(x)

    def decode(self, token, *cache):
        """token: [batch, 1]. cache: the keys and the values of the words before it, of each block
        in turn, [batch, head, word, number]. Gives the scores of the next word, [batch, word of the
        vocabulary], and what is to be added to each part of the cache."""
        place = lt.full([1], cache[0].shape[2], dtype=lt.int64)
        x = self.words(token) + self.positions(place)
        new = []
        for block, keys, values in zip(self.blocks, cache[::2], cache[1::2]):
            x, k, v = block.decode(x, keys, values)
            new += [k, v]
        return self.scores(x)[:, 0], *new

    def no_cache(self, batch):
        """The cache before the first word."""
        heads = self.blocks[0].attention.heads
        width = self.words.weight.shape[1] // heads
        return [lt.zeros([batch, heads, 0, width]) for _ in range(2 * len(self.blocks))]


class Decoder(nn.Module):
    """The model as a module whose call is one step of decoding, to be traced or frozen."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, token, *cache):
        return self.model.decode(token, *cache)


def generate(step, cache, token, count):
    """The likeliest words after token; step: a Decoder, also traced. Gives (words, cache)."""
    found = []
    for _ in range(count):
        scores, *new = step(token, *cache)
        cache = [lt.cat(pair, dim=2) for pair in zip(cache, new)]
        token = scores.argmax(-1).unsqueeze(1)
        found.append(token)
    return lt.cat(found, dim=1), cache


# name: (settings of the model, texts of a batch, words of a text)
SIZES = {
    "gpt2": ({}, 1, 256),
    "small_gpt2": ({"words": 40, "length": 24, "width": 16, "layers": 2, "heads": 2}, 2, 12),
}


def build(name="gpt2"):
    settings, _, _ = SIZES[name]
    return GPT2(**settings)


def batch(random, name="gpt2"):
    """(tokens, the next token of each), drawn by a NumPy generator."""
    settings, size, length = SIZES[name]
    codes = random.integers(0, settings.get("words", 50257), (size, length + 1))
    return lt.tensor(codes[:, :-1]), lt.tensor(codes[:, 1:])


def loss(model, tokens, wanted):
    return F.cross_entropy(model(tokens).flatten(0, 1), wanted.flatten())
