"""f(**d): all that is in a dict is read where C takes it apart."""

import types

import pytest
from script_checks import follows

import lathe as lt

ways = pytest.mark.parametrize("way", [lt.trace, lt.script])
options = {"a": 1, "b": 2.5}
view = types.MappingProxyType(options)
holder = types.SimpleNamespace(a=1, b=2.5)
slope = {"negative_slope": 1.0}


class Settings:
    a, b = 1, 2.5


def put(n):
    options["a"] = holder.a = Settings.a = slope["negative_slope"] = n
    options.pop("c", None)
    if n == 7:
        options["c"] = 1


def total(a=0, b=0, c=0, **rest):
    return a + b * c


FUNCTIONS = {
    "dict": lambda x: x * total(**options),
    "view": lambda x: x * total(**view),
    "object": lambda x: x * total(**vars(holder)),
    "class": lambda x: x * total(**vars(Settings)),
    "two": lambda x: x * total(**slope, **{"a": 3}, **options.copy()) if 0 else total(**options),
    "into a dict": lambda x: x * dict(**options, z=0)["a"],
    "into an op": lambda x: lt.nn.functional.leaky_relu(x, **slope),
    "into an object": lambda x: x * types.SimpleNamespace(**options).a,
}


@ways
@pytest.mark.parametrize("f", FUNCTIONS.values(), ids=FUNCTIONS)
def test_what_is_in_it_changes(way, f):
    follows(way, f, put, (1, 5, 6.5, 7, 2.5, 1), -lt.ones(2))
