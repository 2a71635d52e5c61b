"""Each folder includes only what it may see; a vendor's headers stay in its folder.

core <- kernels,  core <- graph <- autodiff,  all <- jit <- capi, python. Inside a folder, a
sub-folder sees those that ROOMS names before it, and the files beside them see all; components
include each other without cycles (cycles.py).
"""

import re

import cycles
from cycles import INCLUDE
from tree import FOLDERS, Result, line_of, strip_cpp

NAME = "layers"

SEES = {
    "core": {"core"},
    "kernels": {"core", "kernels"},
    "graph": {"core", "graph"},
    "autodiff": {"core", "graph", "autodiff"},
    "jit": {"core", "kernels", "graph", "autodiff", "jit"},
    "capi": {"core", "kernels", "graph", "autodiff", "jit", "capi"},
    "python": {"core", "kernels", "graph", "autodiff", "jit", "python"},
    "include": set(),
    "tests": {*FOLDERS, "tests"},
    "examples": set(),
    "docs": set(),
}  # "lathe/..." is judged by judge_public
# The sub-folders of a folder, lowest first: each sees itself and those before it. "" is the folder
# itself. A sub-folder that is not named here is a problem.
ROOMS = {
    "core": [
        *("base", "sizes", "scalar/math", "scalar", "expr", "tensor"),
        *("op", "infer", "dispatch", "batch", "ops"),
    ],
    "kernels": [
        *("runtime", "problem", "table", "vendor"),
        *("onednn", "openblas", "ducc", "eigen", "cudnn", "cublas"),
        *("simd", "reference", "own", "custom"),
        "",
    ],
    "graph": ["ir", "text", "trace", "rewrite", "passes", "rules", "file", ""],
    "autodiff": [""],
    "jit": ["kernel_ir", "simt", "kernel", "llvm", "program", "plan", "", "ahead"],
}
# What only its own room may include.
PRIVATE = ("core/dispatch/in_place.h",)
# Folders whose insides nobody else includes: each is a shared object of its own.
VENDORS = ("onednn", "openblas", "ducc", "eigen", "cudnn", "cublas")
PLUGINS = (*(f"kernels/{vendor}" for vendor in VENDORS), "jit/llvm")

# (pattern of an include, where it may be written)
FOREIGN = [
    (r"(oneapi/dnnl/|dnnl|omp\.h$)", ("kernels/onednn/",)),
    (r"(cblas|lapacke?|openblas|scipy_)", ("kernels/openblas/",)),
    (r"ducc0/", ("kernels/ducc/",)),
    (r"Eigen/", ("kernels/eigen/", "tests/")),
    (r"cudnn", ("kernels/cudnn/",)),
    (r"cublas", ("kernels/cublas/",)),
    (r"(cuda|nvrtc|driver_types)", ("kernels/cuda/", "kernels/cudnn/", "kernels/cublas/")),
    (r"(llvm|llvm-c)/", ("jit/llvm/",)),
    (r"(Python\.h|nanobind/|pybind11/)", ("python/bindings/",)),
    (r"(immintrin|x86intrin|[a-z]mmintrin|arm_neon)\.h$", ("kernels/",)),
    (r"(gtest|gmock)/", ("tests/",)),
    (r"benchmark/", ("tests/bench/",)),
    (r"absl/", tuple(f + "/" for f in FOLDERS) + ("tests/",)),
]
# What the system provides: no folder, or one of these.
SYSTEM = re.compile(r"([a-z0-9_]+(\.h)?|(sys|linux|asm|bits|ext|netinet|arpa)/[\w/.]+)$")


def plugin_of(path):
    return next((p for p in PLUGINS if path.startswith(p + "/")), None)


def room_of(path):
    return path.rpartition("/")[0]


def judge_room(path, target):
    """Why a file may not see a header of the same folder's other room, or None."""
    folder = path.split("/")[0]
    rooms = ROOMS[folder]
    here, there = (room_of(p).removeprefix(folder).removeprefix("/") for p in (path, target))
    for room in (here, there):
        if room not in rooms:
            return f"{folder}/{room}/ has no place in ROOMS ({NAME}.py): say what it may see"
    if rooms.index(there) > rooms.index(here):
        return f"{folder}/{here}/ may not see {folder}/{there}/, which stands above it"
    return None


def judge_own(path, target):
    """Why `path` may not include the project's header `target`, or None."""
    folder = path.split("/")[0]
    top = target.split("/")[0]
    if top not in SEES[folder]:
        return f"{folder}/ may not see {top}/"
    if target in PRIVATE and room_of(path) != room_of(target):
        return f"private to {room_of(target)}/"
    if folder == top and folder in ROOMS and (why := judge_room(path, target)):
        return why
    plugin = plugin_of(target)
    if plugin and plugin != plugin_of(path) and not path.startswith("tests/"):
        return f"the inside of {plugin}/ is its own: it is a shared object opened on first use"
    return None


USERS = ("include", "capi", "tests", "examples", "docs")


def judge_public(path, target):
    folder = path.split("/")[0]
    if target.startswith("lathe/ops/") or folder in USERS:
        return None
    if target == "lathe/custom_op.h" and path.startswith("kernels/custom/"):
        return None  # the other side of that interface
    return "the public headers but lathe/ops/ are for capi/ and for users"


def judge(path, quote, target):
    target = target.removeprefix("include/")
    for pattern, where in FOREIGN:
        if re.match(pattern, target):
            return None if path.startswith(where) else f"allowed only in {', '.join(where)}"
    top = target.split("/")[0]
    if "/" in target and top == "lathe":
        return judge_public(path, target)
    if "/" in target and top in SEES and top != "include":
        return judge_own(path, target)
    if target == "generated/plugins_built.h":
        return None if path.startswith(("kernels/", "jit/", "tests/")) else "for kernels/ and jit/"
    if quote == '"':
        if path.startswith("include/") and "/" not in target:
            return None  # the public headers find each other wherever they are installed
        return "write the path from the root of the tree"
    return None if SYSTEM.match(target) else "no header we know of"


def check(tree):
    result = Result()
    count = 0
    for path in tree.sources():
        if path.split("/")[0] not in SEES:
            continue
        text = strip_cpp(tree.text(path), keep_strings=True)
        for match in INCLUDE.finditer(text):
            count += 1
            why = judge(path, match.group(1), match.group(2))
            if why:
                line = line_of(text, match.start())
                result.problems.append(f'{path}:{line}: includes "{match.group(2)}": {why}')
    cycle_problems, cycle_figure = cycles.judge(tree)
    result.problems += cycle_problems
    rooms = sum(len(r) for r in ROOMS.values())
    result.figure = f"{count} includes, {rooms} rooms, {cycle_figure}"
    return result
