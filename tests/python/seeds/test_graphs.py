"""Rows IR, EX and TR of graphs: as texts, as things to ask and to change, and level by level."""

import re
from pathlib import Path

import numpy as np
import pytest
from compare import same
from rows import shows

import lathe as lt
from lathe import nn
from lathe.nn import functional as F  # noqa: N812

PAGE = Path(__file__).resolve().parents[3] / "docs/graphs.md"

INFERENCE = """graph inference(%x: f32[1, 784], %w: f32[784, 10], %b: f32[1, 10]) -> (f32[1, 10]) {
  %0: f32[1, 10] = mm(%x, %w)
  %1: f32[1, 10] = add(%0, %b)
  return %1
}
"""
DECLARED = "gradient @inference_grad of @inference wrt 1, 2 -> "
GRADIENT = DECLARED + "(f32[784, 10], f32[1, 10])\n"


def bare(text):
    """Without the places of lines, and as one line without spaces at the ends."""
    return [re.sub(r"\s*#.*", "", line).strip() for line in text.strip().splitlines()]


def inputs():
    return lt.randn(1, 784), lt.randn(784, 10), lt.randn(1, 10)


@shows("IR-01", "the seed's function written as text with typed operands, checked and run")
def test_ir_01_inference():
    program = lt.jit.parse(INFERENCE)
    assert bare(program.graph) == bare(INFERENCE)
    x, w, b = inputs()
    assert same(program(x, w, b), x @ w + b)
    for wrong in ("mm(%w, %x)", "mm(%x, %y)", "mmm(%x, %w)"):
        with pytest.raises((lt.ValueError, lt.NameError, lt.ShapeError)):
            lt.jit.parse(INFERENCE.replace("mm(%x, %w)", wrong))


@shows(
    "IR-02",
    "`gradient @g of @f wrt 1, 2` declares a function, and every one of a module is written; "
    "`from`, `keeping` and `seeded` forms, on a page",
)
def test_ir_02_declarations():
    forms = (
        "gradient @with_result of @inference wrt 1 keeping 0\n"
        "gradient @seeded of @inference wrt 0, 2 from 0 seeded\n"
    )
    module, (x, w, b) = INFERENCE + GRADIENT + forms, inputs()
    dw, db = lt.jit.parse(module, "inference_grad")(x, w, b)
    assert same(db, lt.ones(1, 10)) and same(dw, x.T @ lt.ones(1, 10))
    dw_again, y = lt.jit.parse(module, "with_result")(x, w, b)
    assert same(y, x @ w + b) and same(dw_again, dw)
    dy = lt.randn(1, 10)
    dx, db = lt.jit.parse(module, "seeded")(x, w, b, dy)
    assert same(db, dy) and same(dx, dy @ w.T)
    page = PAGE.read_text()
    for code in re.findall(r"(?s)```python\n(.*?)```", page):
        exec(code, {})
    assert all(f"`{word}" in page for word in ("wrt", "from", "keeping", "seeded"))


@shows(
    "IR-03",
    "a declared gradient is written in two steps, each of which is printed: the copied function, "
    "the adjoints; the seed's printed types are refused with the right ones",
)
def test_ir_03_steps():
    stages = dict(lt._lathe._derive_text(INFERENCE + GRADIENT, "seed"))
    assert list(stages) == ["parsed", "copied", "adjoints", "derived"]
    assert bare(stages["copied"])[1:4] == bare(INFERENCE)[1:4]
    assert bare(stages["adjoints"]) == bare("""
        graph inference_grad(%x: f32[1, 784], %w: f32[784, 10], %b: f32[1, 10]) -> """
        """(f32[784, 10], f32[1, 10]) {
        %0: f32[1, 10] = mm(%x, %w)
        %1: f32[1, 10] = add(%0, %b)
        %2: f32[1, 10] = full([1, 10], 1, dtype=f32, device=@cpu) detached
        %3: f32[784, 1] = permute(%x, [1, 0])
        %4: f32[784, 10] = mm(%3, %2)
        return %4, %2
        }""")  # fmt: skip
    for wrong in ("(f32[1, 10], f32[])", "(f32[1, 784], f32[1, 10])", "(f32[784, 10])"):
        with pytest.raises(lt.TypeError) as caught:
            lt.jit.parse(INFERENCE + DECLARED + wrong, "inference_grad")
        assert caught.value.expected == "(f32[784, 10], f32[1, 10])" and caught.value.got == wrong


@shows(
    "IR-04",
    "algebra, then dead code, leave of the seed's gradient the transposed input and its product "
    "with ones: the dot of the function is gone",
)
def test_ir_04_final_form():
    program = lt.jit.parse(INFERENCE + GRADIENT, "inference_grad")
    stages = dict(program._engine.passes(["simplify_algebra", "eliminate_dead"]))
    assert stages["simplify_algebra"].count("mm(") == 2
    final = [line for line in bare(stages["eliminate_dead"]) if " = " in line]
    assert final == [
        "%0: f32[1, 10] = full([1, 10], 1, dtype=f32, device=@cpu) detached",
        "%1: f32[784, 1] = permute(%x, [1, 0])",
        "%2: f32[784, 10] = mm(%1, %0)",
    ]
    assert [line for line in bare(program.optimised) if " = " in line] == final


def instructions(heading):
    """[(the seed's instruction, a line of our text, inputs)] of a table of the page."""
    part = PAGE.read_text().split(f"## {heading}\n")[1].split("\n## ")[0]
    cells = [
        [c.strip() for c in line.split("|")[1:-1]] for line in part.splitlines() if "`" in line
    ]
    return [c for c in cells if len(c) == 3]


def parsed(row):
    """The program of a row's text: a body, or a whole graph."""
    (arguments, body) = (re.findall(r"`([^`]*)`", cell) for cell in row[1:])
    text = f"graph f({arguments[0] if arguments else ''}) {{ {' '.join(body)} return %r }}"
    if "@foo" in text:
        text += " graph foo(%x: f32[4]) { %y = tanh(%x) return %y }"
    return lt.jit.parse(text)


def test_calls_in_calls():
    called = """graph f(%x: f32[s0]) { size s0 = 4 %0: f32[s0] = call @a(%x) return %0 }
    graph a(%x: f32[s0]) { size s0 = 4 %0: f32[s0] = call @b(%x) return %0 }
    graph b(%x: f32[s0]) { size s0 = 4 %0 = tanh(%x) return %0 }"""
    x = lt.randn(6)
    assert same(lt.jit.parse(called)(x), x.tanh())
    for again in ("@f(%x)", "@a(%x)", "@b(%x)"):
        endless = lt.jit.parse(called.replace("%0 = tanh(%x)", f"%0: f32[s0] = call {again}"))
        with pytest.raises(lt.ValueError, match="the recursion is too deep"):
            endless(x)


@shows("IR-05", "each of the 12 instructions has its counterpart: a table, whose lines are parsed")
def test_ir_05_domain_instructions():
    rows = instructions("Instructions of DLVM: domain-specific")
    assert len(rows) == 12
    for row in rows:
        assert "%r" in parsed(row).graph, row


@shows(
    "IR-06",
    "calls, structured branches, reshapes and tuples are in the graph, memory is in the list of "
    "instructions below it: a table says which, and its lines are parsed or printed",
)
def test_ir_06_general_instructions():
    rows = instructions("Instructions of DLVM: general")
    assert len(rows) == 12
    f = lt.jit.capture(lambda x, y: ((x @ y).relu() + 1).sort()[0], (lt.ones(3, 3), lt.ones(3, 3)))
    f(lt.ones(3, 3), lt.ones(3, 3))
    printed, seen = f.instructions, 0
    for row in rows:
        if "list of instructions" in row[1]:
            word = re.search(r"`([^`]*)`", row[2])[1]
            assert word in printed, (row, printed)
        else:
            seen += 1
            assert parsed(row) is not None
    assert seen >= 5


@shows(
    "IR-14",
    "both lowerings are printed: a linear layer as a product and an addition, then instructions on "
    "buffers with allocations and what is in, out or inout; the relu works in place",
)
@shows("IR-15", "instructions are a straight-line list of one region, a list of its own in a block")
def test_ir_14_instructions():
    net = nn.Linear(3, 4)
    program = lt.jit.capture(lambda x: net(x).relu().sort()[0], (lt.ones(2, 3),))
    assert "mm(" in program.graph and "add(" in program.graph and "linear(" not in program.graph
    program(lt.ones(2, 3))
    listed = bare(program.instructions)
    assert any(re.match(r"alloc +a0: f32", line) for line in listed)
    assert any(re.match(r"dealloc a0", line) for line in listed)
    product = next(line for line in listed if line.startswith("mm "))
    (buffer,) = re.findall(r"out (b\d+)", product)
    assert any(re.match(rf"add\+relu +in .* inout {buffer}\b", line) for line in listed), listed

    @lt.script
    def halved(x):
        while x.sum() > 1:
            x = x / 2
        return x

    loop = lt.jit.capture(halved, (lt.ones(3),))
    loop(lt.ones(3))
    text = loop.instructions
    blocks = re.findall(r"(?s)block\(.*?\) \{\n(.*?)\n *\} ->", text)
    assert len(blocks) == 2 and "mul" in blocks[1] and "block(" not in "".join(blocks)


@shows("IR-17", "graph, loops and machine instructions of one program are printed")
@shows("IR-22", "one softmax through every level: graph, groups, instructions, loops, vectors")
def test_ir_22_one_softmax(flag):
    flag("engine", "llvm")
    program = lt.jit.capture(lambda x: F.softmax(x, -1), (lt.ones(4, 9),))
    x = lt.randn(5, 7)
    assert same(program(x), F.softmax(x, -1))
    program.compile()
    for op in ("amax(", "sub(", "exp(", "sum("):
        assert op in program.graph, op
    assert "group 'pointwise'" in program.optimised and "group" not in program.graph
    steps = [line for line in bare(program.instructions) if re.match(r"\w+(\+\w+)*  in ", line)]
    assert steps[0].split()[0] == "amax+sub+exp+sum+reciprocal+mul"
    assert re.search(r"kernel rows.*\n( +local .*\n)+ +parallel i0 < s\d\n", program.loops)
    assert "exp(%" in program.loops and "@lathe_kernel" in program.vectors
    assert re.search(r"<\d+ x float>", program.vectors), "vectors"


@shows(
    "EX-06",
    "what a wanted result does not need is no step: one of two results is asked for, and the other "
    "one's ops do not run (counters)",
)
def test_ex_06_only_what_is_asked_for():
    both = lt.jit.capture(lambda x: (x.sort()[0], x.cumsum(0)), (lt.ones(4),))
    x, one = lt.randn(6), both.only(1)
    assert same(one(x), x.cumsum(0)) and "sort" not in one.optimised
    both(x)
    assert both.counts["op_runs"] == 2 and one.counts["op_runs"] == 1
    assert same(both.only(0)(x), x.sort()[0])
    with pytest.raises(lt.IndexError):
        both.only(2)


def taken(program, inputs):
    """Bytes that the allocator gave out at most during a call, beyond those in use before it."""
    lt._lathe._reset_memory_peak()
    before = lt._lathe._memory_stats()[0]
    program(*inputs)
    return lt._lathe._memory_stats()[1] - before


CALLS = """graph f(%x: f32[s0]) {{ size s0 = 4 {first}: f32[s0] = call @a(%x)
      %1: f32[s0] = call @a(%0) return %1 }}
    graph a(%x: f32[s0]) {{ size s0 = 4 %0: f32[s0] = cumsum@2(%x, 0) %1 = tanh(%0)
      %2: f32[s0] = cumsum@2(%1, 0) return %2 }}"""


@lt.script
def until_small(x):
    while x.abs().sum() > 1:
        x = (x / 2).cumsum(0) / x.shape[0]
    return x


@lt.script
def either(x):
    if x.sum() > 0:
        return (x @ x.T).relu().sum(0)
    return x.sum(1)


def of_ones(shape):
    return lt.ones(*(4 + i for i in range(len(shape))))


@shows(
    "EX-07",
    "`peak_bytes(shapes)` tells the memory of a run before it, within 5 % of what the allocator "
    "counts: results, intermediates, calls, loops and branches, packed weights and panels of "
    "products. Where data decides sizes it says so",
)
@pytest.mark.serial
@pytest.mark.parametrize("threads", [1, 2])
def test_ex_07_memory_before_a_run(flag, threads):
    flag("threads", threads)
    rows = (3000, 256)
    products = (rows, (256, 128))
    cases = [
        (lambda x: (x.exp() + 1).cumsum(0).relu().sort(-1)[0], (rows,)),
        (lambda x, w: ((x @ w).softmax(-1) @ w.T).cumsum(0), products),
        (lambda x, w: x.bfloat16() @ w.bfloat16(), products),
        (lambda x: x.take_along_dim(x.argsort(0), 0), (rows,)),
        (lambda x, w: ((x @ w.T).relu() @ w.T).sum(0), ((40, 900), (900, 900))),
        (lambda x: x.T, (rows,)),
        (lambda x, y: (x.add_(y.exp()), y.cumsum(0))[1], (rows, rows)),
        (nn.Sequential(nn.Conv2d(3, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3)), ((32, 3, 40, 40),)),
        (nn.Sequential(nn.Linear(256, 2048), nn.ReLU(), nn.Linear(2048, 64)), (rows,)),
        (until_small, (rows,)),
        (either, (rows,)),
    ]
    for f, shapes in cases:
        examples = [of_ones(s) for s in shapes]
        if len(shapes) == 2 and shapes[1] != rows:
            examples[1] = lt.ones(5, 6 if shapes[1] == products[1] else 5)
        if isinstance(f, nn.Module):
            examples = [lt.ones(2, *shapes[0][1:])]
        program = lt.jit.capture(f, tuple(examples))
        said, inputs = program.peak_bytes(*shapes), [lt.rand(*s) for s in shapes]
        got = taken(program, inputs)
        assert abs(said - got) < 0.05 * got > 1000, (f, said, got)
    called = lt.jit.parse(CALLS.format(first="%0"))
    said = called.peak_bytes((300000,))
    assert abs(said - taken(called, [lt.randn(300000)])) < 0.05 * said
    with pytest.raises(lt.ShapeError):
        program.peak_bytes((4,))
    masked = lt.jit.capture(lambda x: x[x > 0] * 2, (lt.ones(4),))
    with pytest.raises(lt.UnsupportedError, match="data decides sizes"):
        masked.peak_bytes((4,))
    endless = lt.jit.parse(CALLS.format(first="%2: f32[s0] = call @f(%x) %0"))
    with pytest.raises(lt.UnsupportedError, match="calls itself"):
        endless.peak_bytes((4,))


def test_what_is_told_of_a_program_tells_of_its_functions():
    called = lt.jit.parse(CALLS.format(first="%0"))
    assert same(called(x := lt.randn(1000)), f := called.only(0)(x)) and f.shape == (1000,)
    counts = called.counts
    assert counts["op_runs"] == 4 and counts["bindings"] == 2 and counts["peak_bytes"] >= 4000
    assert "kernel tanh" in called.loops and "@lathe_kernel" in called.vectors
    assert called.explain(verbose=True).count(
        "cumsum -> "
    ) == 2 and "function @a:" in called.explain(verbose=True)
    steps = [line.split()[0] for line in bare(called.instructions) if "  in b" in line]
    assert steps == ["call", "call", "cumsum", "tanh", "cumsum"]
    name, (_, nodes, _) = called._engine.picture(0, True)[3][0]
    assert name == "a" and "own.scan" in [entry for *_, entry, _, _ in nodes]


@shows(
    "EX-11",
    "inputs and constants have names in the graph, arguments by theirs, weights by their path; a "
    "constant is made an input that is trained by `trainable`, and only so",
)
def test_ex_11_trainable():
    net = nn.Linear(3, 1)
    fixed = lt.jit.capture(net, (lt.ones(2, 3),))
    assert [name for name, *_ in fixed.inputs] == ["input"]
    assert fixed.variables() == ["input", "weight", "bias"]
    free = fixed.trainable("weight", "bias")
    assert [name for name, *_ in free.inputs] == ["input", "weight", "bias"]
    x, by_weight = lt.randn(8, 3), free.deriv(0, "weight", "bias")
    weight, bias = net.weight.detach(), net.bias.detach()
    dw, db = by_weight(x, weight, bias)
    net(x).sum().backward()
    np.testing.assert_allclose(dw.numpy(), net.weight.grad.numpy(), rtol=1e-6)
    assert same(db, net.bias.grad)
    stepped = free(x, weight - dw * 0.1, bias - db * 0.1)
    assert stepped.sum() < fixed(x).sum() and same(free(x, weight, bias), fixed(x))
    with pytest.raises(lt.NameError):
        fixed.trainable("y")


@shows(
    "PV-08",
    "`variables`, `ordered_ops` and `deriv` of a program, with `only` and `trainable` to change "
    "it: the seed's logistic regression",
)
def test_pv_08_queries():
    def regression(X, Y, W, b):  # noqa: N803
        Y_hat = lt.reciprocal(lt.exp(-(W @ X + b)) + 1)  # noqa: N806
        entropy = -(Y * Y_hat.log() + (1 - Y) * (1 - Y_hat).log()).sum()
        return Y_hat, entropy / X.shape[1]

    examples = (lt.randn(3, 8), (lt.randn(8) > 0).float(), lt.zeros(3), lt.zeros(1))
    program = lt.jit.capture(regression, examples)
    assert program.variables(0) == ["X", "W", "b"] and program.variables(1) == list("XYWb")
    ops = [op for op, _ in program.ordered_ops(1)]
    assert [op for op in ops if op in ("exp", "reciprocal", "sum")] == ["exp", "reciprocal", "sum"]
    assert all(re.search(r"test_graphs.py:\d+", place) for _, place in program.ordered_ops(0))
    grad = program.deriv(1, "W", "b")
    X, Y, W, b = examples  # noqa: N806
    W.requires_grad_(), b.requires_grad_()
    first = regression(*examples)[1]
    first.backward()
    dw, db = grad(X, Y, W.detach(), b.detach())
    np.testing.assert_allclose(dw.numpy(), W.grad.numpy(), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(db.numpy(), b.grad.numpy(), rtol=1e-5, atol=1e-7)
    w, b = W.detach(), b.detach()
    for _ in range(50):
        dw, db = grad(X, Y, w, b)
        w, b = w - dw, b - db
    assert program(X, Y, w, b)[1] < first.detach()


@shows(
    "EX-20",
    "a second run works out nothing anew (`bindings` stays) and its plan is fixed; `explain()` "
    "gives of each generated step what an element loads, computes and stores",
)
def test_ex_20_bound_early(flag):
    flag("engine", "llvm")
    program = lt.jit.capture(lambda x, w: (x @ w).relu().exp() * 2, (lt.ones(2, 3), lt.ones(3, 4)))
    x, w = lt.randn(7, 8), lt.randn(8, 5)
    program(x, w)
    program.compile()
    plan, bound = program.explain(verbose=True), program.counts["bindings"]
    for _ in range(5):
        program(x, w)
    assert program.explain(verbose=True) == plan and program.counts["bindings"] == bound
    assert re.search(r"an element: \d+ loads, about \d+ operations, \d+ stores", plan)


@shows(
    "TR-04",
    "a traced call under the tape is one node, whatever it computes; its backward program is made "
    "at the first call, and a later backward pass makes none",
)
def test_tr_04_one_node():
    def f(x, w):
        for _ in range(5):
            x = (x @ w).tanh() + x
        return x.sum()

    traced = lt.trace(f)
    for _ in range(3):
        x, w = lt.randn(4, 4), lt.randn(4, 4)
        grads = []
        for way in (f, traced):
            leaves = [t.clone().requires_grad_() for t in (x, w)]
            y = way(*leaves)
            nodes, found = [y.grad_fn], set()
            while nodes:
                node = nodes.pop()
                if node is not None and node not in found:
                    found.add(node)
                    nodes += [n for n, _ in node.next_functions]
            y.backward()
            grads.append((len(found), [t.grad for t in leaves]))
        assert grads[0][0] > 15 and grads[1][0] == 3, "one node and two leaves"
        assert all(same(a, b) for a, b in zip(grads[0][1], grads[1][1], strict=True))
    assert traced.counts["traces"] == 1 and traced.counts["node_by_node"] == 0
