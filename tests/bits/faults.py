"""Plants one fault at a time in a copy of the tree and checks that the bits tests find it.

    python tests/bits/faults.py [--suite programs|kernels] [--count N] [--only PART]

Every fault is one small change of one source file: in the strips, the emitter, differentiate, the
tape, in-place writes, layouts, the memory plan, rewrites, guards, claims; in what walks kernels
(kernel_faults.py). The copy is built beside the build (ccache makes that cheap) and shares nothing
else with it. For each fault: change, build the tests, run random programs (or kernels) until one
differs or claims do not act, change back. Ends with
"22 of 22 faults found" and the line "N passed, N failed". A fault whose old text is gone has to be
written anew: that fails too.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from kernel_faults import FAULTS as KERNEL_FAULTS  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("LATHE_BUILD_DIR", ROOT / "build/release"))
WORK = ROOT / "build/faults"
TREE = WORK / "tree"
COPY_BUILD = TREE / "build/release"  # where a tree has its build, so that ccache knows the paths
JOBS = len(os.sched_getaffinity(0))


@dataclass
class Fault:
    file: str
    old: str
    new: str
    what: str
    suite: str = "programs"


@dataclass
class Suite:
    binary: str
    test: str
    count: str  # the environment variable that says how many
    share: object  # (job, jobs, count of each) -> what says which ones


SUITES = {
    "programs": Suite(
        "lathe_bits", "RandomPrograms.SlowRandomPrograms", "LATHE_BITS",
        lambda job, jobs, each: {"LATHE_BITS_FIRST": job, "LATHE_BITS_STRIDE": jobs},
    ),
    "kernels": Suite(
        "lathe_tests", "RandomKernels.SlowRandomKernels", "LATHE_KERNELS",
        lambda job, jobs, each: {"LATHE_KERNELS_FIRST": 1 + job * each},
    ),
}  # fmt: skip

FAULTS = [
    Fault(
        "kernels/simd/program_run.cpp",
        "filled = static_cast<uint8_t>(splat);",
        "filled = 0;",
        "strips: a single element is read as if it were a strip",
    ),
    Fault(
        "kernels/simd/program.cpp",
        "for (uint8_t k = 0; k < s.arity; ++k) p_.values_[s.args[k]].last_use = i;",
        "for (uint8_t k = 0; k < s.arity; k += 2) p_.values_[s.args[k]].last_use = i;",
        "strips: a second operand's strip is given away before it is read",
    ),
    Fault(
        "kernels/simd/program_run.cpp",
        "places_[g.value].at, g.at + static_cast<ptrdiff_t>(start) * g.stride, g.stride, count);",
        "places_[g.value].at, g.at, g.stride, count);",
        "strips: a strided operand begins anew with every strip",
    ),
    Fault(
        "jit/llvm/vector_cast.cpp",
        "Value* odd = b.CreateAnd(upper, constant(DType::u32, 1));",
        "Value* odd = constant(DType::u32, 1);",
        "emitter: bf16 rounds ties up, not to even",
    ),
    Fault(
        "jit/llvm/vector_cast.cpp",
        "return is_signed(from) ? b.CreateSExtOrTrunc(x, type(to)) :",
        "return false ? b.CreateSExtOrTrunc(x, type(to)) :",
        "emitter: narrow integers lose their sign",
    ),
    Fault(
        "jit/llvm/vector_ops.cpp",
        "return intrinsic(llvm::Intrinsic::floor, args);",
        "return intrinsic(llvm::Intrinsic::trunc, args);",
        "emitter: negative numbers are rounded up",
    ),
    Fault(
        "jit/llvm/body.cpp",
        "b.CreateCondBr(ops_.any(mask), slow, join, unlikely);",
        "b.CreateCondBr(b.getFalse(), slow, join, unlikely);",
        "emitter: the rare side of a function is never run",
    ),
    Fault(
        "autodiff/backprop.cpp",
        "sum = sum.defined() ? math_ops<Tensor>::add(sum, dy) : dy;",
        "sum = dy;",
        "differentiate: of several contributions the last stays",
    ),
    Fault(
        "autodiff/backprop_structure.cpp",
        "sums_[reached[i]] = from[i].tensor();",
        "sums_.erase(reached[i]);",
        "differentiate: what a branch reads gets no gradient",
    ),
    Fault(
        "autodiff/backprop.cpp",
        "if (any && !n.op()->extra.no_grad && !n.detached())",
        "if (any && !n.op()->extra.no_grad)",
        "differentiate: a detached value lets gradients through",
    ),
    Fault(
        "core/dispatch/replay.cpp",
        "if (view == nullptr || view->version == view->base.impl()->version) return;",
        "if (view == nullptr || view->version != view->base.impl()->version) return;",
        "in place: a view made before a write shows the old value in a trace",
    ),
    Fault(
        "core/dispatch/call.cpp",
        "if (s == nullptr || (in_place && s->result != g.lead->dtype)) return false;",
        "if (s == nullptr) return false;",
        "in place: a comparison writes its bools over wider elements",
    ),
    Fault(
        "core/dispatch/call.cpp",
        "if (g.tracked && thread_state().grad_enabled) return false;",
        "",
        "in place: the tape does not see a write to what it tracks",
    ),
    Fault(
        "jit/plan/planner.cpp",
        "if (auto it = geometry_.find(v); it != geometry_.end()) g = it->second;",
        "if (const TensorType* t = v->type().tensor()) g = Geometry::contiguous(t->shape);",
        "layout: a kernel takes a view's elements to lie in order",
    ),
    Fault(
        "jit/program/runner.cpp",
        "if (!d.is_tensor() || contiguous(d.tensor())) return d;",
        "if (!d.is_tensor() || d.tensor().defined()) return d;",
        "layout: a strided input is read as if it were row-major",
    ),
    Fault(
        "jit/plan/arena.cpp",
        "std::max(last[v], at), by_sizes});",
        "at, by_sizes});",
        "memory plan: an intermediate lives for one step only",
    ),
    Fault(
        "jit/plan/arena.cpp",
        "for (const Value* v : n.in()) last[root_of(v)] = std::max(last[root_of(v)], at);",
        "for (const Value* v : n.in()) last[v] = std::max(last[v], at);",
        "memory plan: a view does not keep what it shows",
    ),
    Fault(
        "graph/passes/merge_common.cpp",
        'absl::StrAppend(&key, " ", static_cast<int>(a.tag), ":", literal_text(a));',
        'absl::StrAppend(&key, " ", static_cast<int>(a.tag), ":");',
        "rewriting: nodes that differ in a literal are taken for one",
    ),
    Fault(
        "jit/differentiable.cpp",
        "return hold_for(facts, [&](uint32_t k) { return ir::said(",
        "return hold_for(facts.first(0), [&](uint32_t k) { return ir::said(",
        "guards: what a trace took for granted about sizes is not asked",
    ),
    Fault(
        "graph/ir/literal.cpp",
        "return lathe::to_string(a.real());",
        "return lathe::to_string(Real(static_cast<float>(a.real().value())));",
        "text: numbers lose digits on the way through a file",
    ),
    Fault(
        "kernels/executor.cpp",
        "return claiming_entry(op, args, types) != nullptr;",
        "return claiming_entry(op, args, types) != nullptr && false;",
        "claims: no composite is ever taken whole",
    ),
    Fault(
        "graph/trace/tracer.cpp",
        "return !op.schema.writes() && below().claims(op, args, types);",
        "return !op.schema.writes() && below().claims(op, args, types) && false;",
        "claims: a trace takes apart what eager takes whole",
    ),
]
FAULTS += [Fault(*fault, suite="kernels") for fault in KERNEL_FAULTS]


def sh(*command, **kwargs):
    return subprocess.run(list(map(str, command)), check=True, **kwargs)


def make_copy():
    """The tree as it is, untracked files included; what did not change keeps its time."""
    listed = sh(
        "git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", capture_output=True, text=True
    )
    wanted = set()
    for name in listed.stdout.splitlines():
        source, copy = ROOT / name, TREE / name
        if not source.is_file():
            continue
        wanted.add(copy)
        if copy.exists() and copy.read_bytes() == source.read_bytes():
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, copy)
    for copy in TREE.rglob("*"):
        ours = copy.is_file() and not copy.is_symlink() and COPY_BUILD not in copy.parents
        if ours and copy not in wanted:
            copy.unlink()
    if not (TREE / ".deps").exists():
        (TREE / ".deps").symlink_to((ROOT / ".deps").resolve())
    if not (COPY_BUILD / "build.ninja").exists():
        command = ["cmake", "--preset", "release", "-B", COPY_BUILD, "-DLATHE_PCH=OFF"]
        sh(*command, cwd=TREE, stdout=subprocess.DEVNULL)


def build(suites):
    """The text of what went wrong, or None."""
    targets = [SUITES[s].binary for s in sorted(suites)]
    command = ["cmake", "--build", COPY_BUILD, "-j", JOBS, "--target", *targets]
    run = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    return None if run.returncode == 0 else run.stdout[-3000:] + run.stderr[-1000:]


def first_difference(suite, count):
    """What the first differing one says, or None. A crash is a difference too."""
    suite, running = SUITES[suite], []
    for k in range(JOBS):
        log = WORK / f"run-{k}.log"
        which = suite.share(k, JOBS, count // JOBS) | {suite.count: count // JOBS}
        env = dict(
            os.environ,
            **{name: str(value) for name, value in which.items()},
            LATHE_BITS_FAULTS="1",
            LATHE_CACHE_DIR="",  # machine code from before the fault must not be found
        )
        env.pop("LATHE_BITS_OUT", None)
        command = [COPY_BUILD / "bin" / suite.binary, f"--gtest_filter={suite.test}"]
        with open(log, "w") as out:
            running.append(
                (subprocess.Popen(command, stdout=out, stderr=out, cwd=TREE, env=env), log)
            )
    found = None
    while running and found is None:
        time.sleep(0.2)
        for entry in list(running):
            process, log = entry
            if process.poll() is None:
                continue
            running.remove(entry)
            if process.returncode != 0:
                text = log.read_text(errors="replace").splitlines()
                lines = [s for s in text if s.startswith(("seed ", "claims: "))]
                found = lines[0] if lines else f"ended with {process.returncode}"
                break
    for process, _ in running:
        process.kill()
        process.wait()
    return found


def try_fault(fault, count):
    """(found, sentence)."""
    path = TREE / fault.file
    text = path.read_text()
    if text.count(fault.old) != 1:
        return False, f"the text is there {text.count(fault.old)} times: write the fault anew"
    path.write_text(text.replace(fault.old, fault.new))
    try:
        problem = build({fault.suite})
        if problem is not None:
            return False, "does not build:\n" + problem
        found = first_difference(fault.suite, count)
        return found is not None, found[:110] if found else f"{count} {fault.suite} do not show it"
    finally:
        path.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", choices=sorted(SUITES), help="what is to find them; both")
    parser.add_argument("--count", type=int, default=2000, help="at most, for each fault")
    parser.add_argument("--only", default="", help="part of what a fault says or of its file")
    args = parser.parse_args()
    chosen = [f for f in FAULTS if args.only in f.what or args.only in f.file]
    chosen = [f for f in chosen if args.suite in (None, f.suite)]
    suites = {f.suite for f in chosen}
    WORK.mkdir(parents=True, exist_ok=True)
    make_copy()
    problem = build(suites)
    if problem is not None:
        print(f"the copy does not build:\n{problem}\n0 passed, 1 failed")
        sys.exit(1)
    for suite in suites:
        if (clean := first_difference(suite, 200)) is not None:
            print(f"without a fault: {clean}\n0 passed, 1 failed")
            sys.exit(1)
    found = 0
    for fault in chosen:
        began = time.time()
        good, sentence = try_fault(fault, args.count)
        found += good
        verdict = "found " if good else "MISSED"
        print(f"{verdict} {fault.what} ({fault.file}): {sentence}; {time.time() - began:.0f} s")
        sys.stdout.flush()
    print(f"{found} of {len(chosen)} faults found")
    print(f"{found} passed, {len(chosen) - found} failed")
    sys.exit(0 if found == len(chosen) else 1)


if __name__ == "__main__":
    main()
