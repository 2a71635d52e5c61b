"""Line 3: kernels and programs at random, in every engine the same bytes."""

from ..capture.programs import programs
from ..proof import Line, Missing, cpp_tests

KERNELS, QUICK = 5_000, 500
LINE = Line(3, "Random kernels and schedules: the same bytes in every engine", proof="kernels")


@LINE.part("kernels of the IR over its interpreter, the SIMD interpreter and LLVM", minutes=2)
def kernels():
    return cpp_tests("kernel-ir", "KernelIr.*:FusedRows.*:Llvm.*")


def random_kernels(count, **more):
    """Each by machine code as well: for one target in turn, or for all that the machine has."""
    cpp_tests("random-kernels", "RandomKernels.SlowRandomKernels", LATHE_KERNELS=str(count), **more)
    return f"{count} kernels"


@LINE.part("random kernels, the same bytes in every engine", minutes=60,
           quick=lambda: random_kernels(QUICK))  # fmt: skip
def all_kernels():
    return random_kernels(KERNELS, timeout=14_400, LATHE_KERNELS_TARGETS="all")


@LINE.part("random programs in every mode", minutes=30, quick=lambda: programs(500))
def whole_programs():
    return programs(5000)


@LINE.part("random kernels by random schedules")
def schedules():
    raise Missing("not built: how a kernel is scheduled is decided in its lowering, not in a text")


@LINE.part("twenty planted faults")
def faults():
    raise Missing("not built: there are no schedules, masks or barriers to plant them in")
