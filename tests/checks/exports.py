"""Shared objects export only the C interface: two of us, or another LLVM, live in one process."""

import re

from tree import Result, run

NAME = "exports"

ALLOWED = re.compile(r"lathe_\w+$|PyInit__lathe$")
LINKER = {"_init", "_fini", "__bss_start", "_end", "_edata"}


def shared_objects(tree):
    found = list((tree.build / "lib").glob("liblathe*.so")) + list(
        (tree.build / "python").rglob("_lathe*.so")
    )
    return sorted(p for p in found if not p.is_symlink() or p.name == "liblathe.so")


def check(tree):
    result = Result()
    objects = shared_objects(tree)
    count = 0
    for path in objects:
        # Columns: value, type, name; symbols of our own version nodes have a type of A.
        for line in run(["nm", "-D", "--defined-only", path]).splitlines():
            kind, name = line.split()[-2:]
            name = name.split("@")[0]
            if kind == "A" or name in LINKER:
                continue
            count += 1
            if not ALLOWED.match(name):
                result.problems.append(f"{path.name}: exports {name}")
    if tree.sources("capi", suffixes=(".cpp",)) and not (tree.build / "lib/liblathe.so").exists():
        result.problems.append("liblathe.so was not built")
    result.figure = f"{len(objects)} shared objects, {count} symbols"
    return result
