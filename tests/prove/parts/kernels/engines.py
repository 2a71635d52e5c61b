"""Line 3: kernels and programs at random, in every engine the same bytes."""

from ..capture.programs import programs
from ..proof import BUILD_PYTHON, Line, cpp_tests, require, run

KERNELS, QUICK = 5_000, 500
LINE = Line(3, "Random kernels and schedules: the same bytes in every engine", proof="kernels")


@LINE.part("kernels of the IR over its interpreter, the SIMD interpreter and LLVM", minutes=2)
def kernels():
    return cpp_tests("kernel-ir", "KernelIr.*:FusedRows.*:Llvm.*")


def random_kernels(count, **more):
    """Each by machine code as well: for one target in turn, or for all that the machine has."""
    cpp_tests("random-kernels", "RandomKernels.SlowRandomKernels", LATHE_KERNELS=str(count), **more)
    return f"{count} kernels"


@LINE.part("random kernels by random schedules, the same bytes in every engine", minutes=60,
           quick=lambda: random_kernels(QUICK))  # fmt: skip
def all_kernels():
    return random_kernels(KERNELS, timeout=14_400, LATHE_KERNELS_TARGETS="all")


@LINE.part("random programs in every mode", minutes=30, quick=lambda: programs(500))
def whole_programs():
    return programs(5000)


@LINE.part("twenty planted faults: schedules, masks, buffers, orders", minutes=60)
def faults():
    done = run("kernel-faults", BUILD_PYTHON, "tests/bits/faults.py", "--suite", "kernels",
               timeout=7200)  # fmt: skip
    found, seeded = map(int, done.last(r"(\d+) of (\d+) faults found"))
    require(found == seeded >= 20, f"{found} of {seeded} found; whole log: {done.log}")
    return f"{found} of {seeded} found"


@LINE.part("`simt`: blocks, threads and barriers, and a simulator that finds races", minutes=2)
def simt():
    passed = cpp_tests("simt", "Simt.*:SimtPtx.*:SimtPrograms.*:*SimtGolden*")
    return f"{passed}; every random kernel above runs through it as well"
