"""print() in what is saved: the bytes that eager prints, from data alone."""

import contextlib
import io

import pytest

import lathe as lt

X, Y, LONG = lt.tensor([1.5, -2.0]), lt.tensor([0.25, 1e-7]), lt.arange(2000.0)


def printed(f, *args):
    """(what a call prints, its result)"""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        result = f(*args)
    return said.getvalue(), result


def plain(x, y):
    print("x is", x, y, 3, None, [1, "a"])
    print()
    print(x.sum(), f"{x.sum()}", str(y), repr(y), sep="|", end="!\n")


def numbers(x, y):
    n, s = x.shape[0], x.abs().sum()
    print(f"{n} {n:4d} {s} {s:.3f} {s:12.4e} {s:g} {s:7g}")
    print(f"{(s > 0)} {(s > 0).int():3d} {s.double() / 3} {s.double() * 1e22} {s.double() * 1e-9}")
    print(f"{s * 0} {s / 0} {-s / 0} {s - s / 0 * 0} {s.long()} {s * 1e15} {s * 1e17}")


def marks(x, y):
    print("a{b}|c\\d", f"{{{x}}}|\\", "{t}{n}{?x|y}", "Grüße\n\t'\"", sep="{|}", end="\\}\n")


def branches(x, y):
    word = "none"
    if x.sum() > 0:
        word = f"|{x}|" if (y > 0).all() else f"{{{y.sum():.2f}}}"
    for _ in range(2):
        print(word, "at", x[0])
        x = x + 1
    return x


PROGRAMS = [plain, numbers, marks, branches]


@pytest.mark.parametrize("f", PROGRAMS, ids=[f.__name__ for f in PROGRAMS])
def test_it_prints_what_eager_prints(f, tmp_path):
    def with_result(x, y):
        f(x, y)
        return x * 2

    made = lt.script(with_result) if f is branches else with_result
    program = lt.jit.capture(made, (X, Y))
    program.save(tmp_path / "f.lathe")
    again = (lt.load(tmp_path / "f.lathe"), lt.jit.parse(program.graph))
    assert program.graph.count("say(") >= 1 and again[0].graph == program.graph
    for inputs in ((X, Y), (-X, Y + 3), (Y - 1, X), (LONG, LONG * 0.5)):
        want = printed(with_result, *inputs)[0]
        for each in (program, *again):
            assert printed(each, *inputs)[0] == want != ""


def test_options_are_those_of_the_run():
    program = lt.jit.capture(lambda x: (print(x), x)[1], (X,))
    lt.set_printoptions(precision=1)
    try:
        assert printed(program, X / 3)[0] == "tensor([ 0.5, -0.7])\n"
    finally:
        lt.set_printoptions(profile="default")


def test_every_op_after_a_print_that_fails_has_printed():
    def f(x, i):
        print("before")
        return x.index_select(0, i)

    program = lt.jit.capture(f, (X, lt.tensor([0])))
    said = []

    def call():
        with pytest.raises(lt.IndexError):
            program(X, lt.tensor([7]))
        said.append(True)

    assert printed(call)[0] == "before\n" and said


def of_python(x):
    print(f"{x:>30}" if x.ndim == 0 else [x])


def aligned(x):
    print(f"{x.sum():>12.3f}")


def warned(x):
    import warnings

    warnings.warn(f"{x.sum()}", stacklevel=1)


@pytest.mark.parametrize("f", [of_python, aligned, warned], ids=lambda f: f.__name__)
def test_what_is_no_data_is_refused(f, tmp_path):
    program = lt.jit.capture(lambda x: (f(x), x * 2)[1], (X,))
    with pytest.raises(lt.UnsupportedError, match="a file cannot hold") as caught:
        program.save(tmp_path / "f.lathe")
    assert "more than texts, tensors and numbers" in caught.value.next
    assert not (tmp_path / "f.lathe").exists()


TEXT = (
    "graph f(%x: f32[2], %i: i64[]) {{ ordered_callback(say('{form}'), [{given}], []) return %x }}"
)


def test_forms_in_a_text():
    i = lt.tensor(1)
    program = lt.jit.parse(TEXT.format(form="{?a|b {t}|c}, {n}\\n", given="%i, %x, %i"))
    assert printed(program, X, i)[0] == "b tensor([ 1.5000, -2.0000]), 1\n"
    assert program.explain(verbose=True).count("ordered_callback of <print>") == 1
    for wrong in ("{", "}", "|", "{t", "{x}", "{n:s}", "{n:1000d}", "{n:5.d}", "{?a|b", "\\\\",
                  "{?" * 70 + "}" * 70):  # fmt: skip
        with pytest.raises(lt.ValueError, match="this is no format"):
            lt.jit.parse(TEXT.format(form=wrong, given="%i"))
    with pytest.raises(lt.ValueError, match="the format of a print is wanted"):
        lt.jit.parse(TEXT.format(form="", given="").replace("say('')", "say(3)"))
    with pytest.raises(lt.ValueError, match="a callback is a function of the process"):
        lt.jit.parse(TEXT.format(form="", given="").replace("say('')", "3"))


@pytest.mark.parametrize(
    ("form", "given", "i", "problem"),
    [
        ("{t}", "%x, %i", 0, "does not fit the tensors"),
        ("{n}", "%x", 0, "a number is printed of what is none"),
        ("{?a|b}", "%i", 2, "no text of this number"),
        ("{?a|b}", "%i", -1, "no text of this number"),
    ],
)
def test_what_a_text_gives_a_print_wrongly(form, given, i, problem):
    program = lt.jit.parse(TEXT.format(form=form, given=given))
    with pytest.raises(lt.ValueError, match=problem) as caught:
        program(X, lt.tensor(i))
    assert caught.value.got and caught.value.expected and caught.value.next
