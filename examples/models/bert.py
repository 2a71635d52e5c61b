"""BERT (Devlin and others 2018): the encoders BERT-base and MiniLM-L6, and a head to train them."""

import math

import lathe as lt
from lathe import nn
from lathe.nn import functional as F


class SelfAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.out = nn.Linear(width, width)
        self.dropout = nn.Dropout(0.1)

    def split(self, x):
        batch, length, width = x.shape
        return x.reshape(batch, length, self.heads, width // self.heads).transpose(1, 2)

    def forward(self, x, mask):
        q, k, v = (self.split(part(x)) for part in (self.query, self.key, self.value))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]) + mask
        context = self.dropout(F.softmax(scores, dim=-1)) @ v
        return self.out(context.transpose(1, 2).reshape(x.shape))


class Layer(nn.Module):
    def __init__(self, width, heads, inner):
        super().__init__()
        self.attention = SelfAttention(width, heads)
        self.norm1 = nn.LayerNorm(width, eps=1e-12)
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)
        self.norm2 = nn.LayerNorm(width, eps=1e-12)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x, mask):
        x = self.norm1(x + self.dropout(self.attention(x, mask)))
        return self.norm2(x + self.dropout(self.down(F.gelu(self.up(x)))))


class Bert(nn.Module):
    """Gives the last layer's words, and the first of them through the pooler."""

    def __init__(self, words=30522, width=768, layers=12, heads=12, inner=3072, length=512):
        super().__init__()
        self.words = nn.Embedding(words, width, padding_idx=0)
        self.positions = nn.Embedding(length, width)
        self.kinds = nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.dropout = nn.Dropout(0.1)
        self.layers = nn.ModuleList([Layer(width, heads, inner) for _ in range(layers)])
        self.pooler = nn.Linear(width, width)
        for name, p in self.named_parameters():
            if name.endswith("weight") and "norm" not in name:
                nn.init.normal_(p, std=0.02)

    def forward(self, tokens, kinds, mask):
        places = lt.arange(tokens.shape[1]).unsqueeze(0)
        x = self.words(tokens) + self.positions(places) + self.kinds(kinds)
        x = self.dropout(self.norm(x))
        mask = (1.0 - mask[:, None, None, :]) * -10000.0
        for layer in self.layers:
            x = layer(x, mask)
        return x, lt.tanh(self.pooler(x[:, 0]))


# name: (settings of the model, texts of a batch, words of a text)
SIZES = {
    "bert_base": ({}, 1, 128),
    "minilm": ({"width": 384, "layers": 6, "inner": 1536}, 1, 128),
    "small_bert_base": (
        {"words": 50, "width": 24, "layers": 2, "heads": 3, "inner": 48, "length": 16},
        2,
        10,
    ),
    "small_minilm": (
        {"words": 50, "width": 12, "layers": 3, "heads": 2, "inner": 20, "length": 16},
        2,
        10,
    ),
}


def build(name="bert_base"):
    settings, _, _ = SIZES[name]
    return Bert(**settings)


def batch(random, name="bert_base"):
    """(tokens, whether of the first or second part, 1 where there is a word), of whole texts, and
    the tokens to find again, drawn by a NumPy generator."""
    settings, size, length = SIZES[name]
    tokens = lt.tensor(random.integers(1, settings.get("words", 30522), (size, length)))
    return tokens, lt.zeros([size, length], dtype=lt.int64), lt.ones([size, length]), tokens


def loss(model, tokens, kinds, mask, wanted):
    """Of every seventh word, hidden and found again by the embedding's own weights."""
    seen = tokens.clone()
    seen[:, 3::7] = 1
    words, _ = model(seen, kinds, mask)
    scores = words[:, 3::7] @ model.words.weight.t()
    return F.cross_entropy(scores.flatten(0, 1), wanted[:, 3::7].flatten())
