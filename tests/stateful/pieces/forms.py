"""The outside of a program: how the step is reached, what it is given, and what it gives."""

from dataclasses import dataclass

from .part import named


@dataclass(frozen=True)
class Arguments:
    """parameters of the step, the lines that make `x` and `y` of them, and variants of what a call
    passes. In these, X stands for a fresh tensor."""

    features: frozenset
    parameters: str
    begin: str
    variants: tuple
    top: str = ""


ARGUMENTS = [
    Arguments(named("plain arguments"), "x", "y = x", ("(X,)", "(X,)", "(X,)")),
    Arguments(
        named("numbers as arguments"), "x, k=1.0", "y = x * k",
        ("(X,)", "(X, SMALL)", '((X,), {"k": SMALL})', "(X, 2)", "(X, True)"),
    ),
    Arguments(
        named("nested arguments"), "pair", "x = pair[0]\ny = x + pair[1]",
        ("((X, X),)", "((X, 1.0),)", "([X, X],)"),
    ),
    Arguments(
        named("nested arguments"), "batch", 'x = batch["x"]\ny = x * batch.get("scale", 1.0)',
        ('({"x": X},)', '({"x": X, "scale": SMALL},)', '({"scale": SMALL, "x": X, "more": None},)'),
    ),
    Arguments(
        named("nested arguments"), "xs", "x = y = xs[0]\nfor t in xs[1:]:\n    y = y + t",
        ("([X],)", "([X, lt.ones(1)],)", "((X,),)"),
    ),
    Arguments(
        named("optional arguments"), "x, mask=None", "y = x if mask is None else x * mask",
        ("(X,)", "(X, None)", "(X, lt.tensor([1.0, 0.0, 1.0, 1.0]))", '((X,), {"mask": 0.5})'),
    ),
    Arguments(
        named("packed arguments"), "*xs, **options",
        'x = y = xs[0]\ny = y * options.get("scale", 1.0) + len(xs) + len(options)',
        ("(X,)", "(X, None)", '((X,), {"scale": SMALL})', '((X, 1), {"scale": SMALL, "a": 0})'),
    ),
    Arguments(
        named("named tuples, nested arguments"), "batch", "x = batch.x\ny = x + batch.n",
        ("(Batch(X, 1),)", "(Batch(X, 2.0),)", "(Batch(n=0, x=X),)"),
        top='Batch = collections.namedtuple("Batch", "x n")',
    ),
    Arguments(
        named("dataclasses, nested arguments"), "batch", "x = batch.x\ny = x * batch.scale",
        ("(Batch(X),)", "(Batch(X, SMALL),)"),
        top="@dataclasses.dataclass\nclass Batch:\n    x: object\n    scale: float = 1.0",
    ),
    Arguments(
        named("strings as arguments"), 'x, how="sum"', "y = x + getattr(x, how)()",
        ("(X,)", '(X, "mean")', '((X,), {"how": "amax"})'),
    ),
    Arguments(
        named("shared arguments"), "x, other", "y = x + other",
        ("(X, X)", "twice(X)", "overlapping(X)"),
        top="def twice(t):\n    return t, t\n\n\ndef overlapping(t):\n    return t, t[..., :1]",
    ),
    Arguments(
        named("dtypes and layouts"), "x", "y = x",
        ("(X,)", "(X.to(lt.float64),)", "(X.t().contiguous().t(),)", "(X[:1],)"),
    ),
]  # fmt: skip

# (features, text of the return)
RESULTS = [
    ("", "return y"),
    ("", "return y"),
    ("nested results", "return y, out"),
    ("nested results", 'return {"y": y, "out": out, "n": len(out)}'),
    ("nested results, results without tensors", 'return [y, None, "done", 3.5, (True, out)]'),
    ("nested results, named tuples", "return Result(y, out)"),
    ("results without tensors, effect: attributes", "w.answer = y\nreturn None"),
    ("results without tensors", "return len(out) + 0.5, out"),
    ("results without tensors", 'return f"{len(out)} parts", y'),
    ("one object twice in a result", "return [y, y, (out, out)]"),
    ("nested results, dataclasses", "return Answer(y, out)"),
    ("an argument as a result", "return x, y"),
    (
        "state as a result, effect: attributes",
        "w.last = y\nreturn w.last, w.__dict__.get('count_of_calls', 0)",
    ),
    ("results without tensors", "return bool(out), len(y.shape), out"),
]
RESULT_TOP = """
Result = collections.namedtuple("Result", "y out")


@dataclasses.dataclass
class Answer:
    y: object
    out: list
"""


@dataclass(frozen=True)
class Style:
    """How the step reaches the world. world: its class. PARAMETERS, BODY: of the step."""

    features: frozenset
    world: str
    step: str
    target: str = ""


PLAIN_WORLD = "class World:\n    pass"
IN_GLOBALS = """
THE = []


def step(PARAMETERS):
    w = THE[-1]
BODY
""".strip()
AS_SELF = """
class World:
    def step(self, PARAMETERS):
        w = self
BODY2
""".strip()
IN_A_CLOSURE = """
def make_step(w):
    def step(PARAMETERS):
BODY2

    return step
""".strip()
AS_A_MODULE = """
class World(lt.nn.Module):
    def forward(self, PARAMETERS):
        w = self
BODY2
""".strip()
AS_AN_ARGUMENT = "def step(w, PARAMETERS):\nBODY"


def style(features, world, step, target=""):
    return Style(named(features), world, step, target)


STYLES = [
    style("the world as an argument", PLAIN_WORLD, AS_AN_ARGUMENT),
    style("the world in globals, globals", PLAIN_WORLD, IN_GLOBALS, "THE.append(w)\nreturn step"),
    style("the world as self", "", AS_SELF, "return w.step"),
    style("the world in a closure, closures", PLAIN_WORLD, IN_A_CLOSURE, "return make_step(w)"),
    style("the world as a module, modules", "", AS_A_MODULE, "return w"),
    style(
        "the world in a partial, partial",
        PLAIN_WORLD,
        AS_AN_ARGUMENT,
        "return functools.partial(step, w)",
    ),
]
