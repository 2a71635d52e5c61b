"""Nothing of ours runs before main: no object has a static constructor.

Registrars that run at load vanish from a static link without a word, and their order is nobody's.
"""

from tree import Result, run

NAME = "static init"

FOLDERS = ("core", "kernels", "graph", "autodiff", "jit", "capi", "python")
SECTIONS = (".init_array", ".ctors", ".preinit_array")


def check(tree):
    result = Result()
    objects = tree.our_objects(*FOLDERS)
    for entry in objects:
        # The instrumentation of sanitizers and coverage has constructors in every object.
        if "-fsanitize" in entry.command or "--coverage" in entry.command:
            result.skipped = "an instrumented build has its own"
            return result
        table = run(["objdump", "-h", "-w", entry.path])
        names = [line.split()[1] for line in table.splitlines() if line.strip()[:1].isdigit()]
        if any(name.startswith(SECTIONS) for name in names):
            result.problems.append(f"{entry.source}: has a static constructor")
    result.figure = f"{len(objects)} objects"
    return result
