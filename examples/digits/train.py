"""Lathe from eager Python to compiled C++, on handwritten digits. Run by ./dev demo.

1. A small network is trained eagerly, with the whole training step under lt.trace, and with the
   model alone under it, from the same seed: the losses are the same bits. A careful step
   (micro-batches, no update where the loss is not finite) is trained undecorated and under
   lt.script: the same again.
2. The network is frozen for inference, explained, and saved as digits.lathe.
3. A C++ program without Python loads that file and classifies the test images: the same bits.
4. A table, pictures of the loss and of the graph, and every figure as JSON.

Each way to train runs in a process of its own, so that its memory can be told.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import arrays
from model import DigitNet, load_digits
from steps import WAYS, microseconds, peak_mib, train

import lathe as lt

HERE = Path(__file__).resolve().parent


def settings_of(argv=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--images", type=int, help="train on the first so many images only")
    parser.add_argument("--no-torch", action="store_true", help="do not look for PyTorch")
    parser.add_argument("--quiet", action="store_true", help="no progress bars, no explanation")
    parser.add_argument("--json", metavar="FILE", help="write every figure there")
    made = HERE.parents[1] / "build/demo"
    parser.add_argument("--out", metavar="FOLDER", default=str(made), help="for what it makes")
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)  # in a process of its own
    return parser.parse_args(argv)


def run_one(settings):
    """Trains in one way and writes what happened to the file given by --json."""
    data = arrays.read(Path(settings.out))
    model, figures = train(settings.way, data, settings)
    compiled = WAYS[settings.way].step or WAYS[settings.way].model
    model.eval()

    def forward(images):
        return model(images)

    with lt.no_grad():
        if compiled:
            forward = compiled(forward)
        figures["us_per_image"] = microseconds(forward, data[2])
    lt.save(model, Path(settings.out) / f"{settings.way}.safetensors")
    figures["peak_mib"] = peak_mib()
    Path(settings.json).write_text(json.dumps(figures))


def in_own_process(command, result):
    """Runs a command that writes its figures to the file `result`, and gives them."""
    done = subprocess.run([str(c) for c in command], check=False)
    if done.returncode:
        raise SystemExit(f"failed with {done.returncode}: {' '.join(map(str, command))}")
    return json.loads(Path(result).read_text())


def compared():
    """The compiled ways, each with the one whose losses it must have."""
    return [(name, way.like) for name, way in WAYS.items() if way.like]


def train_all(settings, out):
    figures = {}
    options = [f"--{k}={getattr(settings, k)}" for k in ("epochs", "batch", "lr", "seed", "out")]
    options += ["--quiet"] * settings.quiet
    for way in WAYS:
        result = out / f"{way}.json"
        command = [sys.executable, __file__, "--way", way, "--json", result, *options]
        figures[way] = in_own_process(command, result)
    for compiled, plain in compared():
        same = figures[compiled]["losses"] == figures[plain]["losses"]
        figures[compiled]["losses_equal"] = same
        said = "the same losses, bit for bit" if same else "DIFFERENT LOSSES"
        print(f"{compiled}: {said}, as {plain} in {len(figures[plain]['losses'])} steps")
    return figures


def train_torch(settings, out):
    """The same training in PyTorch, if this Python or the one of the benchmarks has it."""
    result = out / "torch.json"
    for python in (sys.executable, HERE.parents[1] / ".deps/peers/bin/python"):
        if not Path(python).exists():
            continue
        probe = [python, "-c", "import torch"]
        if subprocess.run(probe, capture_output=True, check=False).returncode == 0:
            command = [python, HERE / "peer_torch.py", out / "digits.npz", result]
            return in_own_process([*command, settings.epochs, settings.batch, settings.lr], result)
    return None


SHOWN = {"cpp": "C++", "pytorch": "PyTorch"}


def table(figures):
    rows = [("", "ms a step", "us an image", "", "compile ms", "peak MiB"),
            ("", "of 32", "alone", "of 32", "", "")]  # fmt: skip
    for name, f in figures.items():
        if name == "frozen":  # the C++ row says the same, without Python
            continue
        us = f.get("us_per_image", {})
        cells = (f.get("ms_per_step"), us.get("1"), us.get("32"), f.get("compile_ms"))
        cells += (f.get("peak_mib"),)
        rows.append((SHOWN.get(name, name), *("-" if c is None else f"{c:.2f}" for c in cells)))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        first, *rest = (
            c.rjust(w) if i else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths))
        )
        print(" ", first, "  ".join(rest))


def main(argv=None):
    settings = settings_of(argv)
    if settings.way:
        return run_one(settings)
    import deploy  # here, because those that only train need neither it nor matplotlib
    import pictures

    out = Path(settings.out)
    out.mkdir(parents=True, exist_ok=True)
    data = load_digits(settings.seed, images=settings.images)
    print(f"digits: {len(data[0])} images to train on, {len(data[2])} to test")
    arrays.write(out, data)

    figures = train_all(settings, out)
    accuracy = figures["eager"]["accuracy"]
    print(f"eager: test accuracy {100 * accuracy:.2f} %")

    model = DigitNet()
    model.load_state_dict(lt.load(out / "eager.safetensors"))
    frozen, figures["frozen"] = deploy.freeze_and_save(model, data[2], out)
    if not settings.quiet:
        print(frozen.explain())
    figures["cpp"] = deploy.classify_in_cpp(frozen, data[2], data[3], out)
    torch = None if settings.no_torch else train_torch(settings, out)
    if torch:
        figures["pytorch"] = torch
    table(figures)
    drawn = [out / "losses.png", out / "graph.png"]
    pictures.losses(figures, drawn[0])
    before = lt.jit.capture(model.eval(), lt.InputSpec((None, 1, 8, 8), name="images"))
    pictures.graph(before, frozen, drawn[1])
    print(f"pictures, weights and digits.lathe are in {out}")

    result = {
        "settings": vars(settings),
        "accuracy": accuracy,
        "cpp_logits_equal": figures["cpp"]["logits_equal"],
        "pictures": [str(path) for path in drawn],
        **{f"{way}_losses": figures[way].pop("losses") for way in WAYS},
        "table": figures,
    }
    if settings.json:
        Path(settings.json).write_text(json.dumps(result, indent=1))
    wrong = [n for n, _ in compared() if not figures[n]["losses_equal"]]
    wrong += [] if figures["cpp"]["logits_equal"] else ["C++"]
    if wrong:
        raise SystemExit(f"not the same bits: {', '.join(wrong)}")
    return result


if __name__ == "__main__":
    main()
