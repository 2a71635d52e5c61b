"""The check of signatures, on functions that differ from PyTorch's in one way each."""

from types import SimpleNamespace

import pytest

import signatures

table, ours, mismatch = signatures.modules()

THEIRS = (
    "torch.f(input: Tensor, other: Tensor, dim: int = 0, *, out: Tensor | None = None) -> Tensor"
)


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ("input, other, dim=0, *, out=None", []),
        ("input, other, dim=0, *, extra=1, out=None", ["adds extra"]),
        ("input, other, dim=1, *, out=None", ["dim=1 here, 0 there"]),
        ("input, other, *, dim=0, out=None", ["dim not by position"]),
        ("input, other, dim=0, out=None", ["out by position"]),
        ("input, other, *, out=None", ["lacks dim"]),
        ("input, other, dim=0", ["lacks out"]),
        ("x, other, dim=0, *, out=None", ["no (input, other)", "adds x"]),
        ("other, input, dim=0, *, out=None", ["no (input, other)"]),
        ("input, other, dim, *, out=None", ["no (input, other)"]),
        ("input, other, /, dim=0, *, out=None", ["(input, other) not by name"]),
    ],
)
def test_every_kind_of_difference_has_a_name(parameters, expected):
    have = [table.parse(f"torch.f({parameters})")]
    assert mismatch.differences(have, [table.parse(THEIRS)]) == expected


def test_overloads_share_the_work():
    theirs = [table.parse("torch.f(input: Tensor, *, dtype: dtype | None = None)")]
    both = [table.parse("torch.f(input)"), table.parse("torch.f(input, *, dtype)")]
    assert mismatch.differences(both, theirs) == []
    assert mismatch.differences(both[:1], theirs) == ["lacks dtype"]


def test_defaults_that_mean_one_thing_are_equal():
    theirs = [table.parse("torch.f(a: int = 0, b: list[int] = (), c: int | list[int] = 1)")]
    assert mismatch.differences([table.parse("torch.f(a=0, b=None, c=[1, 1])")], theirs) == []
    found = mismatch.differences([table.parse("torch.f(a=None, b=(), c=[1, 2])")], theirs)
    assert found == ["a=None here, 0 there", "c=[1, 2] here, 1 there"]


def test_schemas_are_read():
    text = (
        "f.x(Tensor|Scalar input, int[2]? size=[1, 2], *, str how='a, b') -> (Tensor y, Tensor z)"
    )
    found = ours.schema(text, "torch")
    assert [(p.name, p.kind, p.default) for p in found.parameters] == [
        ("input", "positional", None),
        ("size", "positional", "[1, 2]"),
        ("how", "keyword", "'a, b'"),
    ]
    assert [p.name for p in ours.schema(text, "Tensor").parameters] == ["size", "how"]


def test_a_difference_is_listed_or_fails(planted, monkeypatch):
    have = table.parse("torch.f(input, other, *, out=None)")
    fakes = (
        SimpleNamespace(names=lambda: ["torch.f"], overloads=lambda name: [table.parse(THEIRS)]),
        SimpleNamespace(overloads=lambda name: [have]),
        mismatch,
    )
    monkeypatch.setattr(signatures, "modules", lambda: fakes)

    def problems(text):
        planted.write(signatures.LIST, text)
        return signatures.check(type(planted.tree)(planted.root)).problems

    assert problems("# nothing\n") == [f"{signatures.LIST}:1: torch.f: lacks dim: not listed"]
    assert problems("torch.f: lacks dim: there is one axis\n") == []
    assert problems("torch.*: lacks dim: there is one axis\n") == []
    assert len(problems("torch.f: lacks dim\n")) == 1  # no reason
    stale = problems("torch.f: lacks dim: one axis\ntorch.f: lacks other: why\n")
    assert stale == [f"{signatures.LIST}:2: torch.f: lacks other: no longer so"]
