"""The GoogleTest programs, for tests/run.py.

A program is started as several shards side by side, each with a log under build/<preset>/tests; a
shard that dies counts as one failed test, named by the test it died in. Which folder a test
belongs to is asked of the program: GoogleTest knows the file of each.
"""

import json
import os
import re
import subprocess
import time

from outcomes import BUILD, LOGS, ROOT, Outcome

PROGRAMS = ("lathe_tests", "lathe_bits")
ENDED = re.compile(r"\[ +(OK|SKIPPED|FAILED) +\] (\S+?)(?:, where .*)? \(\d+ ms\)$")
STATUS = {"OK": "passed", "SKIPPED": "skipped", "FAILED": "failed"}
SKIP_HEAD = re.compile(r"\S+:\d+: Skipped$")


def tests_in_folders(program, folders):
    """The names of the tests whose source stands in one of these folders below tests/."""
    listing = LOGS / f"{program.name}-list.json"
    command = [str(program), "--gtest_list_tests", f"--gtest_output=json:{listing}"]
    subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    wanted = tuple(f"/tests/{folder}/" for folder in folders)
    return [
        f"{suite['name']}.{test['name']}"
        for suite in json.loads(listing.read_text())["testsuites"]
        for test in suite["testsuite"]
        if any(folder in f"/{test['file']}" for folder in wanted)
    ]


def gtest_pattern(program, args):
    """What --gtest_filter is to be; None if no test of this program is asked for."""
    wanted = f"*{args.filter}*" if args.filter else "*"
    if args.folders:
        wanted = ":".join(tests_in_folders(program, args.folders))
        if not wanted:
            return None
    return wanted if args.full else f"{wanted}-*Slow*"


def start_shards(program, pattern, shards):
    started = []
    for index in range(shards):
        log = LOGS / f"{program.name}-{index}.log"
        env = dict(os.environ, GTEST_TOTAL_SHARDS=str(shards), GTEST_SHARD_INDEX=str(index))
        env["GTEST_COLOR"] = "no"
        env["GTEST_FILTER"] = pattern
        with open(log, "w") as out:
            process = subprocess.Popen([str(program)], stdout=out, stderr=out, cwd=ROOT, env=env)
        started.append((process, log))
    return started


def read_log(text, code, log):
    """The outcomes that a shard's log tells of; `code` is how the process ended."""
    outcomes, running, section = [], None, []
    for line in text.splitlines():
        if line.startswith("[ RUN      ]"):
            running, section = line[13:], []
        elif running and (ended := ENDED.search(line)) and ended[2] == running:
            said = [text for text in section if not SKIP_HEAD.match(text)]
            separator = " " if ended[1] == "SKIPPED" else "\n"
            said = "" if ended[1] == "OK" else separator.join(s for s in said if s)
            outcomes.append(Outcome(running, STATUS[ended[1]], said))
            running = None
        elif running:
            section.append(line)
    failed = any(o.status == "failed" for o in outcomes)
    if code != 0 and (running or not failed):
        name = running or "outside any test"
        why = f"the program ended with {code} (log: {log})"
        outcomes.append(Outcome(name, "failed", "\n".join([why, *section[-30:]])))
    return outcomes


def run(args):
    """(outcomes, passed, failed)"""
    began = time.time()
    outcomes = []
    for name in PROGRAMS:
        program = BUILD / "bin" / name
        if not program.exists():
            outcomes.append(Outcome(name, "failed", f"{program} was not built"))
            continue
        pattern = gtest_pattern(program, args)
        if pattern is None:
            continue
        for process, log in start_shards(program, pattern, args.shards):
            code = process.wait()
            outcomes += read_log(log.read_text(errors="replace"), code, log)
    for outcome in outcomes:
        if outcome.status == "failed":
            print(f"FAILED {outcome.name}\n{outcome.text}")
    passed = sum(o.status == "passed" for o in outcomes)
    failed = sum(o.status == "failed" for o in outcomes)
    seconds = time.time() - began
    print(f"-- C++ tests: {passed} passed, {failed} failed, {seconds:.1f} s", flush=True)
    return outcomes, passed, failed
