"""Messages that captured code logs: each run makes them, with the line that eager code gives."""

import functools
import io
import logging

import pytest
from script_checks import same

import lathe as lt

ways = pytest.mark.parametrize("way", [lt.trace, lt.script])
log = logging.getLogger("tests.messages")
adapter = logging.LoggerAdapter(log, {"rank": 3})
weight = lt.ones(2, requires_grad=True)


class Holder:
    n = 0


holder = Holder()


def plain(x):
    log.info("a text")
    return x * 2


def tensors(x):
    log.info("%s and %d of %s", x.sum(), x.shape[0], [x, 2.5])
    return x * 2


def formatted(x):
    log.debug(f"sum {x.sum():.2f}")
    print("between")
    log.warning("with a history: %s", (weight * x).sum())
    return x * 2


def helper(x):
    log.info("for who calls: %s", x.max(), stacklevel=2)


def by_helper(x):
    helper(x)
    (lambda: log.error("in a lambda"))()
    return x


def by_adapter(x):
    adapter.info("%(a)s", {"a": x.max()})
    return x


def no_text(x):
    log.log(15, x)
    log.critical((1, 2))
    return x


def before_and_after(x):
    x = x + 1
    log.info("%s", x)
    x += 1
    log.info("%s", x)
    return x


FUNCTIONS = [plain, tensors, formatted, by_helper, by_adapter, no_text, before_and_after]


class Keeping(logging.Handler):
    def __init__(self):
        super().__init__()
        self.kept = []

    def emit(self, record):
        where = record.filename, record.lineno, record.funcName, getattr(record, "rank", None)
        self.kept.append((record.levelname, record.getMessage(), record.msg, where))
        self.kept.append([type(a) for a in record.args if type(a) in (int, float, list)])


@pytest.fixture
def out():
    """What the logger has written; it is as before in the end."""
    text = io.StringIO()
    handler = logging.StreamHandler(text)
    handler.setFormatter(logging.Formatter("%(levelname)s %(lineno)d %(funcName)s %(message)s"))
    log.addHandler(handler)
    log.propagate = False
    yield text
    for h in list(log.handlers):
        log.removeHandler(h)
    for f in list(log.filters):
        log.removeFilter(f)
    log.setLevel(logging.NOTSET)
    log.propagate, log.disabled = True, False


def silence(record):
    return "text" not in record.msg if isinstance(record.msg, str) else True


CHANGES = [
    lambda: None,
    lambda: log.setLevel(logging.ERROR),
    lambda: log.setLevel(logging.INFO),
    lambda: log.addFilter(silence),
    lambda: log.handlers[0].setLevel(logging.WARNING),
    lambda: log.removeFilter(silence),
    lambda: log.addHandler(Keeping()),
    lambda: log.setLevel(1),
    lambda: setattr(log, "disabled", True),
    lambda: setattr(log, "disabled", False),
    lambda: logging.disable(logging.CRITICAL),
    lambda: logging.disable(logging.NOTSET),
]


@ways
@pytest.mark.parametrize("f", FUNCTIONS)
def test_as_eager_code(way, f, out, capsys):
    seen = []
    for form in (f, way(f)):
        out.truncate(0), out.seek(0), log.setLevel(10), log.handlers[0].setLevel(0)
        log.handlers[1:] = []
        for k, change in enumerate(CHANGES):
            change()
            for _ in range(2):
                form(lt.arange(2.0) + k)
        seen.append((out.getvalue(), log.handlers[1].kept, capsys.readouterr().out))
    same(*seen)
    assert seen[0][0] and seen[0][1]


def test_few_traces(out):
    log.setLevel(logging.INFO)
    captured = lt.trace(tensors)
    for n in range(2, 9):
        captured(lt.arange(float(n)))
        log.addHandler(logging.NullHandler())  # no guard: each run looks for handlers
    assert captured.counts["traces"] == 2  # whether it is enabled was first asked, then kept
    assert len(out.getvalue().splitlines()) == 7


def as_data_decides(x):
    if x.sum() > 3:
        log.warning(f"much: {x.sum()}")
    while x.sum() > 8:
        x = x / 2
        log.warning("less: %s", x)
    return x


def asks_before(x):
    log.isEnabledFor(logging.WARNING)
    return as_data_decides(x)


@pytest.mark.parametrize("f", [as_data_decides, asks_before])
def test_where_data_decides(f, out):
    captured, said = lt.script(f), []
    if f is as_data_decides:
        with pytest.raises(lt.TraceError, match="for the first time in a part that data decides"):
            captured(lt.ones(2))
        log.isEnabledFor(logging.WARNING)
    numbers = (0.0, 1.0, 5.0, 0.0, 7.0, 30.0)
    for form in (captured, f):
        out.truncate(0), out.seek(0)
        said.append([form(lt.ones(2) * k) for k in numbers] + [out.getvalue()])
    same(*said)
    assert "as_data_decides much: 60.0" in out.getvalue()


@functools.cache
def says_once(text):
    log.warning(text)


@functools.cache
def doubles(n):
    return n * 2


@functools.cache
def notes(n):
    seen.append(n)


seen = []


@ways
def test_what_is_remembered(way, out):
    same(way(lambda x: x * doubles(3))(lt.ones(2)), lt.ones(2) * 6)
    with pytest.raises(lt.TraceError, match="remembers what it gave, and does more"):
        way(lambda x: (says_once("hi"), x)[1])(lt.ones(2))
    with pytest.raises(lt.TraceError, match="remembers what it gave, and does more"):
        way(lambda x: (notes(3), x)[1])(lt.ones(2))
    assert not out.getvalue() and not seen


def of_an_object(x):
    log.info("%s", holder)
    return x


def after_a_change(x):
    holder.n += 1
    log.info("%d", holder.n)
    return x


def with_an_exception(x):
    try:
        raise ValueError("no")
    except ValueError:
        log.exception("caught")
    return x


def for_a_line_outside(x):
    log.info("a text", stacklevel=5)
    return x


@ways
@pytest.mark.parametrize(
    ("f", "problem"),
    [
        (of_an_object, "a message that is logged has a Holder in it"),
        (after_a_change, "a message that is logged comes after a change of Python state"),
        (with_an_exception, "with an exception or a stack"),
        (for_a_line_outside, "for a line that is not in the traced function"),
    ],
)
def test_refused(way, f, problem, out):
    log.setLevel(logging.INFO)
    holder.n = 0
    with pytest.raises(lt.TraceError, match=problem) as caught:
        way(f)(lt.ones(2))
    assert "test_logged_messages.py" in str(caught.value)
    assert not out.getvalue() and holder.n == 0
    log.setLevel(logging.CRITICAL)
    same(way(f)(lt.ones(2)), lt.ones(2))
