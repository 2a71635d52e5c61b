"""What a step does with a value that it reads (R), by the value's kind; literals of each kind."""

from .part import NUMBERS, SMALL, WORDS

FUNCTIONS = ("lt.tanh", "lt.sin", "halved", "shifted", "lambda t: t * 3", "lambda t: t + 0.25")


def numbers(r, least=0):
    return ", ".join(r.choice(SMALL) for _ in range(r.randrange(least, 4)))


# kind: (literal, uses)
KINDS = {
    "number": (
        lambda r: r.choice(NUMBERS),
        [
            "y = y * R",
            "y = y + R",
            "if R > 1:\n    y = y + 1\nelse:\n    y = y - 1",
            "y = y.clamp(-1 - abs(R), 1 + abs(R))",
            "y = lt.full_like(y, R) + y",
            "out.append(R)",
            "y = y + math.floor(R)",
            "y = lt.where(y > R, y, y * 0.5)",
            "y = y + lt.tensor([R])",
            "y = y * (R or 4.0)",
            "y = y + round(R, 1) if R != 0 else y",
            "v = R\ny = y + v * v\nout.append(v)",
        ],
    ),
    "count": (
        lambda r: str(r.randrange(4)),
        [
            "for _ in range(R):\n    y = y + 0.5",
            "y = y.roll(R, -1)",
            "y = y + y[..., R % 4].unsqueeze(-1)",
            "y = y ** R",
            "out.append([R] * 2)",
            "y = y * (1 << R)",
            "i = 0\nwhile i < R:\n    y = y * 0.5\n    i += 1",
            "y = y + lt.arange(4)[: R + 1].sum()",
            "out.append(divmod(R, 3))",
        ],
    ),
    "word": (
        lambda r: r.choice(WORDS),
        [
            "y = getattr(lt, R)(y)",
            'y = {"tanh": lt.tanh, "sin": lt.sin}.get(R, lt.neg)(y)',
            'if R == "relu":\n    y = y.relu()',
            'v = R\nout.append(f"{v}!")',
            "y = y * len(R)",
            'if R.startswith("t") or R in ("abs", "exp"):\n    y = -y',
            'out.append("-".join([R, "end"]).upper())',
            'out.append("{} {:>6}".format(R, R[:2]))',
            'match R:\n    case "tanh" | "sin":\n        y = y + 1\n    case _:\n        y = y - 1',
            "if (word := R) != 'abs':\n    out.append(word)",
        ],
    ),
    "flag": (
        lambda r: r.choice(("True", "False")),
        [
            "if R:\n    y = -y",
            "y = y * 2 if not R else y",
            "out.append(R)",
            "y = y + (R and 1.0)",
            "y = y + int(R)",
        ],
    ),
    "tensor": (
        lambda r: f"lt.tensor([{r.choice(SMALL)}])",
        [
            "y = y * R",
            "y = y + R.sum()",
            "out.append(R * 2)",
            "out.append(R)",
            "y = y + R.shape[0] * R",
            "y = lt.maximum(y, R)",
            "R.add_(0.5)\ny = y + R",
            "R.mul_(0.5)",
            "y = y.to(R.dtype) + R",
        ],
    ),
    "function": (
        lambda r: r.choice(FUNCTIONS),
        [
            "y = R(y)",
            "y = R(R(y))",
            "out.append(R(y).sum())",
            "y = functools.reduce(lambda a, f: f(a), [R, lt.sin], y)",
        ],
    ),
    "items": (
        lambda r: f"[{numbers(r, 1)}]",
        [
            "for v in R:\n    y = y * v",
            "y = y + sum(R)",
            "y = y + len(R)",
            "y = y + sorted(R)[0]",
            "y = y + max(R, key=lambda v: -v)",
            "out.append([v for v in R if v > 1])",
            "for i, v in enumerate(R):\n    y = y + i * v",
            "y = y + lt.tensor(R).sum()",
            "first, *rest = R\ny = y * first\nout.append(rest)",
            "for a, b in zip(R, reversed(R)):\n    y = y + a * b",
            "y = y + (min(R) if 2.0 in R else 7.0)",
            "out.append(R)",
            "R.append(0.5)\ny = y + len(R)",
            "y = y + sum(map(abs, filter(None, R)))",
            "out.append({v: i for i, v in enumerate(R)})",
        ],
    ),
    "table": (
        lambda r: "{" + ", ".join(f'"{k}": {r.choice(SMALL)}' for k in r.sample("abc", 2)) + "}",
        [
            'y = y * R.get("a", 1.0)',
            "for k, v in R.items():\n    y = y + v * len(k)",
            'if "c" in R:\n    y = y + 1',
            "out.append(list(R))",
            "y = y + sum(R.values())",
            'R["d"] = 0.5\ny = y + len(R)',
            "out.append({**R, 'e': 1})",
            "out.append(sorted(R, key=R.get))",
        ],
    ),
}
TOP = """
def halved(t):
    return t * 0.5


def shifted(t):
    return t + 1
"""
USE_FEATURES = {  # by a piece of the use's text
    'f"{v}': "f-strings",
    ".format(": "f-strings",
    "sorted(": "sorting with keys",
    "key=": "sorting with keys",
    ".add_(": "in-place writes",
    ".mul_(": "in-place writes",
    "R.append(": "effect: lists",
    '["d"] = ': "effect: dicts",
}
