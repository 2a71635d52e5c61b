"""`logging` in captured code: levels are read, and what no level lets through costs nothing."""

import logging
import threading

import pytest
from script_checks import same

import lathe as lt

ways = pytest.mark.parametrize("way", [lt.trace, lt.script])


@pytest.fixture(autouse=True)
def _as_before():
    """Loggers of these tests are not there, and logging.disable() has said nothing."""
    manager = logging.root.manager
    names, root, made = list(manager.loggerDict), logging.root.level, logging.getLoggerClass()
    yield
    for name in set(manager.loggerDict) - set(names):
        del manager.loggerDict[name]
    logging.disable(logging.NOTSET)
    logging.root.setLevel(root)
    logging.setLoggerClass(made)


class World:
    """A logger below another one, by names of its own."""

    def __init__(self, name):
        self.above, self.name = logging.getLogger(name), f"{name}.inner"
        self.log = logging.getLogger(self.name)
        self.above.setLevel(logging.WARNING)
        self.adapter = logging.LoggerAdapter(self.log, {"n": 1})

    def asks(self, x):
        return x * (2 if self.log.isEnabledFor(logging.DEBUG) else 3)

    def asks_by_name(self, x):
        log = logging.getLogger(self.name)
        return x * (2 if log.isEnabledFor(logging.INFO) else 3), log is self.log

    def asks_an_adapter(self, x):
        return x * (2 if self.adapter.isEnabledFor(logging.INFO) else 3)

    def asks_a_child(self, x):
        child = self.above.getChild("inner")
        return x * (2 if child.isEnabledFor(15) else 3), child is self.log

    def asks_twice(self, x):
        levels = [k for k in (10, 20, 30, 40) if self.log.isEnabledFor(k)]
        return x * len(levels), levels, self.log.isEnabledFor(20)

    def reads_levels(self, x):
        found = self.log.getEffectiveLevel(), self.log.level, self.above.level
        return x + self.log.getEffectiveLevel(), found, logging.root.manager.disable

    def reads_handlers(self, x):
        return x * (2 if self.log.hasHandlers() else 3), len(self.above.handlers)

    def kept(self):
        """The answers that the loggers keep."""
        return dict(self.log._cache), dict(self.above._cache)


def set_directly(w):
    w.log.level = logging.DEBUG  # which leaves what is kept as it is


def replace(w):
    del logging.root.manager.loggerDict[w.name]
    logging.getLogger(w.name).setLevel(logging.DEBUG)


def below_another(w):
    w.log.parent = logging.Logger("elsewhere", logging.DEBUG)
    logging.root.manager._clear_cache()


CHANGES = {
    "level": lambda w: w.log.setLevel(logging.DEBUG),
    "level above": lambda w: w.above.setLevel(logging.DEBUG),
    "level and back": lambda w: (w.above.setLevel(10), w.above.setLevel(logging.WARNING)),
    "not set above": lambda w: (w.above.setLevel(logging.NOTSET), logging.root.setLevel(10)),
    "disable": lambda w: logging.disable(logging.CRITICAL),
    "disable little": lambda w: (w.log.setLevel(1), logging.disable(10)),
    "disabled": lambda w: (w.log.setLevel(1), setattr(w.log, "disabled", True)),
    "level itself": set_directly,
    "parent": below_another,
    "registry": replace,
    "class": lambda w: setattr(w.log, "__class__", Loud),
    "method": lambda w: setattr(w.log, "isEnabledFor", lambda level: True),
    "kept answers": lambda w: w.log._cache.update({10: True, 15: True, 20: True}),
    "handler": lambda w: w.log.addHandler(logging.NullHandler()),
    "handler above": lambda w: w.above.addHandler(logging.NullHandler()),
    "propagate": lambda w: setattr(w.log, "propagate", False),
    "another": lambda w: logging.getLogger(w.name + ".more"),
}
METHODS = [n for n in vars(World) if n.startswith(("asks", "reads"))]


class Loud(logging.Logger):
    def isEnabledFor(self, level):
        return level >= 15 or super().isEnabledFor(level)


@ways
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_changed_between_calls(way, method, change):
    seen = []
    for name, wrap in (("one", lambda f: f), ("two", way)):
        w, x = World(name), lt.arange(3.0)
        f, mine = wrap(getattr(w, method)), []
        for k in range(7):
            if k == 3:
                change(w)
            mine += [f(x), w.kept()]
        logging.disable(logging.NOTSET)
        logging.root.setLevel(logging.WARNING)
        w.log.setLevel(logging.ERROR)
        w.above.setLevel(logging.ERROR)
        mine += [f(x), w.kept(), f(x)]
        seen.append(mine)
    same(*seen)


@ways
def test_silent_messages(way, capsys):
    log = logging.getLogger("tests.silent")

    def f(x):
        log.debug("of shape %s", x.shape)
        log.info(f"a number {3.5}")
        logging.getLogger("tests.silent").info("%d", 3, stacklevel=2)
        log.log(5, "low", extra={"a": 1})
        return x * 2

    captured = way(f)
    log.setLevel(logging.WARNING)
    for n in (2, 2, 3, 3):
        same(captured(lt.ones(n)), f(lt.ones(n)))
    traces = captured.counts["traces"]
    for _ in range(5):
        logging.getLogger("tests.other").setLevel(logging.DEBUG)  # which clears what is kept
        captured(lt.ones(2))
        assert log._cache == {10: False, 20: False, 5: False}
    assert captured.counts["traces"] <= traces + 1
    assert capsys.readouterr() == ("", "")


def test_of_a_saved_program(tmp_path):
    log = logging.getLogger("tests.saved")
    log.setLevel(logging.WARNING)

    class Model(lt.nn.Module):
        def forward(self, x):
            log.debug("of shape %s", x.shape)
            return x * 2

    x = lt.ones(2)
    lt.save(Model(), tmp_path / "m.lathe", inputs=(x,))
    same(lt.load(tmp_path / "m.lathe")(x), x * 2)
    same(lt.freeze(Model(), x)(x), x * 2)


@ways
def test_made_at_the_first_call(way):
    made = []

    class Own(logging.Logger):
        def __init__(self, name):
            super().__init__(name)
            made.append(name)

    def f(x, name):
        log = logging.getLogger(name)
        log.debug("never")
        return x * (2 if log.isEnabledFor(logging.WARNING) else 3), log

    logging.getLogger("tests.made.a.b")  # below it is a place that is taken
    logging.setLoggerClass(Own)
    captured = way(f)
    for name in ("tests.made", "tests.made.a", "tests.made.a.b.c"):
        for _ in range(3):
            y, log = captured(lt.ones(2), name)
            same(y, lt.ones(2) * 2)
            assert logging.root.manager.loggerDict[name] is log is logging.getLogger(name)
    assert made == ["tests.made", "tests.made.a", "tests.made.a.b.c"]
    assert logging.getLogger("tests.made.a.b").parent.name == "tests.made.a"


def test_several_threads_change_levels():
    log = logging.getLogger("tests.threads")
    log.setLevel(logging.WARNING)
    captured = lt.trace(lambda x: x * (2 if log.isEnabledFor(logging.DEBUG) else 3))
    over, failed = threading.Event(), []

    def change():
        while not over.is_set():
            try:
                log.setLevel(logging.WARNING)
                log.setLevel(logging.DEBUG)
            except Exception as e:  # noqa: BLE001, code with hooks runs here, too
                failed.append(e)
                raise

    thread = threading.Thread(target=change)
    thread.start()
    for _ in range(300):
        try:
            assert captured(lt.ones(1)).item() in (2, 3)
        except lt.TraceError as e:  # the level was set in the middle of a capture
            assert "is not there any more when it has run" in str(e)
    over.set()
    thread.join()
    assert not failed
    captured(lt.ones(1))
    assert log._cache.get(logging.DEBUG) in (None, True)  # no stale answer has stayed
    same(captured(lt.ones(1)), lt.ones(1) * 2)


class Counting(logging.Logger):
    def getEffectiveLevel(self):
        self.asked = getattr(self, "asked", 0) + 1
        return super().getEffectiveLevel()


own = threading.RLock()
counting = Counting("tests.counting", 30)


def asks_one_that_counts(x):
    return x * (2 if counting.isEnabledFor(15) else 3)


def takes_its_own(x):
    with own:
        return x * 2


def takes_that_of_logging(x):
    with logging._lock:
        return x * 2


def sets_a_level(x):
    logging.getLogger("tests.refused").setLevel(10)
    return x * 2


def adds_a_handler(x):
    logging.getLogger("tests.refused").addHandler(logging.NullHandler())
    return x * 2


def disables(x):
    logging.disable(50)
    return x * 2


def looks_first(x):
    if "tests.unknown" not in logging.root.manager.loggerDict:
        logging.getLogger("tests.unknown")
        return x * 3
    return x * 2


def changes_what_it_asks(x):
    log = logging.getLogger("tests.refused")
    log.level = 10
    return x * (2 if log.isEnabledFor(15) else 3)


REFUSED = {
    asks_one_that_counts: "a logger has a getEffectiveLevel of its own",
    takes_its_own: "RLock",
    takes_that_of_logging: "RLock",
    sets_a_level: "_clear_cache.* takes a lock of `logging`",
    adds_a_handler: "takes a lock of `logging`",
    disables: "takes a lock of `logging`",
    looks_first: "is a logger 'tests.unknown'|guard that does not hold: .*loggerDict",
    changes_what_it_asks: "a logger is changed by the traced code",
}


@ways
@pytest.mark.parametrize("f", REFUSED)
def test_refused(way, f):
    log = logging.getLogger("tests.refused")
    logging.disable(logging.NOTSET)
    log.setLevel(logging.WARNING)
    for _ in range(2):
        with pytest.raises(lt.TraceError, match=REFUSED[f]):
            way(f)(lt.ones(2))
        logging.root.manager.loggerDict.pop("tests.unknown", None)
    assert log.level == logging.WARNING and not log.handlers and not log.isEnabledFor(15)
    assert logging.root.manager.disable == 0
    assert logging._lock.acquire(blocking=False) and own.acquire(blocking=False)
    logging._lock.release(), own.release()
    assert "asked" not in vars(counting)
    assert "unlocked" in repr(logging._lock)
