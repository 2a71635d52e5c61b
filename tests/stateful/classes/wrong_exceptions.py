"""What raises another exception captured than it does without: an answer or a refusal is wanted."""

import json

import lathe as lt

raises = (OverflowError, TypeError, ValueError, RuntimeError, ZeroDivisionError, IndexError)


def calls(w):
    for n in (2, 3, 2, 5):
        yield (lt.arange(float(n)),)


# %% size_past_62_bits: either
def step(x):
    return lt.zeros(x.shape[0] << 62)


# %% round_of_a_size: either
def step(x):
    return x + round(x.shape[0]), round(x.shape[0] / 2)


# %% power_with_a_modulus: either
def step(x):
    return x * pow(x.shape[0], 2, 7)


# %% bit_length: either
def step(x):
    return x * x.shape[0].bit_length()


# %% real_part_of_a_size: either
def step(x):
    return x * x.shape[0].real + x.shape[0].imag


# %% json_of_a_size: either
def step(x):
    return json.dumps([x.shape[0]])


# %% in_of_a_callable: either
def step(x, f=len):
    return x + 1 if f in (list, dict) else x - 1


# %% in_of_an_equal: either
class Odd:
    def __eq__(self, other):
        return other is list

    __hash__ = None


ODD = Odd()


def step(x):
    return x + 1 if ODD in (list, dict) else x - 1


# %% is_integer: either
def step(x):
    v = x.shape[0] / 2
    return x * (2 if v.is_integer() else 3)


# %% index_of_a_list: either
def step(x):
    return [1.0, 2.0, 3.0][x.shape[0]]


# %% text_of_a_size: either
def step(x):
    return f"{x.shape[0]:03d}", "%d" % x.shape[0], str(x.shape)


# %% size_as_a_key: either
def step(x):
    return x * {2: 1.0, 3: 2.0}.get(x.shape[0], 3.0)


# %% division_by_a_size: either
def step(x):
    return x * (1 / (x.shape[0] - 3))


# %% json_dumps_of_a_float: either
def step(x, k=1.0):
    try:
        return json.dumps(k)
    except TypeError:
        return "handler"


def calls(w):
    for k in (0.5, 1.5, 2.5, 2.5):
        yield lt.ones(2), k
