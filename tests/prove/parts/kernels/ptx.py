"""Line 8: the text of every kernel for NVIDIA's devices, checked by ptxas."""

from ..proof import Line, Missing

LINE = Line(8, "NVPTX text of every kernel accepted by ptxas", proof="kernels")


@LINE.part("every kernel of the suites for sm_80 and sm_90")
def accepted():
    raise Missing("not built: the kernel IR has no lowering to grids, blocks and threads")
