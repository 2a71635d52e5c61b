"""Line 5: the same bits in every engine; the catalogue of traps."""

import re
import sys

from ..proof import BUILD, Line, cpp_tests, existing, green, require, run

LINE = Line(5, "Bits: random graphs, planted faults, every float, the trap programs")


def tool(name, path, *arguments, **environment):
    command = (sys.executable, existing(path), *arguments)
    return run(name, *command, timeout=4 * 3600, **environment)


@LINE.part("10,000 random graphs with gradients in every engine", minutes=60)
def random_graphs():
    done = tool("bits", "tests/bits/run.py", "--programs", "10000")
    passed = green(done)
    return f"{done.last(r'^[0-9]+ graphs.*')}, {passed}"


@LINE.part("500 random programs, the quick tier", minutes=3)
def quick_graphs():
    return cpp_tests("bits-quick", "RandomPrograms/*", program="lathe_bits")


@LINE.part("planted faults are found, twenty at the least", minutes=60)
def faults():
    done = tool("faults", "tests/bits/faults.py")
    found, seeded = map(int, done.last(r"(\d+) of (\d+) faults found"))
    require(done.code == 0 and found == seeded >= 20, f"{found} of {seeded} found; {done.log}")
    return f"{found} of {seeded}"


def sweep(test):
    program = existing(BUILD / "bin/lathe_bits")
    name = f"sweep-{test}"
    done = run(
        name, program, f"--gtest_filter=UnarySweep.{test}", timeout=4 * 3600, LATHE_SWEEP="1"
    )
    require(done.code == 0 and "[  PASSED  ] 1 test" in done.text, f"whole log: {done.log}")
    return f"{done.seconds / 60:.0f} minutes"


@LINE.part("every unary f32 primitive on all 2^32 inputs", minutes=15)
def every_f32():
    return sweep("F32")


@LINE.part("every unary f64 primitive on 2^32 samples", minutes=40)
def sampled_f64():
    return sweep("F64")


@LINE.part("every binary primitive on 2^32 samples, f32 and f64", minutes=10)
def sampled_pairs():
    return f"{sweep('PairsF32')}; {sweep('PairsF64')}"


@LINE.part("sampled in the quick tier", minutes=2)
def sampled():
    return cpp_tests("sweep-quick", "UnarySweep.*", program="lathe_bits")


@LINE.part("error in ulp, within the bounds", minutes=10)
def accuracy():
    existing("docs/accuracy.md")
    return green(tool("accuracy", "tests/accuracy/run.py", "--print"))


def traps(least, *arguments, **environment):
    done = tool("traps", "tests/traps/run.py", *arguments, **environment)
    told = re.findall(r"^(?:trace|script) \w+: .*", done.text, re.M)
    wrong = [int(n) for line in told for n in re.findall(r"(\d+) wrong", line)]
    require(done.code == 0 and len(wrong) == len(told) >= least and not any(wrong), "; ".join(told))
    return "; ".join(told)


def plain_traps():
    return traps(2, "--variant", "plain", LATHE_ENGINE="simd")  # no compiler in 330 processes


@LINE.part("the trap programs under trace and script: wrong = 0", minutes=20, quick=plain_traps)
def all_traps():
    return traps(8)
