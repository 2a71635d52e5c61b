"""The traceback of a refusal ends at the user's line, without the capture's own."""

import traceback

import pytest

import lathe as lt
from lathe import nn


def files(problem):
    return [e.filename for e in traceback.extract_tb(problem.__traceback__)]


def lines(problem):
    return [e.line for e in traceback.extract_tb(problem.__traceback__)]


def decides(x):
    y = x * 2
    return inner(y)


def inner(y):
    if y.sum() > 1:  # decided here
        return y
    return -y


def returns_in_a_loop(x):
    return writes_text(x)


def writes_text(x):
    return x * len(str(x * 2).upper())  # refused here


class Net(nn.Module):
    def forward(self, x):
        return inner(x)


CALLS = {
    "trace": (lambda x: lt.trace(decides)(x), "decided here"),
    "module": (lambda x: lt.trace(Net())(x), "decided here"),
    "freeze": (lambda x: lt.freeze(Net(), x), "decided here"),
    "nested": (lambda x: lt.trace(lt.trace(decides))(x), "decided here"),
    "script": (lambda x: lt.script(returns_in_a_loop)(x), "refused here"),
}


@pytest.mark.parametrize("call, where", CALLS.values(), ids=CALLS)
def test_the_users_line_is_last(call, where):
    with pytest.raises((lt.TraceError, lt.ScriptError)) as found:
        call(lt.ones(3))
    problem = found.value
    assert where in lines(problem)[-1]
    assert files(problem)[-1] == __file__
    # Only what the user called, whose frame Python itself adds.
    assert sum("/lathe/jit/" in name for name in files(problem)) <= 2
    own = [line for line in lines(problem) if f"# {where}" in line]
    assert len(own) == 1
    assert problem.__suppress_context__ or problem.__context__ is None


def test_the_flag_shows_all():
    lt.set_flag("whole_tracebacks", True)
    try:
        with pytest.raises(lt.TraceError) as found:
            lt.trace(decides)(lt.ones(3))
    finally:
        lt.set_flag("whole_tracebacks", False)
    assert sum("/lathe/jit/" in name for name in files(found.value)) > 4


def test_an_error_of_the_code_itself_keeps_its_lines():
    def f(x):
        return {}["none"] * x

    with pytest.raises(KeyError) as found:
        lt.trace(f)(lt.ones(3))
    assert lines(found.value)[-1] == 'return {}["none"] * x'


def test_a_defect_of_the_capture_keeps_all_lines(monkeypatch):
    from lathe.jit.observe.capture import Capture

    monkeypatch.setattr(Capture, "_results", 5)
    with pytest.raises(lt.TraceError, match="the function itself does not raise") as found:
        lt.trace(lambda x: x * 2)(lt.ones(3))
    defect = found.value.__cause__
    assert isinstance(defect, TypeError)
    assert files(defect)[-1].endswith("/lathe/jit/observe/capture.py")


def test_what_the_user_was_handling_is_shown():
    def f(x):
        try:
            {}["none"]
        except KeyError:
            return decides(x)

    with pytest.raises(lt.TraceError) as found:
        lt.trace(f)(lt.ones(3))
    problem = found.value
    assert isinstance(problem.__context__, KeyError) and not problem.__suppress_context__
