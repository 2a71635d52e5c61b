"""explain(): every step has a reason from the catalogue, every reason follows what it names."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import lathe as lt
from lathe import _lathe, nn

ROOT = Path(__file__).resolve().parents[2]
STEP = re.compile(r"  \d+\. ")
CHOICE = re.compile(r" +([\w.]+) \((defined|pinned|free)\): (.*)")


def layer(x, w, b):
    return lt.gelu(x @ w + b)


class Net(nn.Module):
    """A convolution, batch norm, pooling and a linear layer."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.out = nn.Linear(64, 10)

    def forward(self, x):
        x = nn.functional.max_pool2d(lt.relu(self.norm(self.conv(x))), 2)
        return self.out(x.flatten(1))


@pytest.fixture
def flag():
    """Sets flags for one test."""
    before = {}

    def set_flag(name, value):
        before.setdefault(name, lt.get_flag(name))
        lt.set_flag(name, value)

    yield set_flag
    for name, value in before.items():
        lt.set_flag(name, value)


def arguments(dtype=lt.float32):
    lt.manual_seed(1)
    return [lt.randn(*s).to(dtype) for s in ((6, 40), (40, 5), (5,))]


def bits(t):
    return bytes(memoryview(t.detach().contiguous().numpy()).cast("B"))


def steps_of(text):
    """[(head, {entry: (bits class, reason)})] of each step."""
    steps = []
    for line in text.splitlines():
        if STEP.match(line):
            steps.append((line.strip(), {}))
        elif steps and (found := CHOICE.match(line)):
            entry, kind, reason = found.groups()
            steps[-1][1][entry] = (kind, reason)
    return steps


def explained(function, *args):
    traced = lt.trace(function)
    result = traced(*args)
    return steps_of(traced.explain()), result


def choices_for(name, function, *args):
    """The entries of the first step of this op, and the function's result."""
    steps, result = explained(function, *args)
    return next(c for head, c in steps if f" {name} -> " in head), result


def chosen(choices):
    (entry,) = [e for e, (_, reason) in choices.items() if reason.startswith("chosen")]
    return entry


def has_reason(reason, figures):
    """Whether this is a sentence of the catalogue, with figures if any are asked for."""
    for sentence in _lathe._reasons():
        if reason == sentence:
            return not figures
        if reason.startswith(f"{sentence} (") and reason.endswith(")"):
            return True
    return False


def without_numbers():
    """Sentences that say all there is to say."""
    return {"built without CUDA", "not compiled yet"}


def check_steps(steps):
    reasons = 0
    for head, choices in steps:
        assert choices, f"a step without a reason: {head}"
        assert re.search(r"# .*:\d+$", head), f"a step without the user's line: {head}"
        chosen(choices)
        for entry, (_, reason) in choices.items():
            if reason.startswith("chosen"):
                assert re.fullmatch(r"chosen \(.*\d.*\)", reason), f"{head}: {entry}: {reason}"
                continue
            reasons += 1
            assert has_reason(reason, reason not in without_numbers()), f"{entry}: {reason}"
    return reasons


def test_every_step_of_a_layer_has_reasons():
    steps, _ = explained(layer, *arguments())
    reasons = check_steps(steps)
    assert len(steps) == 2  # the product, and one group of the rest
    print(f"explained: gelu(x @ w + b), {len(steps)} steps, {reasons} reasons")


def test_every_step_of_a_network_has_reasons():
    lt.manual_seed(2)
    net = Net().eval()
    with lt.no_grad():
        steps, _ = explained(lambda x: net(x), lt.randn(3, 1, 8, 8))
    check_steps(steps)
    assert len(steps) >= 4


def test_every_step_of_a_frozen_network_has_reasons():
    lt.manual_seed(2)
    program = lt.freeze(Net(), lt.InputSpec((None, 1, 8, 8)))
    program(lt.randn(3, 1, 8, 8))
    steps = steps_of(program.explain())
    reasons = check_steps(steps)
    assert len(steps) >= 4
    print(f"explained: a frozen network, {len(steps)} steps, {reasons} reasons")


def test_flag_disabled_changes_choice_and_reason_but_not_defined_bits(flag):
    args = arguments()
    before, ours = choices_for("mm", layer, *args)
    assert chosen(before) == "own.gemm"
    assert before["onednn.matmul"][1].startswith("would do, but stands later")
    flag("disabled", "own.gemm")
    after, vendors = choices_for("mm", layer, *args)
    assert chosen(after) == "onednn.matmul"
    assert after["own.gemm"][1] == "disabled by flag (own.gemm)"
    assert after["onednn.matmul"][0] == "pinned"
    assert bits(layer(*args)) == bits(vendors)  # eager asks the same table
    flag("disabled", "own.gemm,onednn,openblas,eigen")
    last, defined = choices_for("mm", layer, *args)
    assert chosen(last) == "reference.contract"
    assert last["reference.contract"][0] == "defined"
    assert bits(defined) == bits(ours)


@pytest.mark.parametrize("vendor", ["onednn", "openblas", "eigen"])
def test_a_vendor_less_changes_its_reason_only(flag, vendor):
    args = arguments()
    before, ours = choices_for("mm", layer, *args)
    flag("disabled", vendor)
    after, same = choices_for("mm", layer, *args)
    for entry, (_, reason) in after.items():
        if entry.startswith(vendor):
            assert reason == f"disabled by flag ({vendor})"
            assert before[entry][1] != reason
        else:
            assert before[entry][1] == reason
    assert bits(ours) == bits(same)


def test_reason_op():
    product, _ = choices_for("mm", layer, *arguments())
    assert product["onednn.conv"][1] == "does not know this op (mm)"
    convolution, _ = choices_for("conv2d", lt.conv2d, lt.ones(1, 2, 5, 5), lt.ones(3, 2, 3, 3))
    assert "does not know this op" not in convolution["onednn.conv"][1]
    assert convolution["onednn.matmul"][1] == "does not know this op (conv2d)"


def test_reason_dtype():
    floats, _ = choices_for("mm", layer, *arguments())
    assert floats["eigen.gemm"][1].startswith("would do")
    ints = [lt.ones(2, 3, dtype=lt.int32), lt.ones(3, 4, dtype=lt.int32)]
    whole, _ = choices_for("mm", lt.matmul, *ints)
    assert whole["eigen.gemm"][1] == "lacks this dtype (int32)"
    assert whole["openblas.gemm"][1] == "lacks this dtype (int32)"


def test_reason_rank():
    few, many = [1] * 3, [1] * 16
    flat, _ = choices_for("mm", lt.matmul, lt.ones(*few, 2, 3), lt.ones(3, 4))
    assert flat["openblas.gemm"][1].startswith("would do")
    deep, _ = choices_for("mm", lt.matmul, lt.ones(*many, 2, 3), lt.ones(3, 4))
    assert deep["openblas.gemm"][1] == "lacks this rank (18 axes, at most 16)"


def test_reason_cuda_cannot_be_flipped_here():
    product, _ = choices_for("mm", layer, *arguments())
    assert product["cublas.gemm"][1] == product["cudnn.conv"][1] == "built without CUDA"


def test_reason_engine(flag):
    args = arguments()
    name = "group of 2 ops"
    flag("engine", "llvm")
    before, generated = choices_for(name, layer, *args)
    assert chosen(before) == "generated"
    assert before["own.strips"][1] == "would do, but stands later (2 of 2)"
    flag("engine", "strips")
    after, strips = choices_for(name, layer, *args)
    assert chosen(after) == "own.strips"
    assert after["generated"][1] == "not asked for by the flag engine (strips)"
    assert bits(generated) == bits(strips)


# ── what only another process can show ──────────────────────────────────────────────────────────

CHILD = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import test_explain as t
for name in ("mm", "group of 2 ops"):
    choices, result = t.choices_for(name, t.layer, *t.arguments())
    for entry, (kind, reason) in choices.items():
        print(entry, kind, reason, sep="|")
print("bits", t.bits(result).hex(), "", sep="|")
"""


def copy_of_lathe(folder, leave_out=(), broken=()):
    """A package like the one that runs, of links; without some plug-ins, or with damaged ones."""
    package = folder / "lathe"
    package.mkdir()
    for path in Path(lt.__file__).parent.iterdir():
        if path.name in broken:
            (package / path.name).write_bytes(b"no shared object")
        elif path.name not in leave_out:
            (package / path.name).symlink_to(path.resolve() if "_lathe." in path.name else path)
    return folder


def told_by(folder):
    """({entry: reason}, bits) in a process that takes this copy."""
    env = os.environ | {"PYTHONPATH": str(folder)}
    done = subprocess.run([sys.executable, "-c", CHILD], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows = [line.split("|") for line in done.stdout.splitlines()]
    return {r[0]: r[2] for r in rows if r[0] != "bits"}, rows[-1][1]


def test_missing_library_is_a_reason_and_changes_no_defined_bits(tmp_path):
    names = ("whole", "without", "damaged")
    whole, without, damaged = (tmp_path / name for name in names)
    for folder in (whole, without, damaged):
        folder.mkdir()
    plugins = ("liblathe_openblas.so", "liblathe_llvm.so")
    before, bits_before = told_by(copy_of_lathe(whole))
    assert before["openblas.gemm"].startswith("would do")
    assert before["generated"].startswith("chosen")
    gone, bits_gone = told_by(copy_of_lathe(without, leave_out=plugins))
    assert gone["openblas.gemm"] == "not found (liblathe_openblas.so)"
    assert gone["generated"].startswith("not found (LLVM is not installed")
    assert gone["own.strips"].startswith("chosen")
    broken, bits_broken = told_by(copy_of_lathe(damaged, broken=plugins))
    assert broken["openblas.gemm"].startswith("found, but it cannot be opened (")
    assert bits_before == bits_gone == bits_broken
