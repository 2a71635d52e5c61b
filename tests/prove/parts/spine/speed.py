"""Line 7: ./dev bench --headline."""

import json

from ..proof import LOGS, Line, Missing, require, run

LINE = Line(7, "./dev bench --headline: every row at its bar", shares_figures=True)
ROWS = {
    "1": "a + b, with and without gradients",
    "2": "the gradient of a product's sum",
    "3": "a compiled training step",
    "4": "a small compiled call",
    "5": "add with a new output",
    "6": "tanh-GELU of three sizes",
    "8": "softmax forward",
    "14": "linear, bias, GELU, residual",
    "29": "one kernel, cold and cached",
    "30": "import",
}
WITHOUT_PEERS = ("29", "30")  # the others need 6 GB of other libraries
measured = []


def told(line):
    if line["unit"] == "ms":
        return f"{line['name']} {line['ms']:.3g} ms (at most {line['bar']:g})"
    ratio = line.get("ratio")
    figure = f"{ratio:.2f}x {line['best']}" if ratio else "; ".join(line["problems"])
    return f"{line['name']} {figure} (at least {line['bar']:g}x)"


def measure(*rows):
    """Fills `measured`: these rows, or every row."""
    if measured:
        return
    LOGS.mkdir(parents=True, exist_ok=True)
    target = LOGS / "bench.json"
    target.unlink(missing_ok=True)
    done = run("bench", "./dev", "bench", *(rows or ["--headline"]), "--json", target)
    if not target.exists():
        raise Missing(f"it ended with {done.code} and wrote no figures; whole log: {done.log}")
    measured.extend(json.loads(target.read_text())["lines"])


def add(row, what):
    without_peers = row in WITHOUT_PEERS

    @LINE.part(f"row {row}, {what}", minutes=1 if without_peers else 5)
    def show():
        measure(*WITHOUT_PEERS if without_peers else ())
        lines = [line for line in measured if line["row"] == row]
        require(lines, "it was not measured")
        figure = ", ".join(map(told, lines))
        require(all(line["passed"] for line in lines), figure)
        return figure


for _row, _what in ROWS.items():
    add(_row, _what)
