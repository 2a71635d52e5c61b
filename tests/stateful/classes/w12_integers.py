"""W12: integers are Python's, in scripts too."""

import lathe as lt

raises = (OverflowError, ValueError, RuntimeError, ZeroDivisionError)


def calls(w):
    for v in (3, 5, 1, 2):
        yield (lt.tensor(v),)


# %% product_past_64_bits: either
def step(a):
    n = int(a)
    return n * 3037000500 * 3037000500 % 1000


# %% many_rounds: either
def step(a):
    k = int(a)
    i = 0
    while i < 70:
        k = k * 3
        i = i + 1
    return k % 1000007


# %% compared_with_a_float: either
def step(a):
    n = int(a) * 0 + 9007199254740993
    return n == 9007199254740993.0


# %% divided: either
def step(a):
    n = int(a) + 9007199254740993
    return n / 3


# %% remainder_of_minus_zero: either
def step(a):
    v = float(a) * -0.0
    return v % 1


# %% shifted: either
def step(a):
    n = int(a)
    return (n << 62) >> 61


# %% sum_at_the_edge: either
def step(a):
    n = int(a) + 9223372036854775806
    return n - 9223372036854775800


# %% negative_remainder: either
def step(a):
    n = -int(a)
    return [n % 3, n // 3, divmod(n, 4), n**3]
