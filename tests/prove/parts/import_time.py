"""What `import lathe` costs over bare Python, as it is and with a thousand definitions more."""

import json
import os
import subprocess
import sys
import tempfile
import time
from statistics import median

from .proof import BUILD, existing, require, run

MOST = 12.0  # milliseconds
ROUNDS, RUNS = 5, 30  # neighbours slow down one round or another: the best one counts
FIRST = """
import json, time
import lathe
began = time.perf_counter()
lathe.ones(1).relu()
print(json.dumps([len(lathe._lathe._definitions()), (time.perf_counter() - began) * 1e3]))
"""


def import_time():
    """The figure: milliseconds over `python -c pass`, both ways, and those of the first op."""
    built = run("many", "./dev", "build", "release", "--target", "lathe_many")
    require(built.code == 0, f"lathe_many was not built; whole log: {built.log}")
    with tempfile.TemporaryDirectory() as cache:
        # A user's Python keeps compiled modules, whatever the shell of this proof says.
        environment = {n: v for n, v in os.environ.items() if n != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = cache
        told, most = [], 0.0
        for folder in ("python", "many"):
            package = existing(BUILD / folder)
            require(list(package.glob("lathe/_lathe*.so")), f"{package} has no module")
            environment["PYTHONPATH"] = str(package)
            definitions, first = json.loads(_output(FIRST, environment))
            cost, bare = min(_round(environment) for _ in range(ROUNDS))
            told.append(
                f"{definitions} definitions: {cost:.1f} ms over {bare:.1f}, first op {first:.1f} ms"
            )
            most = max(most, cost)
        require(definitions >= 1000, f"only {definitions} definitions")
    figure = "; ".join(told)
    require(most <= MOST, f"{figure}; {MOST} wanted")
    return figure


def _output(code, environment):
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, env=environment, check=True, capture_output=True, text=True
    ).stdout


def _round(environment):
    """(import over bare Python, bare Python): medians of runs in turn, on one core, in ms."""
    core = {max(os.sched_getaffinity(0))}

    def cost(code):
        began = time.perf_counter()
        subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            check=True,
            preexec_fn=lambda: os.sched_setaffinity(0, core),
        )
        return (time.perf_counter() - began) * 1e3

    pairs = [(cost("pass"), cost("import lathe")) for _ in range(RUNS)]
    bare = median(p[0] for p in pairs)
    return median(p[1] for p in pairs) - bare, bare
