"""Rules of derivatives ask about sizes what the program did not: whether an axis was one that
broadcasting made. A derivative that is made later, of higher order, for other results or of a
program from a file, is asked again for the sizes of each call."""

import itertools

import pytest

import lathe as lt

SHAPES = [(1, 3), (5, 3), (5, 1), (1, 1), (2, 7), (0, 3), (5, 0)]
linalg, F = lt.linalg, lt.nn.functional
FUNCTIONS = {
    "vecdot": (lambda a, b: linalg.vecdot(a, b, dim=0), 2),
    "vecdot of rows": (linalg.vecdot, 2),
    "norm of rows": (lambda a: linalg.vector_norm(a, 2, -1), 1),
    "norm": (lambda a: linalg.vector_norm(a, 3, 0, keepdim=True), 1),
    "layer_norm": (lambda a: F.layer_norm(a, a.shape[-1:]), 1),
    "cosine": (lambda a, b: F.cosine_similarity(a, b, dim=0), 2),
    "softmax": (lambda a: a.softmax(0), 1),
    "logsumexp": (lambda a: a.logsumexp(0), 1), "var": (lambda a: a.var(0, correction=0), 1),
    "product": (lambda a, b: (a * b.sum(0, keepdim=True)).sum(0), 2),
    "pool": (lambda a: F.max_pool1d(a.unsqueeze(0), 1, return_indices=True)[0], 1),
}  # fmt: skip


@pytest.fixture(autouse=True)
def programs_at_once():
    before = lt.get_flag("fuse_after")
    yield lambda count: lt.set_flag("fuse_after", count)
    lt.set_flag("fuse_after", before)


def inputs(shape, count):
    lt.manual_seed(hash(shape) % 1000)
    return [lt.randn(*shape, dtype=lt.float64).requires_grad_() for _ in range(count)]


def both_orders(f, given):
    """Of a sum of squares: as bytes."""
    once = lt.autograd.grad(f(*given).square().sum(), given, create_graph=True)
    loss = sum((g * g).sum() for g in once)
    twice = lt.autograd.grad(loss, given, allow_unused=True)
    return [t.detach().numpy().tobytes() if t is not None else None for t in (*once, *twice)]


def outcome(f, given):
    try:
        return both_orders(f, given)
    except lt.Error as e:
        return str(e).splitlines()[0]


@pytest.mark.parametrize("first", SHAPES[:4])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_eager_code_that_becomes_programs(name, first, programs_at_once):
    f, count = FUNCTIONS[name]
    programs_at_once(-1)
    wanted = {shape: outcome(f, inputs(shape, count)) for shape in SHAPES}
    programs_at_once(0)
    for shape in (first, first, *SHAPES, *reversed(SHAPES)):
        assert outcome(f, inputs(shape, count)) == wanted[shape], shape


@pytest.mark.parametrize("name", FUNCTIONS)
def test_tangents(name, programs_at_once):
    f, count = FUNCTIONS[name]

    def tangent(shape):
        given = [t.detach() for t in inputs(shape, 2 * count)]
        return lt.func.jvp(f, tuple(given[:count]), tuple(given[count:]))[1].numpy().tobytes()

    shapes = [s for s in SHAPES if 0 not in s]
    programs_at_once(-1)
    wanted = {shape: tangent(shape) for shape in shapes}
    programs_at_once(0)
    for shape in (*shapes, *reversed(shapes)):
        assert tangent(shape) == wanted[shape], shape


@pytest.mark.parametrize("first", SHAPES[:2])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_traced_functions_and_programs_from_files(name, first, tmp_path, programs_at_once):
    programs_at_once(-1)
    f, count = FUNCTIONS[name]

    def function(*given):
        return f(*given)

    lt.save(function, tmp_path / "f.lathe", inputs(first, count))
    for whole in (lt.trace(function), lt.load(tmp_path / "f.lathe")):
        both_orders(whole, inputs(first, count))
        shown = 0
        for shape in itertools.chain(SHAPES[:5], SHAPES[:5]):
            given = inputs(shape, count)
            try:
                got = both_orders(whole, given)
            except lt.ShapeError:  # it is not for such sizes, and says so
                continue
            assert got == both_orders(f, given), shape
            shown += 1
        assert shown > 2, "the first shape twice, and another one"
