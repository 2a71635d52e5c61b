"""Runs the checks of this folder, one line each, and ends with "N passed, N failed".

Called by ./dev check.

python tests/checks/run.py [--full] [NAME...]
"""

import argparse
import importlib
import os
import sys
import time
import traceback
from pathlib import Path

from tree import Result, Tree

ROOT = Path(__file__).resolve().parents[2]
MODULES = (
    "layers sizes op_names derivatives environment tolerances machine_words file_names doc_width "
    "words third_party lint signatures format compile_flags weak_symbols math_symbols aborts "
    "static_init exports headers tidy"
)
SHOWN = 20


def outcome(module, tree):
    try:
        return module.check(tree)
    except Exception:  # a check that cannot look has not passed
        return Result([f"the check itself failed:\n{traceback.format_exc()}"])


def report(module, result, seconds):
    word = "FAIL" if result.problems else "SKIP" if result.skipped else "PASS"
    figure = result.skipped or result.figure
    print(f"{word} {module.NAME:<14} {len(result.problems)} problems; {figure}; {seconds:.1f} s")
    for problem in result.problems[:SHOWN]:
        print(f"     {problem}")
    if len(result.problems) > SHOWN:
        print(f"     ... and {len(result.problems) - SHOWN} more")
    for note in result.notes:
        print(f"     note: {note}")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="only these checks")
    parser.add_argument("--full", action="store_true", help="the slow ones too")
    args = parser.parse_args()
    modules = [importlib.import_module(name) for name in MODULES.split()]
    if args.names:
        known = {m.__name__: m for m in modules}
        unknown = [n for n in args.names if n not in known]
        if unknown:
            parser.error(f"no check {', '.join(unknown)}; there are {', '.join(known)}")
        modules = [known[n] for n in args.names]
    elif not args.full:
        modules = [m for m in modules if not getattr(m, "SLOW", False)]
    tree = Tree(ROOT, Path(os.environ.get("LATHE_BUILD_DIR", ROOT / "build/release")))
    passed = failed = 0
    for module in modules:
        began = time.time()
        result = outcome(module, tree)
        report(module, result, time.time() - began)
        failed += bool(result.problems)
        passed += not result.problems and not result.skipped
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
