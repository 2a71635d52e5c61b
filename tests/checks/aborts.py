"""Nothing of ours ends the process, and nothing of ours runs on OpenMP.

What a user can reach ends in an error, never in abort() or exit(); and the pool is our own, because
OpenMP's threads spin against ours. Only the adapter of a vendor that brings OpenMP may call it.
"""

import re

from tree import Result, run

NAME = "aborts"

FOLDERS = ("core", "kernels", "graph", "autodiff", "jit", "capi", "python")
ENDS = re.compile(r"(abort|exit|_exit|quick_exit|_Exit|raise|__assert_fail|__assert|kill)$")
OPENMP = re.compile(r"(GOMP_|GOACC_|omp_|__kmpc_|kmp_)\w+$")
ALLOWED = re.compile(r"kernels/onednn/")


def check(tree):
    result = Result()
    objects = tree.our_objects(*FOLDERS)
    by_path = {str(o.path): o for o in objects}
    for line in run(["nm", "-A", "-u", *by_path]).splitlines() if objects else []:
        path, _, symbol = line.partition(":")
        source = by_path[path].source
        name = symbol.split()[-1].split("@")[0]
        if ENDS.match(name):
            result.problems.append(f"{source}: may end the process by {name}()")
        elif OPENMP.match(name) and not ALLOWED.match(source):
            result.problems.append(f"{source}: uses OpenMP ({name})")
    result.figure = f"{len(objects)} objects"
    return result
