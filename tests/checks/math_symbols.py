"""No object of ours calls a mathematical function of the C library, libmvec or SLEEF.

Their last bits differ from version to version and between scalar and vector code. Exactly rounded
functions (floor, sqrt, fmod ...) are the same everywhere and may be called; fma by the portable
strip, by core, which folds constants with it, and by jit/llvm, whose code may need it.
"""

import re

from tree import Result, run

NAME = "math symbols"

_INEXACT = (
    "exp exp2 exp10 expm1 log log2 log10 log1p pow cbrt hypot sin cos tan sincos asin acos atan "
    "atan2 sinh cosh tanh asinh acosh atanh erf erfc tgamma lgamma gamma j0 j1 jn y0 y1 yn"
).replace(" ", "|")
INEXACT = re.compile(rf"(__)?({_INEXACT})([fl]|f16|f32|f64)?(_finite|_r)?$")
VECTOR = re.compile(r"(_ZGV|Sleef_)")
FMA = re.compile(r"fma[fl]?$")
FMA_ALLOWED = re.compile(r"core/|jit/llvm/|kernels/.*portable[^/]*\.cpp$")
FOLDERS = ("core", "kernels", "graph", "autodiff", "jit")
# What a vendor computes is its own business; the LLVM plug-in is ours.
VENDORS = re.compile(r"kernels/(onednn|openblas|ducc|eigen|cudnn|cublas|cuda)/")


def check(tree):
    result = Result()
    objects = [o for o in tree.our_objects(*FOLDERS) if not VENDORS.match(o.source)]
    by_path = {str(o.path): o for o in objects}
    # -A puts "path:" before each name, so that one nm reads all objects.
    for line in run(["nm", "-A", "-u", *by_path]).splitlines() if objects else []:
        path, _, symbol = line.partition(":")
        entry = by_path[path]
        name = symbol.split()[-1].split("@")[0]
        bad = INEXACT.match(name) or VECTOR.match(name)
        if bad or (FMA.match(name) and not FMA_ALLOWED.match(entry.source)):
            result.problems.append(f"{entry.source}: calls {name}")
    result.figure = f"{len(objects)} objects"
    return result
