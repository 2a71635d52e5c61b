"""From a trained module to a program on disk, and to C++."""

import os
import subprocess
import time
from pathlib import Path

from steps import microseconds

import lathe as lt


def freeze_and_save(model, images, out):
    """The module as a program for any number of 8x8 images, saved as digits.lathe."""
    began = time.perf_counter()
    frozen = lt.freeze(model, lt.InputSpec((None, 1, 8, 8), name="images"))
    captured = time.perf_counter()
    reasons = frozen.compile()
    frozen(images[:1])
    figures = {
        "capture_ms": 1e3 * (captured - began),
        "compile_ms": 1e3 * (time.perf_counter() - captured),
        "not_compiled": reasons,
        "note": frozen.note,
        "us_per_image": microseconds(frozen, images),
    }
    frozen.save(out / "digits.lathe")
    figures["file_bytes"] = os.path.getsize(out / "digits.lathe")
    return frozen, figures


def classifier():
    """The C++ program, which ./dev build makes beside the library that is running."""
    # Not resolved: in the build folder the package is made of links to the sources.
    program = Path(lt.__file__).absolute().parents[2] / "bin/digits_classify"
    if not program.exists():
        raise SystemExit(f"{program} is not there: run ./dev build")
    return program


def classify_in_cpp(frozen, images, labels, out):
    """Classifies the test images without Python; are the logits the same bits?"""
    program = classifier()
    files = (out / "digits.lathe", out / "test_x.f32", out / "test_y.i64", out / "logits.f32")
    done = subprocess.run([program, *files], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{program} failed:\n{done.stderr}")
    said = dict(line.split() for line in done.stdout.splitlines())
    expected = frozen(images).numpy()
    equal = (out / "logits.f32").read_bytes() == expected.tobytes()
    accuracy = float(said["accuracy"])
    print(
        f"C++: test accuracy {100 * accuracy:.2f} %, {len(labels)} x {expected.shape[1]} logits "
        + ("equal bit for bit to those of Python" if equal else "DIFFERENT from those of Python")
    )
    return {
        "accuracy": accuracy,
        "logits_equal": equal,
        "us_per_image": {"1": float(said["us_at_1"]), "32": float(said["us_at_32"])},
        "compile_ms": float(said["load_ms"]),
        "peak_mib": float(said["peak_mib"]),
    }
