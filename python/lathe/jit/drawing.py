"""draw: a picture of a captured graph and of how it runs, as SVG.

A Box is a node, or holds boxes: the group of a kernel, the blocks of an `if` or a loop, what runs
as one step. The innermost boxes are sized by their texts; then each box that holds others lays them
out (layout.py), from the inside out. An edge between boxes that do not stand side by side is led by
the boxes around them that do.
"""

import os
import re
from xml.sax.saxutils import escape, quoteattr

from .. import _lathe
from .._errors import system_errors
from .layout import Layout
from .program import Program
from .trace import Traced

_LETTER, _LINE = 7.3, 16  # the width of a letter and the height of a line, in pixels
_EDGE, _MARGIN = 8, 14
_LONGEST = 56  # letters of a line
_STYLE = """
text { font: 12px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #1f2328 }
.title { font-weight: bold } .entry { fill: #6e40aa } .label { fill: #57606a }
rect { stroke: #57606a; fill: #ffffff } .input rect { fill: #dbeafe } .result rect { fill: #dcfce7 }
.constant rect { fill: #f3f4f6 } .group rect { fill: #f5f0ff; stroke: #a78bda }
.step rect { fill: #fff8e6; stroke: #d4a72c; stroke-dasharray: 5 3 }
.part rect { fill: #f6f8fa; stroke: #8c959f } .graph rect { fill: #fdfdfd; stroke: #d0d7de }
.edge { fill: none; stroke: #57606a; marker-end: url(#arrow) }
""".strip()


class Box:
    """kind: its class in the style. lines: (class, text). x, y: of its corner in the whole picture,
    once it is placed."""

    def __init__(self, kind, lines, about="", parent=None):
        self.kind, self.parent, self.about = kind, parent, about
        self.lines = [(kind, _short(text)) for kind, text in lines if text]
        self.inside, self.edges = [], set()
        self.depth = 0 if parent is None else parent.depth + 1
        if parent is not None:
            parent.inside.append(self)

    def measure(self):
        """Its size; where those inside of it stand, from its corner."""
        self.head = _LINE * len(self.lines)
        self.width = max((_LETTER * len(t) for _, t in self.lines), default=0) + 2 * _EDGE
        self.height = self.head + 2 * _EDGE - 4
        self.layout = None
        if self.inside:
            number = {id(b): i for i, b in enumerate(self.inside)}
            edges = [(number[id(a)], number[id(b)]) for a, b in self.edges]
            self.layout = Layout([(b.width, b.height) for b in self.inside], edges)
            self.width = max(self.width, self.layout.width + 2 * _MARGIN)
            self.height = self.head + self.layout.height + 2 * _MARGIN
            self.number = number

    def place(self, x, y):
        self.x, self.y = x, y
        if self.layout is not None:
            self.left = x + (self.width - self.layout.width) / 2
            self.top = y + self.head + _MARGIN
            for b, (bx, by) in zip(self.inside, self.layout.places):
                b.place(self.left + bx, self.top + by)

    def route(self, a, b):
        """The points that an edge between two of those inside passes."""
        points = self.layout.routes.get((self.number[id(a)], self.number[id(b)]), ())
        return [(self.left + x, self.top + y) for x, y in points]


class Picture:
    """The boxes of one graph, and its edges."""

    def __init__(self, name, body, writes, planned):
        self.name, self.planned = name, planned
        self.made = {}  # by the number of a value: the box that gives it
        self.edges = []  # (box, box)
        self.whole = Box("graph", [("title", name)])
        self.names = {}
        self.add_block(body, self.whole, "input")
        results = body[2]
        for i, value in enumerate(results):
            said = f"result {i}" if len(results) > 1 else "result"
            self.join([value], Box("result", [("title", said)], said, self.whole))
        for to, value in writes:
            said = f"write {self.names.get(to) or 'an input'}"
            self.join([value], Box("result", [("title", said)], said, self.whole))

    def join(self, values, box):
        self.edges += [(self.made[v], box) for v in dict.fromkeys(values) if v in self.made]

    def add_block(self, block, parent, kind="part"):
        parameters, nodes, _ = block
        for number, name, type_ in parameters:
            self.names[number] = name
            lines = [("title", name or "a value"), ("label", type_)]
            self.made[number] = Box(kind, lines, f"{name}: {type_}", parent)
        steps = {}
        for node in nodes:
            if node[7] >= 0:
                steps.setdefault(node[7], []).append(node)
        boxes = {}
        for node in nodes:
            place, together = parent, node[7]
            if len(steps.get(together, ())) > 1:
                if together not in boxes:
                    boxes[together] = Box("step", [("label", node[6])], node[6], parent)
                place = boxes[together]
            self.add_node(node, place)

    def add_node(self, node, parent):
        title, text, operands, results, blocks, entry, _, _ = node
        named = [f"{name}: {type_}" if name else type_ for _, name, type_ in results]
        constant = not operands and not blocks and "= const" in text
        kind = "constant" if constant else "group" if title == "group" else "part"
        if not blocks and not constant:
            kind = "op"
        lines = [("title", title), *(("label", n) for n in named)]
        if self.planned and not constant:
            lines.append(("entry", entry))
        box = Box(kind, lines, text, parent)
        self.join(operands, box)
        for number, name, _ in results:
            self.names[number] = name
            self.made[number] = box
        for role, block in blocks:
            inner = Box("part", [("label", role)], role, box) if role else box
            self.add_block(block, inner)
            if title != "group":
                self.join(block[2], Box("result", [("title", "yield")], "yield", inner))

    def lay_out(self):
        """Gives every box its size and place; self.whole's corner is (0, 0)."""
        for a, b in self.edges:
            around, first, last = _meet(a, b)
            if first is not last:
                around.edges.add((first, last))
        order = [self.whole]
        for box in order:
            order += box.inside
        for box in reversed(order):
            box.measure()
        self.whole.place(0, 0)
        self.order = order

    def svg(self, x, y):
        """The elements, moved to (x, y)."""
        out = [f'<g transform="translate({x:.0f} {y:.0f})">']
        for box in self.order:
            out.append(_drawn(box))
        for a, b in self.edges:
            out.append(_edge(a, b))
        out.append("</g>")
        return out


def _short(text):
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _meet(a, b):
    """(the innermost box around both, the ones directly inside of it that hold a and b)"""
    if a is b:
        return a, a, b
    while a.depth > b.depth:
        a = a.parent
        if a is b:
            return b.parent, b, b
    while b.depth > a.depth:
        b = b.parent
        if a is b:
            return a.parent, a, a
    while a.parent is not b.parent:
        a, b = a.parent, b.parent
    return a.parent, a, b


def _clean(text):
    """What XML can hold."""
    return re.sub("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text)


def _text(text):
    return escape(_clean(text))


def _drawn(box):
    out = [f'<g class="{box.kind}">', f"<title>{_text(box.about)}</title>"]
    round_ = 9 if box.kind in ("input", "result") else 3
    out.append(f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" '
               f'height="{box.height:.1f}" rx="{round_}"/>')  # fmt: skip
    middle = box.layout is None
    x = box.x + box.width / 2 if middle else box.x + _EDGE
    anchor = ' text-anchor="middle"' if middle else ""
    for i, (kind, text) in enumerate(box.lines):
        y = box.y + _EDGE + _LINE * i + 10
        out.append(f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}"{anchor}>{_text(text)}</text>')
    return "".join(out) + "</g>"


def _edge(a, b):
    around, first, last = _meet(a, b)
    through = [] if first is last else around.route(first, last)
    points = [(a.x + a.width / 2, a.y + a.height), *through, (b.x + b.width / 2, b.y)]
    path = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for (x, y), (to_x, to_y) in zip(points, points[1:]):
        bend = abs(to_y - y) / 2
        path += f"C{x:.1f} {y + bend:.1f} {to_x:.1f} {to_y - bend:.1f} {to_x:.1f} {to_y:.1f}"
    return f'<path class="edge" d="{path}"/>'


def _document(pictures):
    body, width, height = [], 0, _MARGIN
    for picture in pictures:
        picture.lay_out()
        body += picture.svg(_MARGIN, height)
        width = max(width, picture.whole.width)
        height += picture.whole.height + _MARGIN
    width += 2 * _MARGIN
    name = quoteattr(_clean(pictures[0].name))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label={name}>',
            f"<style>{_STYLE}</style>",
            '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" '
            'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#57606a"/>'
            "</marker></defs>",
            *body,
            "</svg>\n",
        ]
    )


def draw(f, path=None, index=0, optimised=True):
    """Draws a captured graph and how it runs, as the text of an SVG file.

    f: what lathe.trace or lathe.script gave, after a call; or a program of lathe.freeze or
    lathe.load. path: where to write the text as well. index: which of the graphs that were
    captured, in the order of f.graphs(), that which served last first. optimised: what the
    program runs, after rewriting, each node with the primitive that was chosen for it; else the
    graph as it was captured.

    Inputs are blue, results green. A kernel that was fused is a box around its ops, so are the
    parts of an `if` or a loop; a dashed box holds what runs as one step. Pointing at a node shows
    its line of the graph's text, with your file and line.

    ValueError before the first call, and where no program was made (ask for optimised=False);
    IndexError for an index beyond the graphs; FileError for a path that cannot be written.
    """
    if not isinstance(f, (Traced, Program)):
        raise _lathe.TypeError(
            "only a captured function or a program can be drawn",
            op="draw",
            got=type(f).__name__,
            expected="what lathe.trace, lathe.script, lathe.freeze or lathe.load gave",
            next="draw(lathe.trace(f)) after a call",
        )
    if type(index) is not int or index < 0:
        raise _index_error(f, index, None)
    found = f._engine.picture(index, bool(optimised))
    if isinstance(found, int):
        if not found:
            raise _lathe.ValueError(
                "nothing was captured so far",
                op="draw",
                got=repr(f),
                expected="a function that was called",
                next="call it with its arguments first",
            )
        raise _index_error(f, index, found)
    if found is None:
        raise _lathe.ValueError(
            "this graph has no program: its calls run node by node",
            op="draw",
            got=f.graphs()[index],
            expected="a graph whose gradients a program can give",
            next="draw(f, optimised=False); f.explain() says why",
        )
    name, body, writes, functions = found
    pictures = [Picture(name, body, writes, bool(optimised))]
    pictures += [Picture(called, block, (), False) for called, block in functions]
    text = _document(pictures)
    if path is not None:
        problems = system_errors(
            "draw", path, "written", "make its folder, or choose another place"
        )
        with problems, open(os.fspath(path), "w", encoding="utf-8") as file:
            file.write(text)
    return text


def _index_error(f, index, count):
    return _lathe.IndexError(
        "there is no such graph",
        op="draw",
        got=repr(index),
        expected="a number from 0 on" if count is None else f"below {count}",
        next="f.graphs() lists them" if isinstance(f, Traced) else "leave it out: it has one",
    )
