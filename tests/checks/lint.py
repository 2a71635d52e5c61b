"""ruff finds nothing in the Python files, and bash can read the scripts."""

import json
import subprocess
import sys

from tree import Result

NAME = "lint"


def check(tree):
    result = Result()
    python = tree.sources(suffixes=(".py", ".pyi"))
    if python:
        command = [
            sys.executable,
            "-m",
            "ruff",
            "check",
            "--no-cache",
            "--output-format=json",
            *python,
        ]
        run = subprocess.run(command, cwd=tree.root, capture_output=True, text=True)
        if run.returncode > 1:
            raise RuntimeError(run.stderr)
        for found in json.loads(run.stdout):
            path = found["filename"].removeprefix(str(tree.root.resolve()) + "/")
            line = found["location"]["row"]
            result.problems.append(f"{path}:{line}: {found['code']} {found['message']}")
    scripts = [
        f for f in tree.files if f.endswith(".sh") or tree.text(f).startswith("#!/usr/bin/env bash")
    ]
    for path in scripts:
        run = subprocess.run(["bash", "-n", path], cwd=tree.root, capture_output=True, text=True)
        if run.returncode:
            result.problems.append(f"{path}:1: {run.stderr.strip().splitlines()[0]}")
    result.figure = f"{len(python)} Python files, {len(scripts)} scripts"
    return result
