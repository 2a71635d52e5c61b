"""Lines whose subject is not built: each says what is missing, and fails."""

from ..proof import Line, Missing

MISSING = {
}


def unbuilt(number, title, reason):
    line = Line(number, title, proof="capture")

    @line.part("everything")
    def missing():
        raise Missing(f"not built: {reason}")

    return line


LINES = [unbuilt(number, *told) for number, told in MISSING.items()]
