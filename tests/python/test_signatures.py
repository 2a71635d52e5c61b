"""Every function and method of PyTorch that Lathe has takes PyTorch's calls.

For each of PyTorch's signatures (tests/signatures/torch.txt): a call with what has no default, one
with every argument by place and one with every argument by PyTorch's name, PyTorch's defaults
written out, give the same bytes; out=, dtype= and inplace= do what they say. Values come from
tests/signatures/values.txt, from tests/samples where an op has a sample that fits, else from
the types. What tests/signatures/differences.txt lists is left out of the calls, and nothing else;
the functions of NOT_CALLED have tests of their own.
"""

import functools
import re
import sys
import zlib
from dataclasses import dataclass

import numpy as np
import pytest
import samples
from built import ROOT

import lathe as lt

sys.path.insert(0, str(ROOT / "tests/signatures"))
import mismatch
import ours
import table

VALUES = samples.read(ROOT / "tests/signatures/values.txt")
NOT_CALLED = {
    "they read and write files": "torch.from_file torch.load torch.save",
    "they take functions": "torch.cond torch.while_loop torch.vmap torch.compile"
    " Tensor.register_hook",
    "their arguments are lists in lists": "torch.einsum torch.tensordot torch.broadcast_shapes",
    "they change the process": "torch.manual_seed torch.seed torch.set_default_dtype "
    "torch.set_deterministic_debug_mode torch.set_anomaly_enabled torch.set_warn_always "
    "torch.set_num_threads "
    "torch.set_default_tensor_type"
    " torch.set_printoptions torch.set_grad_enabled",
    "their lists of weights fit each other": "torch.gru torch.lstm torch.rnn_relu torch.rnn_tanh",
    "they give another object each time": "torch.to_dlpack",
    "they need a device that is not there": "Tensor.cuda",
    "they need a history": "Tensor.backward Tensor.retain_grad"
    " Tensor.register_post_accumulate_grad_hook",
    "they tell two tensors apart": "Tensor.data_ptr",
    "they take any number of operands": "torch.broadcast_shapes torch.einsum",
    "they take what another call gave": "torch.set_rng_state",
    "they refuse a tensor that requires grad, and change sizes": "Tensor.resize_",
}
POSITIONS = {"torch.masked.argmax", "torch.masked.argmin"}  # dtype is what they compare in
SKIPPED = {name for names in NOT_CALLED.values() for name in names.split()}
ROWS = {row["name"]: row for row in lt._lathe._definitions()}


@dataclass(frozen=True)
class Case:
    name: str
    number: int  # of the overload
    left_out: frozenset  # parameters that Lathe lacks
    by_name: frozenset  # that it takes by name only
    by_place: frozenset  # that it takes by place only

    def __str__(self):
        return f"{self.name}:{self.number}"

    @property
    def signature(self):
        return table.overloads(self.name)[self.number]

    @property
    def parameters(self):
        return [p for p in self.signature.parameters if p.name not in self.left_out]

    @property
    def is_method(self):
        return self.name.startswith("Tensor.")


def case_of(name, number, theirs, found):
    """The calls to make of a signature, given its differences; None where ours lacks it."""
    optional = {p.name for p in theirs.parameters if p.default is not None}
    refused = {d.split(" for ")[1] for d in found if re.match(r"no \w+ for ", d)}
    if any(d.startswith("no (") for d in found) or refused - optional:
        return None
    lacks = {d.removeprefix("lacks ") for d in found if d.startswith("lacks ")}
    keyword = {d.split()[0] for d in found if d.endswith(" not by position")}
    place = {n for d in found if d.endswith(") not by name") for n in re.findall(r"\w+", d)[:-3]}
    return Case(name, number, frozenset(lacks | refused), frozenset(keyword), frozenset(place))


def cases():
    for name in [n for p in ("torch.", "Tensor.", "nn.functional.") for n in table.names(p)]:
        have = None if name in SKIPPED else ours.overloads(name)
        if not have or table.overloads(name)[0].attribute:
            continue
        for number, theirs in enumerate(table.overloads(name)):
            case = case_of(name, number, theirs, mismatch.against(have, theirs))
            if case:
                yield case


CASES = list(cases())


# ── values ────────────────────────────────────────────────────────────────────────────────────


def base(name):
    """The name without its place and the underscore of its form in place."""
    return name.rsplit(".", 1)[-1].removesuffix("_")


def named_values(sample):
    """(values by parameter, the name of the first) of a line of either file."""
    args, kwargs = samples.tensors(sample)
    if not args:  # values.txt names every argument
        return kwargs, "input"
    params = [p["name"] for p in ROWS[sample.op]["params"]]
    return dict(zip(params, args, strict=False)) | kwargs, params[0]


@functools.cache
def sample_of(case):
    """The first line about this name that fits the signature, values.txt before tests/samples."""
    parameters = {mismatch.named(p.name): p for p in case.signature.parameters}
    required = {
        n
        for n, p in parameters.items()
        if p.default is None and p.name not in case.left_out and "None" not in p.types
    }
    short = case.name.rsplit(".", 1)[-1]
    mine = [s for s in VALUES if s.op in (short, base(case.name))]
    mine += [s for s in samples.SAMPLES if s.op.split(".")[0] == base(case.name)]
    found = case.name.partition(".")[2]  # linalg.inv: a further name of a definition
    mine += [s for s in samples.SAMPLES if found in ROWS[s.op]["also"]]
    for sample in mine:
        values, first = named_values(sample)
        given = set(values) - ({first} if case.is_method else set())
        known = required <= given <= set(parameters)
        if known and all(fits(values[n], parameters[n]) for n in given):
            return sample
    return None


def sampled(case):
    """The values of that line, made anew, and the name of the first parameter; or None."""
    sample = sample_of(case)
    return sample and named_values(sample)


def fits(value, parameter):
    """Whether a sample's value is of one of the types that PyTorch names."""
    if not parameter.types:
        return True
    types = set(parameter.types)
    if isinstance(value, lt.Tensor):
        return "Tensor" in types
    if isinstance(value, bool):
        return bool(types & {"bool", "Number"})
    if isinstance(value, int):
        return bool(types & {"int", "float", "Number"})
    if isinstance(value, float):
        return bool(types & {"float", "Number"})
    if isinstance(value, str):
        return bool(types & {"str"})
    if isinstance(value, list):
        listed = any(t in ("Any", "Iterable") or t.startswith("list[") for t in types)
        return listed or parameter.kind == "*"
    if isinstance(value, lt.dtype):
        return "dtype" in types
    return True


def by_type(parameter, rng):
    """A value for a parameter that no sample names."""
    types = " | ".join(parameter.types)
    if "list[Tensor]" in types:
        return [lt.tensor(rng.standard_normal((2, 3)).astype("float32")) for _ in range(2)]
    if "Tensor" in types:
        return lt.tensor(rng.standard_normal((2, 3)).astype("float32"))
    if "list[int]" in types:
        return [2, 3]
    for word, value in (("Number", 0.5), ("float", 0.5), ("int", 1), ("bool", True)):
        if word in types.split(" | "):
            return value
    if "dtype" in types:
        return lt.float64
    if "device" in types:
        return "cpu"
    if "None" in parameter.types:
        return None
    named = {"ndarray": np.ones(3, "float32"), "buffer": bytearray(8), "seed": 1}
    named |= {"ext_tensor": lt.ones(3), "obj": lt.ones(2)}
    if parameter.name in named:
        return named[parameter.name]
    raise NotImplementedError(f"no value for {parameter}")


def default_of(parameter):
    """PyTorch's default as an argument of ours; (False, None) for what has no counterpart."""
    value = parameter.value()
    if isinstance(value, str) and parameter.types and "str" not in parameter.types:
        value = getattr(lt, value, None)
        return value is not None, value
    return True, value


def arguments(case):
    """(self or None, {parameter: value}); the same for the same case, new tensors each time."""
    rng = np.random.default_rng(zlib.crc32(str(case).encode()))
    found = sampled(case)
    values, first = found if found else ({}, "input")
    receiver = None
    if case.is_method:
        receiver = values.pop(first, None)
        if not isinstance(receiver, lt.Tensor):
            receiver = lt.tensor(rng.standard_normal((2, 3)).astype("float32"))
    given = {}
    for p in case.parameters:
        name = mismatch.named(p.name)
        if p.kind == "**" or p.name == "out":
            continue
        if name in values:
            given[p.name] = values[name]
        elif p.default is None:
            given[p.name] = by_type(p, rng)
        else:
            known, value = default_of(p)
            if known:
                given[p.name] = value
    return receiver, given


def function(case, receiver):
    if case.is_method:
        return getattr(receiver, case.name.removeprefix("Tensor."))
    found = lt
    for part in case.name.removeprefix("torch.").split("."):
        found = getattr(found, part)
    return found


def call(case, style, **more):
    """Calls it anew. style: 'least' (no default is written out), 'by place' or 'by name'."""
    receiver, given = arguments(case)
    if style == "least":
        sampled_too = given_by_sample(case)
        given = {n: v for n, v in given.items() if n in sampled_too}
    args, placed = [], style != "by name"
    for p in case.parameters:
        if p.kind == "*" and p.name in given:
            value = given.pop(p.name)
            args += value if isinstance(value, (list, tuple)) else [value]
        only = p.kind == "place" or p.name in case.by_place
        placed = (only or (placed and p.kind == "positional")) and p.name in given
        if placed and p.name not in case.by_name:
            args.append(given.pop(p.name))
    lt.manual_seed(0)
    return function(case, receiver)(*args, **(given | more))


def given_by_sample(case):
    """Parameters whose value is not PyTorch's default."""
    found = sampled(case)
    required = {p.name for p in case.parameters if p.default is None}
    names = {p.name for p in case.parameters if found and mismatch.named(p.name) in found[0]}
    return required | names


# ── comparison ────────────────────────────────────────────────────────────────────────────────


def flat(value):
    if isinstance(value, lt.Tensor):
        exact = value.float() if value.dtype is lt.bfloat16 else value  # NumPy has no bfloat16
        return [(value.dtype, tuple(value.shape), exact.detach().contiguous().numpy().tobytes())]
    if isinstance(value, (list, tuple)):
        return [part for item in value for part in flat(item)]
    return [repr(value)]


def tensors_of(value):
    return [value] if isinstance(value, lt.Tensor) else list(value)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_all_ways_to_call_are_one(case):
    want = flat(call(case, "least"))
    assert flat(call(case, "by place")) == want
    assert flat(call(case, "by name")) == want


@pytest.mark.parametrize(
    "case", [c for c in CASES if any(p.name == "out" for p in c.parameters)], ids=str
)
def test_out_is_the_result(case):
    want = call(case, "by name")
    if isinstance(want, lt.Tensor):
        out = lt.empty_like(want)
        assert call(case, "by name", out=out) is out
    else:
        out = tuple(lt.empty_like(t) for t in want)
        call(case, "by name", out=out)
    assert flat(out) == flat(want)


@pytest.mark.parametrize(
    "case",
    [
        c
        for c in CASES
        if c.name[-1] != "_" and c.name not in POSITIONS
        if any(p.name == "dtype" for p in c.parameters)
    ],
    ids=str,
)
def test_dtype_is_that_of_the_result(case):
    result = call(case, "by name", dtype=lt.float64)
    assert all(t.dtype is lt.float64 for t in tensors_of(result))


@pytest.mark.parametrize(
    "case", [c for c in CASES if any(p.name == "inplace" for p in c.parameters)], ids=str
)
def test_inplace_writes_its_input(case):
    want = call(case, "by name")
    _, given = arguments(case)
    lt.manual_seed(0)
    result = function(case, None)(**(given | {"inplace": True}))
    assert result is given["input"]
    assert flat(result) == flat(want)


@pytest.mark.parametrize("case", [c for c in CASES if c.name[-1] == "_"], ids=str)
def test_in_place_method_gives_itself(case):
    receiver, given = arguments(case)
    if case.is_method and not case.by_place:
        assert function(case, receiver)(**given) is receiver


def test_enough_is_compared():
    assert len(CASES) > 300
