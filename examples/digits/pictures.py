"""Pictures of what the demo did: loss curves, and the graph before and after rewriting."""

import re

import matplotlib

matplotlib.use("Agg")  # no screen is needed
import matplotlib.pyplot as plt  # noqa: E402

RESULT = re.compile(r"%([\w.]+): ([^=]*?)(?:, %|$)")


def losses(figures, path):
    """Loss by step of each way that Lathe trained."""
    fig, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
    styles = {"eager": "-", "traced": ":", "model_traced": "--", "careful": "-", "scripted": ":"}
    for way, style in styles.items():
        ax.plot(figures[way]["losses"], style, label=way, linewidth=1 if style == "-" else 2.5)
    ax.set(xlabel="step", ylabel="loss", yscale="log", title="Compiled steps lie on eager ones")
    ax.legend()
    fig.savefig(path, dpi=110)
    plt.close(fig)


def nodes_of(text):
    """(name, result type, names it reads, depth in groups) of each line of a graph's text."""
    out = []
    depth = 0
    for line in text.splitlines():
        line = line.split("  # ")[0].strip()
        if line == "}":
            depth -= 1
        match = re.match(r"((?:%[\w.]+: .*?)) = (\w+)(.*)", line)
        if match:
            results, op, rest = match.groups()
            reads = re.findall(r"%([\w.]+)", rest)
            if op != "constant" and not rest.lstrip().startswith("#"):
                name, kind = RESULT.search(results).groups()
                out.append((name, f"{op}  {kind}", reads, max(depth - 1, 0)))
        if line.endswith("{"):
            depth += 1
    return out


def draw(ax, title, nodes):
    """One node a line, from top to bottom; an arc from each value to where it is read."""
    rows = {name: i for i, (name, *_) in enumerate(nodes)}
    for i, (_, label, reads, depth) in enumerate(nodes):
        style = {"boxstyle": "round,pad=0.25", "fc": "#eef3fb" if depth == 0 else "#fdf1dd",
                 "ec": "#5b7db1" if depth == 0 else "#c98a1b"}  # fmt: skip
        ax.text(0.16 + 0.06 * depth, -i, label, fontsize=7, family="monospace", va="center",
                bbox=style)  # fmt: skip
        for read in reads:
            if read in rows and rows[read] < i:
                bend = min(0.5, 0.18 + 0.02 * (i - rows[read]))
                ax.annotate("", (0.15, -i), (0.15, -rows[read]), arrowprops={
                    "arrowstyle": "->", "color": "#8a8a8a", "lw": 0.8,
                    "connectionstyle": f"arc3,rad={bend}"})  # fmt: skip
    ax.set(xlim=(0, 1.6), ylim=(-len(nodes), 1), title=f"{title}: {len(nodes)} nodes")
    ax.axis("off")


def graph(captured, frozen, path):
    """The network as it was captured, beside what runs after freezing, rewriting and fusing."""
    before, after = nodes_of(captured.graph), nodes_of(frozen.optimised)
    height = 1 + 0.27 * max(len(before), len(after))
    fig, axes = plt.subplots(1, 2, figsize=(12, height), layout="constrained")
    draw(axes[0], "captured", before)
    draw(axes[1], "frozen, rewritten and fused", after)
    fig.savefig(path, dpi=110)
    plt.close(fig)
