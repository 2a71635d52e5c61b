"""Line 4: the array-API suite; einops, opt_einsum and TensorLy over our tensors."""

from ..proof import Line
from ..suites import share, suite

LINE = Line(4, "The array-API suite, einops, opt_einsum, TensorLy", proof="breadth")


def figure(name, least, *arguments, modules, script="tests/suites/clients/run.py"):
    done = suite(name, script, *arguments, modules=modules)
    right, whole = map(int, done.last(rf"^{name}: (\d+) of (\d+)"))
    return share(right, whole, least, "cases")


def standard(*arguments):
    modules = ("hypothesis", "ndindex", "pytest")
    script = "tests/suites/array_api/run.py"
    return figure("array_api", 96, *arguments, modules=modules, script=script)


@LINE.part("array API: at least 96 %", minutes=6, quick=lambda: standard("--max-examples", "10"))
def array_api():
    return standard()


@LINE.part("einops: at least 98 %")
def einops():
    return figure("einops", 98, "einops", modules=("einops", "pytest"))


@LINE.part("opt_einsum: at least 98 %")
def opt_einsum():
    return figure("opt_einsum", 98, "opt_einsum", modules=("opt_einsum", "pytest"))


@LINE.part("TensorLy: at least 98 %", minutes=3)
def tensorly():
    return figure("tensorly", 98, "tensorly", modules=("tensorly", "pytest"))
