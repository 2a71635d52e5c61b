"""Exceptions of scripts: caught as eager code catches them, and raised where data decides."""

import pytest
from script_checks import check, f32, same

import lathe as lt


def outcomes(function, *calls):
    """What each call gives or raises, and what it wrote, is as in eager code."""
    scripted = lt.script(function)
    for call in calls:
        found = []
        for f in (scripted, function):
            lt.manual_seed(7)
            args = [a.clone() for a in call]
            try:
                found.append(("gave", f(*args), args))
            except Exception as e:
                found.append((type(e), str(e).partition("\n")[0], args))
            found[-1] += (lt.rand(2),)
        assert found[0][0] == found[1][0], found
        same(found[0][1:], found[1][1:])
    return scripted


def test_errors_of_shapes_are_caught():
    def f(x, y):
        try:
            z = x + y
            how = 0
        except (lt.ShapeError, ValueError) as e:
            z = x * 2
            how = len(type(e).__name__)
        else:
            how = how + 1
        finally:
            x = x - 1
        return z, how, x

    check(f, (f32(1, 2), f32(1, 2)), (f32(1, 2), f32(1, 2, 3)), (f32(1, 2), f32(3)))


def test_errors_that_the_code_raises_itself_are_caught():
    class Stop(Exception):
        pass

    def helper(x, n):
        if n > 2:
            raise Stop(n)
        return x * n

    def f(x, n: int):
        out = []
        for k in range(n):
            try:
                out.append(helper(x, k))
            except Stop as e:
                out.append(x + e.args[0])
                break
            finally:
                out.append(k)
        if x.sum() > 0:
            try:
                y = helper(x, n)
            except Stop:
                y = x * 0
        else:
            y = x
        return out, y

    check(f, (f32(1), 2), (f32(1), 5), (f32(-1), 5))


def test_a_missing_key():
    table = {"a": 2.0}

    def f(x, key):
        try:
            return x * table[key]
        except KeyError:
            return x

    check(f, (f32(1), "a"), (f32(1), "b"))


def test_raising_under_a_condition_of_data():
    def f(x):
        x.add_(1)
        if x.sum() > 10:
            raise ValueError(f"too large: {x.sum().item()}")
        return x * lt.rand(2)

    s = outcomes(f, (f32(1, 2),), (f32(9, 2),), (f32(0, 0),))
    assert s.counts["traces"] == 1
    assert "1 calls ran as they are: ScriptError: script: eager code raises" in s.explain(
        verbose=True
    )


def test_asserts_with_messages():
    def f(x):
        y = x if x[0] > 0 else None
        assert x.sum() < 10, f"sum {x.sum().item()}"
        assert y is not None, "nothing"
        return y * 2

    outcomes(f, (f32(1, 2),), (f32(9, 2),), (f32(-1, 0),), (f32(3, 0),))


def test_raising_in_every_place():
    def check_sign(x):
        if x[0] < 0:
            raise ArithmeticError("negative")
        return x + 1

    def f(x):
        r = x * 0
        if x.sum() > 5:
            if x[1] > 5:
                raise ValueError("one")
            elif x[1] > 4:  # noqa: RET506
                raise KeyError("two")
            else:
                r = check_sign(x)
        else:
            for i in range(3):
                if x[0] == i:
                    raise IndexError(i)
                if x[1] == 1:
                    break
                r = r + x
        n = 0
        while r.sum() < 20 and n < 5:
            n += 1
            r = r * 2 + 1
            assert r[0] != 7, "seven"
        return r

    values = (-1, 0, 1, 2.5, 4.5, 7, 20)
    s = outcomes(f, *[(f32(a, b),) for a in values for b in values])
    assert s.counts["traces"] == 1


def test_catching_what_data_raises():
    def f(x):
        try:
            if x.sum() > 3:
                raise ValueError
            y = x + 1
        except ValueError:
            y = x * 0
        return y

    def division(x):
        try:
            return 10 // x.to(lt.int64)
        except ValueError:
            return x

    for g in (f, division):
        outcomes(g, (f32(1, 2),), (f32(2, 2),), (f32(0, 1),), (f32(1, 1),))


def test_what_leaves_a_part_that_data_decides_about_is_not_caught_outside():
    def f(x):
        y = x
        try:
            if x.sum() > 3:
                y = x + lt.ones(5)
        except (ValueError, lt.ShapeError):
            y = x * 0
        return y

    with pytest.raises(lt.TraceError, match="the function itself does not raise"):
        lt.script(f)(f32(1, 1))


def test_both_branches_raise():
    def f(x):
        if x.sum() > 3:
            raise ValueError("one")
        raise KeyError("two")

    outcomes(f, (f32(1, 2),), (f32(2, 2),))


def test_an_error_of_plain_python_comes_where_data_leads_to_it():
    def f(x):
        if x.sum() > 0:
            x = x + [1, 2][5]
        return x

    outcomes(f, (f32(1, 2),), (f32(-2, 1),))

    def g(x):
        for i in range(3):
            x = x + (1 / (1 - i) if x.sum() > 3 else {0: 1.0, 1: 2.0}[i])
        return x

    outcomes(g, (f32(1, 2),), (f32(-20, 1),), (f32(2, 2),))

    def h(x):
        if x.sum() > 3:
            a, b = [1, 2, 3]
            return x + a + b
        return x + (1 if x[0] > 0 else [5].index(7))

    outcomes(h, (f32(1, 1),), (f32(-20, 1),), (f32(2, 2),))


def test_another_error_of_a_part_that_data_decides_about_is_refused():
    def f(x):
        if x.sum() > 0:
            x = x + len(5)
        return x

    with pytest.raises(lt.ScriptError, match="an exception in a part that data decides"):
        lt.script(f)(f32(1, 2))


def test_a_writer_that_fails_leaves_what_eager_leaves():
    def f(x, y):
        y.mul_(2)
        if x.sum() > 3:
            y.add_(1)
            raise ValueError("late")
        y.sub_(1)
        return x

    outcomes(f, (f32(1), f32(1)), (f32(5), f32(1)))


def said(capsys, f, *args):
    """What a call gives or raises, what it prints, and what its argument holds afterwards."""
    args = [a.clone() for a in args]
    try:
        out = f(*args).tolist()
    except Exception as e:
        out = f"{type(e).__name__}: {e}"
    return out, capsys.readouterr().out, [a.tolist() for a in args]


def test_prints_before_an_exception_are_made_once(capsys):
    def straight(x):
        print("in", x)
        x += 1
        assert x.sum() > 0, f"{x.sum()}"
        print("out", x)
        return x * 2

    def loops(x):
        while x.sum() < 10:
            print("round", x)
            assert x.sum() > 0
            x = x * 2 + 1
            print("then", x)
        print("end")
        return x

    def branches(x):
        print("first")
        if x[0] > 0:
            print("positive")
            if x[1] > 5:
                raise ValueError(f"large: {x[1]}")
        else:
            print("other")
        assert x[1] != 3
        return x

    rows = [(1, 1), (-1, -1), (4, 6), (-2, 3), (2, 3), (20, 1), (0, 9)]
    for f in (straight, loops, branches):
        scripted = lt.script(f)
        for row in rows:
            x = lt.tensor([float(v) for v in row])
            assert said(capsys, scripted, x) == said(capsys, f, x), (f.__name__, row)
        assert scripted.counts["traces"] == 1


def test_prints_before_an_error_of_an_op_are_made(capsys):
    def f(x, i):
        print("in", i)
        assert x.sum() > 0
        return x.index_select(0, i)

    scripted = lt.script(f)
    assert scripted(lt.ones(3), lt.tensor([1])).tolist() == [1]
    capsys.readouterr()
    for _ in range(2):
        with pytest.raises(lt.IndexError):
            scripted(lt.ones(3), lt.tensor([7]))
        assert capsys.readouterr().out == "in tensor([7])\n"
    scripted(lt.ones(3), lt.tensor([0]))
    assert capsys.readouterr().out == "in tensor([0])\n", "and nothing of the call before"


def test_a_call_that_cannot_wait_is_refused_before_an_exception():
    def called(x):
        lt.callback(lambda a: None, x)
        assert x.sum() > 0
        return x

    def printed_and_called(x):
        print("in")
        assert x.sum() > 0
        lt.callback(lambda a: None, x)
        return x

    def before(x):
        assert x.sum() > 0
        lt.callback(lambda a: None, x)
        return x

    for g in (called, printed_and_called):
        with pytest.raises(lt.TraceError, match="after something was printed or called"):
            lt.script(g)(lt.ones(2))
    assert lt.script(before)(lt.ones(2)).tolist() == [1, 1]
