"""The environment that the suites of others run in, beside this build of lathe."""

import os
import subprocess

from .proof import BUILD, ROOT, Missing, existing, require, run

HOW = "tests/suites/README.md says how it is made"


def interpreter(*modules):
    """The Python of the suites' environment; Missing where it, or one of these modules, is not."""
    found = os.environ.get("LATHE_SUITES_PYTHON") or str(ROOT / ".deps/suites/bin/python")
    if not os.path.exists(found):
        raise Missing(f"{found} is not there: {HOW}")
    for module in modules:
        code = ["-c", f"import importlib.util as u; exit(not u.find_spec({module!r}))"]
        if subprocess.run([found, *code]).returncode:
            raise Missing(f"{found} has no {module}: {HOW}")
    return found


def suite(name, script, *arguments, modules=(), timeout=7200):
    """Runs a script of tests/suites over this build; `not run` in its last line is Missing."""
    python = interpreter(*modules)
    package = existing(BUILD / "python")
    command = [python, existing(script), *arguments]
    done = run(name, *command, timeout=timeout, PYTHONPATH=str(package))
    last = (done.text.strip().splitlines() or ["it printed nothing"])[-1]
    require("not run" not in last and done.code == 0, f"{last}; whole log: {done.log}")
    return done


def share(count, whole, least, what):
    """'what: count of whole (x %)'; Missing below `least` per cent, and where there is nothing."""
    told = f"{what} {count} of {whole}" + (f" ({100 * count / whole:.1f} %)" if whole else "")
    require(whole and 100 * count >= least * whole, f"{told}; at least {least} % wanted")
    return told
