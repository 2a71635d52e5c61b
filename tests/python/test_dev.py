"""./dev's set-up: steps side by side, one that fails or is interrupted, what is made anew."""

import os
import re
import signal
import subprocess
import time

from built import BUILD, ROOT

LOAD = "source ./dev help >/dev/null; set -euo pipefail\n"  # its functions, without a command


def start(script, store):
    env = os.environ | {"LATHE_DEPS": str(store)}
    file = store / "script.sh"
    file.write_text(LOAD + script)
    return subprocess.Popen(
        ["bash", file],
        cwd=ROOT,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def run(script, store):
    process = start(script, store)
    said = process.communicate(timeout=60)[0]
    return process.returncode, said


def gone(path):
    """The process whose number a step wrote there has ended."""
    number = path.read_text().strip()
    for _ in range(100):
        if not os.path.exists(f"/proc/{number}"):
            return True
        time.sleep(0.05)
    return False


# A step that starts a process, as make does a compiler, and waits for it.
SLOW = """
slow() {
  sleep 60 &
  echo $! >"$deps_store/child.new"
  mv "$deps_store/child.new" "$deps_store/child"
  wait
}
after_slow() { until [ -e "$deps_store/child" ]; do sleep 0.01; done; }
"""


def test_steps_run_side_by_side(tmp_path):
    script = """
    meet() { touch "$deps_store/$1"; until [ -e "$deps_store/$2" ]; do sleep 0.01; done; }
    side_by_side "meet a b" "meet b a"
    side_by_side true true
    say both
    """
    assert run(script, tmp_path) == (0, "both\n")


def test_a_step_that_fails_stops_the_others(tmp_path):
    script = SLOW + 'fails() { after_slow; die "it failed"; }; side_by_side slow fails; say after'
    code, said = run(script, tmp_path)
    assert code == 1 and said == "dev: it failed\n"
    assert gone(tmp_path / "child")


def test_an_interrupt_stops_all_steps(tmp_path):
    process = start(SLOW + 'side_by_side slow "sleep 60"; say after', tmp_path)
    while not (tmp_path / "child").exists():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=30)[0]
    assert process.returncode == 130 and said.startswith("-- stopped; ") and "after" not in said
    assert gone(tmp_path / "child")


def test_what_was_interrupted_is_made_anew(tmp_path):
    """A folder counts only when all of it is there."""
    setup = """
    root=$deps_store/tree logs=$deps_store
    mkdir -p "$root"/{third_party,.deps}
    echo 1 >"$root/third_party/abseil.txt"
    build_abseil() { mkdir -p "$2"; echo text >>"$2/file"; [ -e "$deps_store/good" ]; }
    locked setup_abseil
    cat "$root/.deps/abseil/file"
    """
    code, said = run(setup, tmp_path)
    assert code == 1
    assert "Abseil did not build" in said and "run again, keeps what is finished" in said
    assert not list(tmp_path.glob("tree/.deps/*"))
    (tmp_path / "good").touch()
    code, said = run(setup, tmp_path)
    assert code == 0
    assert re.fullmatch(r"-- Abseil: [^\n]+ \.\.\.\n-- Abseil: [\d.]+ s\ntext\n", said)
    assert run(setup, tmp_path) == (0, "text\n")  # nothing is left to do
    assert not list(tmp_path.glob("*.work"))


def test_the_demo_builds_no_test():
    """What its target is made of; the build folder is the one that tests run from."""
    made = subprocess.run(
        ["ninja", "-C", BUILD, "-t", "inputs", "lathe_demo"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert "lib/liblathe.so" in made and "lib/liblathe_llvm.so" in made
    assert [name for name in made if name.endswith("digits/classify.cpp.o")]
    assert not [name for name in made if name.startswith("tests/") or "gtest" in name]


def test_python_runs_where_it_is_called(tmp_path):
    (tmp_path / "script.py").write_text("import os, lathe; print(os.getcwd())")
    environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    done = subprocess.run(
        [ROOT / "dev", "python", "script.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines() == [str(tmp_path)], done.stderr
