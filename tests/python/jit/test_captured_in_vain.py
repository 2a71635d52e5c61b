"""Where each call is another to the guards, captures stop: they take as long as many calls."""

import pytest

import lathe as lt

CAPTURES = {"trace": lt.trace, "script": lt.script}


@pytest.fixture(params=CAPTURES)
def capture(request):
    return CAPTURES[request.param]


def test_calls_that_are_all_different_run_as_they_are(capture):
    box = [0]  # not an input: an item of a list that is written by index

    def step(x):
        box[0] += 1
        return x * 0.9 ** box[0]

    captured = capture(step)
    x = lt.arange(5.0)
    for n in range(1, 301):
        assert captured(x).tolist() == (x * 0.9**n).tolist()
        assert box == [n]
    counts = captured.counts
    assert counts["traces"] == 16 + 4  # and the 32nd, 64th, 128th and 256th of them
    assert "280 calls ran as they are: what the code reads was another" in captured.explain(
        verbose=True
    )


def test_a_state_that_comes_back_is_served(capture):
    captured = capture(lambda x, text: x + len(text))
    x = lt.ones(2)
    for n in range(40):
        captured(x, "-" * n)
    traces = captured.counts["traces"]
    for n in range(16):
        assert captured(x, "-" * n).tolist() == [1.0 + n] * 2
    assert captured.counts["traces"] == traces
    captured(x, "-" * 50)  # one that serves gives the others another chance
    assert captured.counts["traces"] == traces + 1


def test_the_flag_makes_it_an_error(capture):
    captured = capture(lambda x, text: x + len(text))
    x = lt.ones(2)
    for n in range(16):
        captured(x, "-" * n)
    lt.set_flag("fallback_is_error", "1")
    try:
        with pytest.raises(lt.TraceError, match="this call would run as it is"):
            captured(x, "-" * 20)
    finally:
        lt.set_flag("fallback_is_error", "0")
