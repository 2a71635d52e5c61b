"""A new op in three edits: made in a scratch copy, which is built and asked for the op everywhere.

    ./dev python tests/prove/three_edits.py [--keep FOLDER]

The copy is built first as it is, so that what is timed is what a person waits for after the edits.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# (file, the text in front of which it goes, what is put there); None: at the end
EDITS = (
    (
        "core/ops/nn.cpp",
        r"(?<=\n)  r\.elementwise\(",
        """  r.elementwise("fast_sigmoid(Tensor input) -> Tensor",
                [](Expr x) { return x / (1.0 + abs(x)); },
                {.domain = floating,
                 .promote = Promote::to_float,
                 .places = kEverywhere,
                 .inplace_argument = true,
                 .doc = "x / (1 + |x|)."});
""",
    ),
    (
        "include/lathe/ops/nn.h",
        r"(?<=\n)  static inline const Fn<T, T\(T x\)> relu\{",
        """  static inline const Fn<T, T(T x)> fast_sigmoid{"fast_sigmoid"};
""",
    ),
    ("tests/samples/nn.txt", None, "fast_sigmoid: f[2, 3]\n"),
)

LOOK = r"""
import contextlib, io, sys
import lathe as lt
import lathe.nn.functional as F

def near(a, b):
    return all(abs(x - y) < 1e-6 for x, y in zip(a.tolist(), b))

values = [-3.0, -0.5, 0.25, 2.0]
want = [v / (1 + abs(v)) for v in values]
slope = [1 / (1 + abs(v)) ** 2 for v in values]
x = lt.tensor(values, requires_grad=True)
y = lt.fast_sigmoid(x)
places = []
assert near(y.detach(), want)
places.append("function")
assert near(x.detach().fast_sigmoid(), want)
places.append("method")
z = x.detach().clone()
assert z.fast_sigmoid_() is z and near(z, want)
places.append("in place")
out = lt.empty(4)
assert lt.fast_sigmoid(x.detach(), out=out) is out and near(out, want)
places.append("out=")
z = x.detach().clone()
assert near(F.fast_sigmoid(input=x.detach()), want) and F.fast_sigmoid(z, inplace=True) is z
assert near(z, want)
places.append("nn.functional")
y.sum().backward()
assert near(x.grad, slope)
places.append("gradient")
lt.set_flag("fallback_is_error", True)
lt.set_flag("engine", "llvm")
for name, wrap in (("trace", lt.trace), ("script", lt.script)):
    f = wrap(lambda x: lt.fast_sigmoid(x) * 2)
    assert near(f(x.detach()), [2 * v for v in want]), name
    assert f.counts["generated_runs"] == 1, f.counts
    places.append(name)
    assert "fast_sigmoid(" in f.graph
assert "generated (defined): chosen" in f.explain(verbose=True)
places += ["JIT", "printer"]
text = io.StringIO()
with contextlib.redirect_stdout(text):
    help(lt.fast_sigmoid)
assert "x / (1 + |x|)." in text.getvalue() + lt.fast_sigmoid.__doc__
places.append("help()")
sys.path.insert(0, "docs")
import reference
pages = reference.pages()
assert "## fast_sigmoid\n" in pages["ops-nn"]
assert "fast_sigmoid(Tensor input) -> Tensor" in pages["ops-nn"]
places.append("docs")
print("found in", ", ".join(places))
"""


# A program of its own, as an installed Lathe is used.
PROGRAM = """
#include <lathe/lathe.hpp>

#include <cstdio>

int main() {
  lathe::Tensor x({-3.f, 1.f}, {2});
  for (float v : lathe::ops::fast_sigmoid(x).values<float>()) std::printf("%g ", v);
}
"""


def run(folder, *command):
    done = subprocess.run(
        command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    if done.returncode != 0:
        print(done.stdout[-4000:], done.stderr[-4000:], sep="\n")
        sys.exit(
            f"three_edits.py: {' '.join(map(str, command))[:200]} ended with {done.returncode}"
        )
    return done.stdout


def edit(folder):
    for path, before, added in EDITS:
        file = folder / path
        text = file.read_text()
        if before is None:
            file.write_text(text.rstrip("\n") + "\n" + added)
            continue
        found = re.search(before, text[text.find("add_activations") :] if "core" in path else text)
        if found is None:
            sys.exit(f"three_edits.py: {path} has no place for it any more")
        at = found.start() + (text.find("add_activations") if "core" in path else 0)
        file.write_text(text[:at] + added + text[at:])
    changed = run(folder, "git", "diff", "--numstat").split("\n")
    lines = sum(int(line.split()[0]) for line in changed if line)
    return len([line for line in changed if line]), lines


def called_from_cpp(folder):
    """Compiles and runs PROGRAM against this copy's library."""
    source, program = folder / "build/look.cpp", folder / "build/look"
    source.write_text(PROGRAM)
    library = next(folder.glob("build/release/**/liblathe.so")).parent
    options = ["-std=c++17", "-Wall", "-Werror", "-I", folder / "include", "-L", library]
    run(folder, "g++", *options, source, "-o", program, "-llathe", f"-Wl,-rpath,{library}")
    if run(folder, program) != "-0.75 0.5 ":
        sys.exit("three_edits.py: C++ gets other numbers")


def printed_stubs(folder):
    """Where the stubs that are printed anew have it."""
    run(folder, "./dev", "python", "python/stubs/print_stubs.py")
    package = folder / "python/lathe"
    for stub, wanted in (
        ("__init__.pyi", "def fast_sigmoid("),
        ("nn/functional.pyi", "fast_sigmoid"),
    ):
        if wanted not in (package / stub).read_text():
            sys.exit(f"three_edits.py: {stub} does not have it")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", metavar="FOLDER", help="the scratch copy, which stays")
    args = parser.parse_args()
    folder = Path(args.keep or tempfile.mkdtemp()) / "lathe"
    try:
        if not folder.exists():
            run(ROOT, "git", "clone", "-q", "--no-hardlinks", ROOT, folder)
        run(folder, "git", "checkout", "-q", "--", ".")
        run(folder, "./dev", "build")
        files, lines = edit(folder)
        began = time.time()
        tests = run(folder, "./dev", "test", "fast_sigmoid")
        waited = time.time() - began
        passed = re.search(r"^(\d+) passed, 0 failed", tests, re.M).group(1)
        look = folder / "build/look.py"  # a script's source has to be in a file
        look.write_text(LOOK)
        found = run(folder, "./dev", "python", look).strip().splitlines()[-1]
        printed_stubs(folder)
        called_from_cpp(folder)
    finally:
        if not args.keep:
            shutil.rmtree(folder.parent, ignore_errors=True)
    print(
        f"fast_sigmoid: {files} files, {lines} lines; {found}, stubs, C++; "
        f"{passed} tests run {waited:.0f} s after the edits"
    )
    sys.exit(0 if files == 3 and waited <= 120 else 1)


if __name__ == "__main__":
    main()
