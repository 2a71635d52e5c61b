"""lathe.profiler: what is noted of eager ops, of programs and of their steps, and how it is told.

Times are compared with each other only, never with a clock's.
"""

import json
import threading

import numpy as np
import pytest

import lathe as lt
from lathe.profiler import profile


def noted(p, *fields):
    return [tuple(getattr(e, f) for f in fields) for e in p.events()]


def line_of(e):
    return int(e.line.rsplit(":", 1)[1])


def test_eager_ops():
    x, y = lt.ones(2, 3), lt.ones(3)
    first = test_eager_ops.__code__.co_firstlineno
    with profile() as p:
        x + y
        x.exp()
        lt.matmul(x, x.T)
    add, exp, view, matmul, mm = p.events()
    assert (add.kind, add.name, add.kernel) == ("op", "add", "own.simd")
    assert add.inputs == ("f32[2, 3]", "f32[3]") and add.outputs == ("f32[2, 3]",)
    assert (add.bytes_read, add.bytes_written) == (36, 24)
    assert [line_of(e) - first for e in (add, exp, matmul)] == [4, 5, 6]
    assert all(e.line.startswith(__file__) for e in p.events())
    assert (view.kernel, view.bytes_read, view.bytes_written) == ("own.view", 0, 0)
    assert (exp.kernel, exp.bytes_read) == ("own.simd", 24), "on the short way"
    assert (matmul.kernel, matmul.bytes_read) == ("", 0) and matmul.parent is None
    assert (mm.kernel, mm.parent, mm.bytes_read) == ("own.gemm", matmul, 48)


def test_writes_and_gradients():
    w = lt.ones(3, requires_grad=True)
    x = lt.ones(4)
    with profile() as p:
        x.mul_(2)
        x[1:] = 3
        (w * w).sum().backward()
    names = [e.name for e in p.events()]
    assert names[0] == "mul_" and "write" in names and "sum" in names
    (mul_, *_) = p.events()
    assert (mul_.kernel, mul_.bytes_read, mul_.bytes_written) == ("own.simd", 16, 16)
    assert sum(e.name == "mul" for e in p.events()) >= 2, "the backward's as well"


def test_an_expanded_operand_is_read_once():
    x = lt.ones(1, 4).expand(100, 4)
    with profile() as p:
        x.exp()
    (exp,) = p.events()
    assert (exp.inputs, exp.bytes_read, exp.bytes_written) == (("f32[100, 4]",), 16, 1600)


def test_times_nest():
    with profile() as p:
        for _ in range(3):
            lt.nn.functional.gelu(lt.ones(20, 20)).softmax(-1)
    events = p.events()
    begins = [e.start_ns for e in events]
    assert begins == sorted(begins) and begins[0] >= 0
    for e in events:
        assert e.duration_ns >= e.self_ns >= 0
        if e.parent is not None:
            end = e.start_ns + e.duration_ns
            assert e.parent.start_ns <= e.start_ns
            assert end <= e.parent.start_ns + e.parent.duration_ns
    assert sum(e.self_ns for e in events) == sum(
        e.duration_ns for e in events if e.parent is None
    ), "each moment counts once"


def layer(x, w):
    y = (x @ w + 1).relu()
    return y.sum(1)


def test_a_program_and_its_steps(flag):
    flag("engine", "llvm")
    traced = lt.trace(layer)
    x, w = lt.ones(8, 4), lt.ones(4, 2)
    first = layer.__code__.co_firstlineno
    with profile() as p:
        traced(x, w)
    kinds = [e.kind for e in p.events()]
    assert kinds.count("capture") == 1 and kinds.count("compile") == 1
    with profile() as p:
        traced(x, w)
    call, product, total = p.events()
    assert (call.kind, call.name, call.kernel) == ("call", "layer", "")
    assert call.inputs == ("f32[8, 4]", "f32[4, 2]") and call.outputs == ("f32[8]",)
    assert line_of(call) > line_of(total), "the line that calls it"
    assert (product.kind, product.ops, product.parent) == ("step", ["mm", "add", "relu"], call)
    assert product.kernel == "own.gemm+generated" and product.outputs == ("f32[8, 2]",)
    assert (product.bytes_read, product.bytes_written) == (4 * (32 + 8), 64)
    assert (total.name, total.kernel, total.parent) == ("sum", "own.reduce", call)
    assert [line_of(product) - first, line_of(total) - first] == [1, 2]


@pytest.mark.parametrize("engine, kernel", [("simd", "own.simd"), ("llvm", "generated")])
def test_the_engine_that_ran(flag, engine, kernel):
    flag("engine", engine)
    traced = lt.trace(lambda x: (x.exp() * 2, x.softmax(-1)))
    traced(lt.ones(3, 5))
    with profile() as p:
        traced(lt.ones(3, 5))
    steps = [e for e in p.events() if e.kind == "step"]
    assert steps and {e.kernel for e in steps} == {kernel}


def test_a_part_that_is_read_through_a_view_that_is_never_made():
    traced = lt.trace(lambda x: x[1:3].sum())
    traced(lt.ones(8, 2))
    with profile() as p:
        traced(lt.ones(8, 2))
    (step,) = (e for e in p.events() if e.kind == "step")
    assert (step.inputs, step.bytes_read) == (("f32[2, 2]",), 16)


def test_rounds_of_a_loop_and_the_branch_that_was_taken():
    @lt.script
    def f(x):
        while x.sum() < 100:
            x = x * 2
        if x[0] > 1:
            x = x.exp()
        else:
            x = x.neg()
        return x

    f(lt.ones(4))
    with profile() as p:
        f(lt.ones(4))
    steps = [e for e in p.events() if e.kind == "step"]
    (loop,) = (e for e in steps if e.name == "while")
    rounds = [e for e in steps if e.name == "mul"]
    assert len(rounds) == 5 and all(e.parent is loop for e in rounds)
    (exp,) = (e for e in steps if e.name == "exp")
    assert exp.parent.name == "if" and not any(e.name == "neg" for e in steps)


def test_sizes_that_data_decide():
    @lt.script
    def f(x):
        return x[x > 0].exp()

    x = lt.tensor([1.0, -1.0, 2.0])
    f(x)
    with profile() as p:
        f(x)
    (exp,) = (e for e in p.events() if e.kind == "step" and "exp" in e.ops)
    assert exp.outputs == ("f32[2]",) and exp.bytes_written == 8


def test_all_threads():
    def work(n):
        for _ in range(n):
            lt.ones(2).exp()

    threads = [threading.Thread(target=work, args=(n,)) for n in (20, 30)]
    with profile() as p:
        work(10)
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    counts = [sum(e.name == "exp" for e in p.events() if e.thread == k) for k in range(3)]
    assert counts[0] == 10 and sorted(counts[1:]) == [20, 30]


def test_a_thread_that_works_on_when_it_ends():
    go, over = threading.Event(), threading.Event()

    def work():
        while not over.is_set():
            lt.ones(2).exp()
            go.set()

    thread = threading.Thread(target=work)
    thread.start()
    for _ in range(20):
        go.clear()
        with profile() as p:
            go.wait()
        assert all(e.duration_ns >= 0 for e in p.events())
    over.set()
    thread.join()


def test_nothing_is_noted_outside():
    x = lt.ones(3)
    with profile() as p:
        pass
    x.exp()
    assert p.events() == []
    with p:  # entered again, it begins anew
        x.neg()
    assert noted(p, "name") == [("neg",)]


def test_an_error_inside_leaves_it_closed():
    p = profile()
    with pytest.raises(lt.ShapeError), p:
        lt.ones(2).exp() + lt.ones(3)
    assert ("exp",) in noted(p, "name")
    with pytest.raises(lt.ValueError, match="open already"), p, profile():
        pass
    with profile():
        pass


@pytest.mark.parametrize("capture", [lt.trace, lt.script])
def test_it_does_not_begin_inside_of_a_capture(capture):
    def f(x):
        with profile():
            return x + 1

    with pytest.raises(lt.TraceError, match="enter it before the traced function is called"):
        capture(f)(lt.ones(2))
    with profile():
        pass


def test_results_have_the_same_bits():
    x, w = lt.randn(16, 8), lt.randn(8, 4)
    traced = lt.trace(layer)
    want = layer(x, w), traced(x, w)
    with profile():
        got = layer(x, w), traced(x, w)
    for a, b in zip(got, want, strict=True):
        assert a.numpy().tobytes() == b.numpy().tobytes()


def test_vmap_notes_what_runs():
    x = lt.ones(3, 4)
    with profile() as p:
        lt.vmap(lambda row: row.exp().sum())(x)
    assert noted(p, "name", "outputs") == [("exp", ("f32[3, 4]",)), ("sum", ("f32[3]",))]


def test_tables():
    x = lt.ones(4, 4)
    with profile() as p:
        for _ in range(5):
            x.matmul(x)
            x.exp()
    for by in ("op", "kernel", "line"):
        rows = [line.split() for line in p.table(by=by).splitlines()]
        assert rows[0][:2] == [by, "calls"]
        keys = {r[0]: int(r[1]) for r in rows[1:]}
        want = {
            "op": {"matmul": 5, "mm": 5, "exp": 5},
            "kernel": {"-": 5, "own.gemm": 5, "own.simd": 5},
        }.get(by)
        assert keys == want if want else sorted(keys.values()) == [5, 10]
        shares = [float(r[4]) for r in rows[1:]]
        assert shares == sorted(shares, reverse=True) and abs(sum(shares) - 100) < 1
    assert len(p.table(limit=1).splitlines()) == 2
    total = {r.split()[0]: r.split()[2:4] for r in p.table().splitlines()[1:]}
    assert float(total["matmul"][0]) >= float(total["mm"][0])
    assert total["mm"][0] == total["mm"][1]


def test_a_name_within_itself_counts_once():
    """Recursion: the total is that of the outermost."""

    @lt.script
    def halves(x):
        return x if x.sum() < 1 else halves(x / 2)

    halves(lt.ones(4))
    with profile() as p:
        halves(lt.ones(4))
    calls = [e for e in p.events() if e.name.startswith("call @")]
    assert len(calls) == 4  # the graph is the outermost
    rows = {r.split("  ")[0]: r for r in p.table().splitlines()}
    outer = max(e.duration_ns for e in calls)
    assert f"{outer / 1e3:.1f}" in rows[calls[0].name]


def test_chrome_trace(tmp_path):
    traced = lt.trace(layer)
    with profile() as p:
        traced(lt.ones(8, 4), lt.ones(4, 2))
    p.chrome_trace(tmp_path / "trace.json")
    rows = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert [r["name"] for r in rows] == [e.name for e in p.events()]
    for r, e in zip(rows, p.events(), strict=True):
        assert r["ph"] == "X" and r["cat"] == e.kind and r["tid"] == e.thread
        assert np.isclose(r["dur"], e.duration_ns / 1e3) and np.isclose(r["ts"], e.start_ns / 1e3)
        assert r["args"]["kernel"] == e.kernel and r["args"]["line"] == e.line


def test_operations_of_products_and_convolutions():
    x, w = lt.ones(2, 3, 8, 8), lt.ones(4, 3, 3, 3)
    a, b = lt.ones(5, 6, 7), lt.ones(7, 4)
    traced = lt.trace(lambda x, w, a, b: (lt.nn.functional.conv2d(x, w).relu(), a @ b + 1))
    traced(x, w, a, b)
    for call in (traced, lambda x, w, a, b: (lt.nn.functional.conv2d(x, w), (a @ b).exp())):
        with profile() as p:
            call(x, w, a, b)
        worked = sorted(e.operations for e in p.events() if e.operations)
        assert worked == [2 * 5 * 6 * 7 * 4, 2 * 2 * 4 * 6 * 6 * 3 * 3 * 3]


def test_the_floor(monkeypatch):
    best = {"operations": 1e9, "bandwidth": {1000: 8e9, 10_000: 4e9}}
    monkeypatch.setattr(lt.profiler, "roofline", lambda: best)
    rows, y = [lt.ones(n) for n in (100, 1000, 100_000)], lt.ones(10, 10)
    with profile() as p:
        for x in rows:  # 800 bytes, 8,000: of the next level, and more than any: memory's
            x.exp()
        lt.mm(y, y)  # 2,000 operations
    floors = [e.floor_ns() for e in p.events() if e.name in ("exp", "mm")]
    floors = [sum(floors[2:-1]) if k == 2 else floors[k] for k in (0, 1, 2, -1)]  # in pieces
    np.testing.assert_allclose(floors, [100, 2000, 200_000, 2000])
    heading, *lines = p.table(floor=True).splitlines()
    assert heading.endswith("floor") and any(line.endswith("%") for line in lines)
    assert not p.table().splitlines()[0].endswith("floor")


def test_what_the_machine_can_do():
    best = lt.profiler.roofline()
    assert best is lt.profiler.roofline(), "measured once"
    sizes, rates = zip(*best["bandwidth"].items())
    assert best["operations"] > 1e8 and min(rates) > 1e8
    assert list(sizes) == sorted(sizes) and list(rates) == sorted(rates, reverse=True)
