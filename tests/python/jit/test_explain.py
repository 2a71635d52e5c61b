"""explain(): every step has a reason from the catalogue, every reason follows what it names."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from built import copy_of_lathe
from explained_steps import arguments, layer, steps_of
from networks import SmallCNN

import lathe as lt
from lathe import _lathe

ROOT = Path(__file__).resolve().parents[3]


def bits(t):
    return bytes(memoryview(t.detach().contiguous().numpy()).cast("B"))


def explained(function, *args):
    traced = lt.trace(function)
    result = traced(*args)
    return steps_of(traced.explain(verbose=True)), result


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
    return {"built without CUDA", "not compiled yet", "only moves elements"}


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
    net = SmallCNN().eval()
    with lt.no_grad():
        steps, _ = explained(lambda x: net(x), lt.randn(3, 1, 8, 8))
    check_steps(steps)
    assert len(steps) >= 4


def test_every_step_of_a_frozen_network_has_reasons():
    lt.manual_seed(2)
    program = lt.freeze(SmallCNN(), lt.InputSpec((None, 1, 8, 8)))
    program(lt.randn(3, 1, 8, 8))
    steps = steps_of(program.explain(verbose=True))
    reasons = check_steps(steps)
    assert len(steps) >= 4
    print(f"explained: a frozen network, {len(steps)} steps, {reasons} reasons")


def test_flag_disabled_changes_choice_and_reason_but_not_defined_bits(flag):
    args = arguments()
    before, ours = choices_for("mm", layer, *args)
    assert chosen(before) == "own.gemm"
    assert before["onednn.matmul"][1].startswith("usable, lower priority")
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
    images, weight = lt.ones(1, 2, 5, 5), lt.ones(3, 2, 3, 3)
    convolution, _ = choices_for("convolution2d", lt.conv2d, images, weight)
    assert "does not know this op" not in convolution["onednn.conv"][1]
    assert convolution["onednn.matmul"][1] == "does not know this op (convolution2d)"


def test_reason_numerics(flag):
    """A vendor's products are passed over where defined bits are asked for; in bfloat16, which a
    processor may multiply, that decides who computes."""
    before, _ = choices_for("mm", layer, *arguments())
    flag("numerics", "defined")
    after, _ = choices_for("mm", layer, *arguments())
    assert before["onednn.matmul"][1].startswith("usable")
    assert after["onednn.matmul"][1] == "the flag numerics asks for defined bits (pinned)"
    halves = [t.bfloat16() for t in (lt.randn(3, 40), lt.randn(40, 5))]
    product = lt.trace(lambda x, w: x @ w)
    ours = product(*halves)
    assert "own.gemm (defined): chosen" in product.explain(verbose=True)
    flag("numerics", "pinned")
    fast = lt.trace(lambda x, w: x @ w)
    assert lt.equal(fast(*halves), halves[0] @ halves[1])
    assert lt.allclose(fast(*halves).float(), ours.float(), rtol=1e-2, atol=1e-2)


def test_reason_dtype():
    floats, _ = choices_for("mm", layer, *arguments())
    assert floats["eigen.gemm"][1].startswith("usable")
    ints = [lt.ones(2, 3, dtype=lt.int32), lt.ones(3, 4, dtype=lt.int32)]
    whole, _ = choices_for("mm", lt.matmul, *ints)
    assert whole["eigen.gemm"][1] == "lacks this dtype (int32)"
    assert whole["openblas.gemm"][1] == "lacks this dtype (int32)"


def test_reason_rank():
    few, many = [1] * 3, [1] * 16
    flat, _ = choices_for("mm", lt.matmul, lt.ones(*few, 2, 3), lt.ones(3, 4))
    assert flat["openblas.gemm"][1].startswith("usable")
    deep, _ = choices_for("mm", lt.matmul, lt.ones(*many, 2, 3), lt.ones(3, 4))
    assert deep["openblas.gemm"][1] == "lacks this rank (18 axes, at most 16)"


def test_reason_engine(flag):
    args = arguments()
    name = "group of 2 ops"
    flag("engine", "llvm")
    before, generated = choices_for(name, layer, *args)
    assert chosen(before) == "generated"
    assert before["own.simd"][1] == "usable, lower priority (2 of 2)"
    flag("engine", "simd")
    after, strips = choices_for(name, layer, *args)
    assert chosen(after) == "own.simd"
    assert after["generated"][1] == "not asked for by the flag engine (simd)"
    assert bits(generated) == bits(strips)


def turned(x):
    return x.permute(0, 2, 1).clone()


def test_reason_only_moves_elements(flag):
    """What computes nothing is moved by the code that copies tensors everywhere, unless the flag
    asks for generated code."""
    x = lt.randn(3, 5, 2)
    before, moved = choices_for("clone", turned, x)
    assert before["generated"] == ("defined", "only moves elements")
    assert chosen(before) == "own.copy"
    traced = lt.trace(turned)
    traced(x)
    assert traced.counts["moved_runs"] == 1
    flag("engine", "llvm")
    after, generated = choices_for("clone", turned, x)
    assert chosen(after) == "generated"
    assert bits(moved) == bits(generated) == bits(turned(x))
    flag("engine", "auto")
    in_turns, _ = choices_for("clone", lambda x: turned(x).amax(-1), x)
    assert chosen(in_turns) == "generated"  # a few rows at a time


def test_reason_not_compiled_yet(flag, tmp_path):
    flag("engine", "llvm")
    lt.save(layer, tmp_path / "layer.lathe", inputs=tuple(arguments()))
    program = lt.load(tmp_path / "layer.lathe")
    kernel = steps_of(program.explain(verbose=True))[-1][1]
    assert kernel["generated"] == ("defined", "not compiled yet")
    assert chosen(kernel) == "own.simd"
    program(*arguments())
    assert chosen(steps_of(program.explain(verbose=True))[-1][1]) == "generated"


# ── what only another process can show ──────────────────────────────────────────────────────────

CHILD = f"""
import sys
sys.path[:0] = {[str(Path(__file__).parents[k]) for k in (0, 1)]!r}  # this file, its helpers
import test_explain as t
for name in ("mm", "group of 2 ops"):
    choices, result = t.choices_for(name, t.layer, *t.arguments())
    for entry, (kind, reason) in choices.items():
        print(entry, kind, reason, sep="|")
print("bits", t.bits(result).hex(), "", sep="|")
"""


def run(code, **variables):
    """What a process of its own prints."""
    env = os.environ | {k: str(v) for k, v in variables.items()}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def told_by(folder=None, **variables):
    """({entry: reason}, bits) in a process that takes this copy, with these variables."""
    if folder is not None:
        variables["PYTHONPATH"] = folder
    rows = [line.split("|") for line in run(CHILD, **variables).splitlines()]
    return {r[0]: r[2] for r in rows if r[0] != "bits"}, rows[-1][1]


def test_missing_library_is_a_reason_and_changes_no_defined_bits(tmp_path):
    names = ("whole", "without", "damaged")
    whole, without, damaged = (tmp_path / name for name in names)
    for folder in (whole, without, damaged):
        folder.mkdir()
    plugins = ("liblathe_openblas.so", "liblathe_llvm.so")
    before, bits_before = told_by(copy_of_lathe(whole))
    assert before["openblas.gemm"].startswith("usable")
    assert before["generated"].startswith("chosen")
    gone, bits_gone = told_by(copy_of_lathe(without, leave_out=plugins))
    assert gone["openblas.gemm"] == "not found (liblathe_openblas.so)"
    assert gone["generated"].startswith("not found (LLVM is not installed")
    assert gone["own.simd"].startswith("chosen")
    broken, bits_broken = told_by(copy_of_lathe(damaged, broken=plugins))
    for entry in ("openblas.gemm", "generated"):
        assert broken[entry].startswith("found, but it cannot be opened (")
    assert bits_before == bits_gone == bits_broken


def test_reason_not_built(tmp_path):
    whole = told_by(copy_of_lathe(tmp_path / "whole"))[0]
    assert whole["onednn.matmul"].startswith("usable")
    # Eigen's plug-in under oneDNN's name: it opens, and has none of the entries that the table
    # looks for in it, as one that was built without them.
    swap = {"liblathe_onednn.so": "liblathe_eigen.so"}
    other = told_by(copy_of_lathe(tmp_path / "other", instead=swap))[0]
    assert other["onednn.matmul"].startswith("not built (")
    assert other["onednn.conv"] == other["onednn.matmul"]
    assert other["eigen.gemm"] == whole["eigen.gemm"]


BROKEN_CODEGEN = """
#include <stdexcept>
#include "jit/kernel/codegen.h"
namespace lathe::jit {
struct Broken final : Codegen {
  Target host() const override { return {"stand-in", "+none"}; }
  Result<Target> target(std::string_view, bool) const override { return {host(), {}}; }
  static Result<std::string> fail() { FAIL; }
  Result<std::string> compile(const Kernel&, const Target&) override { return fail(); }
  Result<std::string> print(const Kernel&, const Target&) override { return fail(); }
  Result<std::string> ptx(const simt::Program&) override { return fail(); }
  Result<std::string> host_threads(const simt::Program&, const Target&) override { return fail(); }
  Result<LoadedCodeRef> load(std::string_view) override { return {{}, "no loader"}; }
};
}
extern "C" lathe::jit::Codegen* lathe_codegen(uint32_t) {
  static lathe::jit::Broken codegen;
  return &codegen;
}
"""
UNDER_THE_FLAG = f"""
import sys
sys.path[:0] = {[str(Path(__file__).parents[k]) for k in (0, 1)]!r}  # this file, its helpers
import lathe as lt
import test_explain as t
layer = lt.trace(t.layer)
layer(*t.arguments())
lt.set_flag("fallback_is_error", True)
try:
    layer(*t.arguments())
except lt.UnsupportedError as e:
    print(e.problem, e.got, e.next, sep="|")
lt.set_flag("engine", "simd")
layer(*t.arguments())
"""


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ('return {{}, "planted: no such instruction"}', "planted: no such instruction"),
        ('throw std::runtime_error("planted")', "the code generator threw: planted"),
        ("throw 1", "the code generator threw something that is no exception"),
    ],
)
def test_reason_not_compiled(tmp_path, how, said):
    """A code generator that cannot: the SIMD interpreter runs, same bits, explain() says why; under
    the flag fallback_is_error it is an error, but not where strips are asked for."""
    source, plugin = tmp_path / "codegen.cpp", tmp_path / "broken.so"
    source.write_text(BROKEN_CODEGEN.replace("FAIL", how))
    includes = [f"-I{ROOT}", f"-I{ROOT / '.deps/abseil/include'}"]
    command = ["g++", "-std=c++20", "-shared", "-fPIC", *includes, source, "-o", plugin]
    subprocess.run(command, check=True)
    folder = copy_of_lathe(tmp_path / "copy", instead={"liblathe_llvm.so": plugin})
    choices, bits_here = told_by(folder, LATHE_CACHE_DIR="")
    assert choices["generated"] == f"could not be compiled ({said})"
    assert choices["own.simd"].startswith("chosen")
    assert bits_here == told_by()[1]
    error = run(UNDER_THE_FLAG, PYTHONPATH=folder, LATHE_CACHE_DIR="").strip()
    assert error == (
        f"no machine code|{said}|set the flag engine to strips, or turn fallback_is_error off"
    )


STAND_IN = """
#include <stdlib.h>
void scipy_cblas_sgemm(void) {}
void scipy_cblas_dgemm(void) {}
void scipy_cblas_cgemm(void) {}
void scipy_openblas_set_num_threads(int n) { (void)n; }
const char* scipy_openblas_get_corename(void) { return getenv("STAND_IN_CORE"); }
const char* scipy_openblas_get_config(void) { return "a stand-in"; }
void scipy_LAPACKE_set_nancheck(int on) { (void)on; }
"""
ROUTINES = [
    "getrf", "getrs", "potrf", "geqrf", "orgqr", "ungqr", "ormqr", "unmqr", "syevd", "heevd",
    "gesdd", "sytrf", "sytrs", "gels", "gelsy", "gelsd", "gelss", "geev", "hetrf", "hetrs",
]  # fmt: skip
for letter in "sdcz":
    STAND_IN += f"void scipy_cblas_{letter}trsm(void) {{}}\n"
    STAND_IN += "".join(f"void scipy_LAPACKE_{letter}{name}(void) {{}}\n" for name in ROUTINES)
STAND_IN += "void scipy_cblas_zgemm(void) {}\n"


def test_reason_core_type(tmp_path):
    """What OpenBLAS says of the processor is the library's to say: a stand-in says it here, which
    no product is given to."""
    (tmp_path / "blas.c").write_text(STAND_IN)
    library = tmp_path / "libscipy_openblas.so"
    subprocess.run(["gcc", "-shared", "-fPIC", tmp_path / "blas.c", "-o", library], check=True)
    told = {}
    for core in ("SkylakeX", "Zen", "Prescott", "Nehalem"):
        told[core] = told_by(LD_LIBRARY_PATH=tmp_path, STAND_IN_CORE=core)[0]["openblas.gemm"]
    processor = Path("/proc/cpuinfo").read_text()
    newest = "SkylakeX" if " avx512vl " in processor else "Zen"
    if " avx2 " in processor:
        for old in ("Prescott", "Nehalem"):
            assert told[old] == f"takes this processor for an old one ({old})"
    assert told[newest].startswith("usable")


def test_an_old_core_asked_for_in_the_environment_is_not_taken():
    told = told_by(OPENBLAS_CORETYPE="Prescott")[0]["openblas.gemm"]
    processor = Path("/proc/cpuinfo").read_text()
    if " avx512vl " in processor:  # the library is told what the processor is, whatever was asked
        assert told.startswith("usable")
    elif " avx2 " in processor:
        # Which of its old ones it then takes differs between processors.
        assert re.fullmatch(r"takes this processor for an old one \((Prescott|Katmai)\)", told)
    else:
        assert told.startswith("usable")


EXTENT = f"""
import sys
sys.path[:0] = {[str(Path(__file__).parents[k]) for k in (0, 1)]!r}  # this file, its helpers
import lathe as lt
lt.use_table("mm f32 1..32 eigen.gemm  # a rule")
import test_explain as t
def told(text):
    rows = [line.split(" ", 1) for line in text.splitlines()]
    return dict((name, rest.split(": ", 1)[1]) for name, rest in rows)
f = lt.trace(lambda x, w: x @ w)
for k in (1, 32, 33, 200):
    x, w = lt.randn(3, k), lt.randn(k, 4)
    assert t.bits(f(x, w)) == t.bits(x @ w), k
    here = told(lt.table("mm", x, w))
    print(k, here["own.gemm"], here["eigen.gemm"], sep="|")
choices, _ = t.choices_for("mm", lambda x, w: x @ w, x, w)
print("graph", choices["own.gemm"][1], choices["eigen.gemm"][1], sep="|")
try:
    lt.use_table("")
except lt.UnsupportedError as e:
    print(e.problem)
"""


def test_reason_extent():
    """A tuned table names extents of the sum; the choice changes where its range ends. In a graph
    the extent may be a symbol: then the rule is read when the program runs."""
    *rows, late = run(EXTENT).splitlines()
    told = {k: rest for k, *rest in (row.split("|") for row in rows)}
    rule = "the table gives 1..32 to eigen.gemm"
    for k in ("1", "32"):
        assert told[k] == [
            f"not chosen at this reduced extent ({k}; {rule})",
            "chosen (5 of 8)",
        ]
    for k in ("33", "200"):
        assert told[k] == ["chosen (1 of 8)", "usable, lower priority (5 of 8)"]
    assert told["graph"] == [
        f"chosen (1 of 8; {rule})",
        f"not chosen at this reduced extent (known when it runs; {rule})",
    ]
    assert late == "the table is fixed from the first op on"


@pytest.mark.parametrize(
    "table",
    ["mm f32 1..9", "mm f33 1..9 own.gemm", "mm f32 1-9 own.gemm", "mm f32 1..9 own.none"],
)
def test_wrong_tables_are_refused(table):
    said = run(f"""
import lathe as lt
try:
    lt.use_table("# fine\\n{table}")
except lt.ValueError as e:
    print(e.problem, e.got, sep="|")
assert lt.table("mm").startswith("1. own.gemm (defined)")
""")
    problem, got = said.strip().split("|")
    assert problem.startswith("line 2: ") and got == table


def test_the_table_says_what_cannot_be_used():
    said = run("import lathe as lt; print(lt.table('mm'))", LATHE_DISABLED="own.gemm,eigen")
    lines = dict(line.split(". ", 1)[1].split(" ", 1) for line in said.splitlines())
    assert lines["own.gemm"].startswith("(defined): disabled by flag")
    assert lines["eigen.gemm"].startswith("(pinned): disabled by flag")
    assert lines["reference.contract"] == "(defined)"
    assert lines["cublas.gemm"].startswith("(pinned): ")  # not built, or without CUDA


def test_what_a_trace_is_called():
    f = lt.trace(lt.nn.Linear(2, 2))
    assert repr(f) == "<lathe.trace of Linear: traces=0, programs=0>"
    f(lt.ones(1, 2))
    assert repr(f) == "<lathe.trace of Linear: traces=1, programs=1>"
    assert f.explain(verbose=True).startswith("Linear: ")

    @lt.script
    def step(x):
        return x + 1

    assert repr(step) == "<lathe.script of step: traces=0, programs=0>"


DEVICE = """
import lathe as lt
@lt.library.custom_op("host_only(Tensor x) -> Tensor", shape=lambda x: x)
def host_only(x):
    "x itself, by a kernel that the host alone has."
    return x.clone()
x = lt.tensor([1.0, 2.0])
assert lt.host_only(x).tolist() == [1, 2]
print(lt.table("host_only", x).splitlines()[-1])
away = x.to(device="sim")
print(lt.table("host_only", away).splitlines()[-1])
try:
    lt.host_only(away)
except lt.UnsupportedError as e:
    print(e.got.splitlines()[-1])
print(lt.table("tanh", away).splitlines()[0])
"""


def test_reason_device():
    here, away, said, own = run(DEVICE).splitlines()
    assert re.fullmatch(r"custom\.kernel \(pinned\): chosen \((\d+) of \1\)", here)
    assert away == said == "custom.kernel (pinned): does not run on this device (sim)"
    assert own == "own.simd (defined): chosen (1 of 2)"  # ours run on both


def test_reason_cuda_cannot_be_flipped_here():
    """The two CUDA entries stand in the table for a folder that is not written yet: they refuse
    whatever they are asked, on any machine, and no device, flag or library that this build knows
    leads elsewhere. The test that flips them comes with the folder."""
    product, _ = choices_for("mm", layer, *arguments())
    assert product["cublas.gemm"][1] == product["cudnn.conv"][1] == "built without CUDA"
    with pytest.raises(lt.DeviceError):
        lt.ones(2).to(device="cuda")


FLIPPED_BY = {
    "disabled by flag": test_flag_disabled_changes_choice_and_reason_but_not_defined_bits,
    "not built": test_reason_not_built,
    "not found": test_missing_library_is_a_reason_and_changes_no_defined_bits,
    "found, but it cannot be opened": (
        test_missing_library_is_a_reason_and_changes_no_defined_bits
    ),
    "does not run on this device": test_reason_device,
    "does not know this op": test_reason_op,
    "the flag numerics asks for defined bits": test_reason_numerics,
    "lacks this dtype": test_reason_dtype,
    "lacks this rank": test_reason_rank,
    "not chosen at this reduced extent": test_reason_extent,
    "takes this processor for an old one": test_reason_core_type,
    "usable, lower priority": test_reason_engine,
    "not asked for by the flag engine": test_reason_engine,
    "not compiled yet": test_reason_not_compiled_yet,
    "could not be compiled": test_reason_not_compiled,
    "only moves elements": test_reason_only_moves_elements,
    "declines": "tests/python/test_claims.py",
}
CANNOT_BE_FLIPPED = {"built without CUDA": test_reason_cuda_cannot_be_flipped_here}


def test_every_reason_of_the_catalogue_is_here():
    assert sorted(_lathe._reasons()) == sorted([*FLIPPED_BY, *CANNOT_BE_FLIPPED])
    print(f"explained: {len(FLIPPED_BY)} reasons flipped, {len(CANNOT_BE_FLIPPED)} cannot be")
