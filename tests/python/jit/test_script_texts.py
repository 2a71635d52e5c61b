"""Texts that data chooses in a script: printed, put together, compared."""

import pytest

import lathe as lt


def check(capsys, f, *rows):
    """The same output and result as Python's, by one program."""
    scripted = lt.script(f)
    for row in rows:
        want = f(*[lt.tensor(v) for v in row]).tolist(), capsys.readouterr().out
        got = scripted(*[lt.tensor(v) for v in row]).tolist(), capsys.readouterr().out
        assert got == want, row
    assert scripted.counts["traces"] == 1
    return scripted


def test_a_text_of_two_branches(capsys):
    def f(x):
        word = "large" if x > 2 else "small"
        print(word, f"<{word}>", "a " + word)
        return x + 1

    check(capsys, f, (1.0,), (3.0,))


def test_texts_with_numbers_of_a_branch(capsys):
    def f(x, n):
        text = ""
        if x > 0:
            text += f"{x:.2f} and {n}"
        elif x < -5:
            text = "low: " + str(n)
        print("[" + text + "]")
        return x

    check(capsys, f, (1.0, 3), (0.0, 4), (-9.0, 5))


def test_comparisons_and_truth(capsys):
    def f(i):
        text = ""
        if i % 2 == 0:
            text = "two"
        if i % 3 == 0:
            text = text + "three"
        n = i * 0
        if text == "":
            n = n + 1
        if text != "twothree":
            n = n + 10
        if text:
            n = n + 100
        if not text or text == "two":
            n = n + 1000
        print(text or f"number {i}", text and "some")
        return n

    check(capsys, f, *[(i,) for i in range(8)])


def test_a_text_that_a_loop_carries(capsys):
    def f(i, n):
        last = "none"
        while i < n:
            if i % 3 == 0:
                last = "three"
            elif i % 5 == 0:
                last = f"five at {i}"
            print(i, last)
            i += 1
        print("last:", last)
        return i

    check(capsys, f, (1, 12), (4, 4), (1, 3))


def test_one_list_of_texts(capsys):
    def f(x):
        words = ["a", "b"]
        if x > 0:
            words[0] = "A"
        print("-".join(words))
        print(", ".join(word + f"{x}" for word in words))
        return x

    check(capsys, f, (1.0,), (-1.0,))


def grows(x):
    text = ""
    while x < 100:
        text += "."
        x = x * 2
    print(text)
    return x


def asks_about_a_number(x):
    text = f"{x}" if x > 0 else ""
    return x + 1 if text == "3.0" else x


def mixes(x):
    y = "text" if x > 0 else 1
    print(y)
    return x


@pytest.mark.parametrize(
    ("function", "problem"),
    [(grows, "more and more texts"), (asks_about_a_number, "elements of a tensor"),
     (mixes, "another kind of thing")],
)  # fmt: skip
def test_what_is_refused(function, problem):
    with pytest.raises((lt.ScriptError, lt.TraceError), match=problem):
        lt.script(function)(lt.tensor(1.0))
