"""Measures how far the functions of core/scalar/math.h are from exact results.

Writes docs/accuracy.md:

    python tests/accuracy/run.py [--stride N] [--samples N] [--print]

Compiles measure.cpp with the C++ compiler ($CXX or c++) and libquadmath; nothing of the build is
needed. The defaults take a few minutes. --stride 1 looks at every float. --print writes to the
terminal instead.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

BOUND = {  # most ulp in f32: what implementations of that speed reach elsewhere
    "exp": 1.0,
    "exp2": 1.0,
    "log": 1.5,
    "log2": 1.5,
    "log10": 1.5,
    "sigmoid": 2.5,
    "tanh": 5.0,
    "erf": 6.0,
    "expm1": 2.0,
    "log1p": 2.0,
    "sin": 1.5,
    "cos": 1.5,
    "pow": 2.0,
}

METHOD = {  # in the order of the table
    "exp": "2^n times a polynomial of degree 6 (f64: 11); subnormal results rounded once more",
    "exp2": "as exp; exact at whole numbers",
    "expm1": "2^n times the same polynomial without its 1",
    "sigmoid": "exp of minus abs(x), one division",
    "log": "polynomial in m - 1 (f64: in f / (2 + f), one division)",
    "log2": "as log, scaled as a pair; exact at powers of two",
    "log10": "as log2; exact at powers of ten",
    "log1p": "as log, with what 1 + x loses put back",
    "pow": "log2 and the product as pairs; exact where the result is a power of two",
    "tanh": "odd rational 9/8, one division (f64: expm1)",
    "sinh": "polynomials for sinh and cosh of r, no division",
    "cosh": "as sinh",
    "asinh": "log1p",
    "acosh": "log1p",
    "atanh": "log1p",
    "sin": "reduction by pi/2 in three parts; far out (2^17, f64: 2^28) by 2/pi "
    "to as many bits as needed",
    "cos": "as sin",
    "tan": "sine over cosine, one division",
    "asin": "polynomial up to 1/2, by the half angle above",
    "acos": "as asin",
    "atan": "turned by pi/4 and pi/2, one division",
    "atan2": "as atan",
    "erf": "odd rational 11/10, one division (f64: polynomial up to 1, then 1 - erfc)",
    "erfc": "e^(-x^2), x^2 as a pair, times a polynomial in 1 / (1 + x/c)",
    "erfinv": "polynomials in log(1 - x^2) and its root",
    "lgamma": "polynomial around 2, Stirling's series from 8 on; x > 0 measured",
    "digamma": "polynomial around its zero, asymptotic series from 8 on; x > 0 measured",
}

HEAD = """# Accuracy of the elementary functions

Largest error found, in units in the last place of the exact result (1 is the distance between
neighbouring floats there; a correctly rounded result has at most 0.5). Made by
`tests/accuracy/run.py`; do not edit.

Every engine computes these functions by the same IEEE operations (`core/scalar/math.h`), so the
figures hold for eager code on every instruction set, for generated code and for folded
constants. f32 is measured on {f32}, f64 on {samples:,} random ones: a third any bit
pattern, the others of moderate size. Signed zeros, infinities, NaN, overflow and subnormals are
right everywhere, or **wrong** would stand here.

The bound, where there is one, is for f32; `tests/accuracy/run.py` fails where it is exceeded.

| function | f32 | bound | largest at | f64 | largest at | method |
|---|---|---|---|---|---|---|
"""

TAIL = """
`lgamma` and `digamma` are measured for positive arguments. Below 0 they have a zero between any two
whole numbers, near which the error is a few units in the last place of 1, not of the result.

`tanh` and `erf` never leave [-1, 1] and end at exactly 1. Outside their domain, `log`, `asin`,
`acos`, `acosh`, `atanh` and `erfinv` are NaN, and `pow` follows C. f16 and bf16 are computed in f32
and rounded once.
"""


def measure(stride, samples):
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "measure"
        command = [os.environ.get("CXX", "c++"), "-std=gnu++20", "-O2", "-march=native"]
        command += ["-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", f"-I{ROOT}"]
        command += [str(ROOT / "tests/accuracy/measure.cpp"), "-o", str(program), "-lquadmath"]
        subprocess.run(command, check=True)
        run = subprocess.run(
            [program, str(stride), str(samples)], check=True, capture_output=True, text=True
        )
    table = {}
    for line in run.stdout.splitlines():
        name, dtype, error, *at = line.split()
        table[name, dtype] = float(error), [float.fromhex(x) for x in at]
    return table


def cell(entry):
    error, at = entry
    if error >= 1e8:
        return "**wrong**", ", ".join(x.hex() for x in at)
    return f"{error:.2f}", ", ".join(f"{x:.6g}" for x in at)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--stride", type=int, default=97)
    parser.add_argument("--samples", type=int, default=300000)
    parser.add_argument("--print", action="store_true")
    args = parser.parse_args()
    table = measure(args.stride, args.samples)
    f32 = "every argument" if args.stride == 1 else f"every {args.stride}th argument of all 2^32"
    text = HEAD.format(f32=f32, samples=args.samples)
    wrong = []
    for name in METHOD:
        single, double = cell(table[name, "f32"]), cell(table[name, "f64"])
        bound = BOUND.get(name, 1e7)
        shown = f"{bound:.1f}" if name in BOUND else ""
        text += f"| `{name}` | {single[0]} | {shown} | {single[1]} | {' | '.join(double)} "
        text += f"| {METHOD[name]} |\n"
        if table[name, "f32"][0] > bound or table[name, "f64"][0] > 1e7:
            wrong.append(name)
    text += TAIL
    if args.print:
        print(text, end="")
    else:
        (ROOT / "docs" / "accuracy.md").write_text(text)
    for name in wrong:
        print(f"{name}: f32 {table[name, 'f32'][0]}, f64 {table[name, 'f64'][0]} ulp: too much")
    print(f"{len(METHOD) - len(wrong)} passed, {len(wrong)} failed")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
