"""What is stated of sizes (mark_static, mark_bounds), and odd uses of them in captured code."""

import json

import pytest

import lathe as lt


@pytest.fixture(params=[lt.trace, lt.script], ids=["trace", "script"])
def capture(request):
    return request.param


def test_a_static_size_is_a_number(capture):
    @capture
    def f(x):
        lt.mark_static(x, 1)
        return x * 2

    for shape in ((2, 3), (5, 3), (2, 4), (7, 4)):
        assert f(lt.ones(*shape)).shape == shape
    assert f.counts["traces"] == 2


def test_all_sizes_are_static():
    f = lt.trace(lambda x: lt.mark_static(x) + 1)
    for shape in ((2, 3), (5, 3), (2, 3)):
        assert f(lt.ones(*shape)).tolist() == lt.full(shape, 2.0).tolist()
    assert f.counts["traces"] == 2


def test_bounds_answer_questions(capture):
    def f(x):
        lt.mark_bounds(x, {0: (2, 64), 1: (None, 10)})
        return x if x.shape[0] < 2 or x.shape[1] > 10 else x + 1

    g = capture(f)
    for shape in ((2, 3), (64, 10), (5, 0)):
        assert g(lt.ones(*shape)).tolist() == f(lt.ones(*shape)).tolist()
    assert g.counts["traces"] == 1, g.reasons()
    with pytest.raises(lt.ValueError, match=r"mark_bounds.*(?s:.*)got: +65 along axis 0"):
        f(lt.ones(65, 3))
    with pytest.raises(lt.ValueError, match=r"mark_bounds.*(?s:.*)got: +1 along axis 0"):
        g(lt.ones(1, 3))


@pytest.mark.parametrize("mark", [
    lambda x: lt.mark_static(x, 2), lambda x: lt.mark_bounds(x, {-3: (1, 2)}),
])  # fmt: skip
def test_axes_that_are_not_there(mark):
    with pytest.raises(lt.IndexError, match="there is no such axis"):
        mark(lt.ones(2, 3))


ODD = {
    "bit_length": lambda n: n.bit_length(),
    "round": lambda n: (round(n), round(n, -1)),
    "power": lambda n: pow(n, 2, 7),
    "json": lambda n: json.dumps([n]),
    "text": lambda n: f"{n:04d} {n}",
    "bytes": lambda n: n.to_bytes(4, "little"),
    "ratio": lambda n: n.as_integer_ratio(),
    "set": lambda n: n in {3, 5},
}


@pytest.mark.parametrize("name", ODD)
def test_odd_uses_give_pythons_answer_or_refuse(name, capture):
    def f(x):
        return x * 2, ODD[name](x.shape[0])

    g = capture(f)
    for n in (3, 5, 3, 12, 200):
        want = ODD[name](n)
        try:
            got = g(lt.ones(n))[1]
        except (lt.TraceError, lt.ScriptError) as e:
            assert "at: " in str(e)
        else:
            assert got == want and type(got) is type(want), (n, got)


@pytest.mark.parametrize("name", ODD)
def test_odd_uses_of_a_size_that_data_decides_are_refused(name, capture):
    def f(x):
        return x * 2, ODD[name](x[x > 0].shape[0])

    with pytest.raises((lt.TraceError, lt.ScriptError)):
        capture(f)(lt.ones(3))
