"""draw: pictures of graphs and of how they run."""

import time
import xml.etree.ElementTree as xml

import pytest

import lathe as lt
from lathe.jit.layout import Layout

SVG = "{http://www.w3.org/2000/svg}"


def layer(x, weight):
    hidden = (x @ weight).relu()
    return (hidden * 2 + 1).sum(dim=1)


def traced(function=layer, *inputs):
    f = lt.trace(function)
    f(*(inputs or (lt.ones(2, 3), lt.ones(3, 4))))
    return f


def boxes(text):
    """[(class, its texts, what pointing at it shows, (x, y, width, height))]"""
    found = []
    for g in xml.fromstring(text).iter(f"{SVG}g"):
        rect = g.find(f"{SVG}rect")
        if rect is not None:
            place = tuple(float(rect.get(k)) for k in ("x", "y", "width", "height"))
            texts = [t.text for t in g.findall(f"{SVG}text")]
            found.append((g.get("class"), texts, g.find(f"{SVG}title").text, place))
    return found


def inside(a, b):
    (x, y, w, h), (left, top, width, height) = a, b
    return left <= x and top <= y and x + w <= left + width and y + h <= top + height


def apart(a, b):
    (x, y, w, h), (left, top, width, height) = a, b
    across = x + w <= left or left + width <= x
    return across or y + h <= top or top + height <= y


def test_names_lines_groups_and_kernels():
    found = boxes(lt.draw(traced()))
    named = {t for _, texts, _, _ in found for t in texts}
    assert {"t0", "t1", "result", "mm"} <= named
    lines = [about for _, texts, about, _ in found if texts[:1] == ["relu"]]
    assert lines and "test_draw.py:" in lines[0]
    # Each op has what runs it; the pointwise ops are one box that is a kernel.
    explained = traced().explain(verbose=True)
    product = next(texts for _, texts, _, _ in found if texts[:1] == ["mm"])
    assert product[-1] in explained and "." in product[-1]
    groups = [place for kind, _, _, place in found if kind == "group"]
    relu = next(place for _, texts, _, place in found if texts[:1] == ["relu"])
    assert any(inside(relu, g) for g in groups)


def statements(text):
    """Of the text of graphs: its lines without types of what is opened, and without sites."""
    lines = (line.partition("  # ")[0].strip() for line in text.splitlines())
    return {line.removesuffix(" {") for line in lines if " = " in line or line.startswith("if ")}


def loops_and_branches(x, n):
    h = x * 0
    for _ in range(int(n)):
        if x.sum() > 3:
            h = x * 0.5
        else:
            h = (x + 1).tanh()
        x = h + h.exp()
    h = x @ x
    return h, x


@pytest.mark.parametrize("optimised", [False, True])
def test_each_line_that_is_shown_is_one_of_the_text(optimised):
    """Names of values too: %0, %h.1 are those of f.graph or f.optimised."""
    scripted = lt.script(loops_and_branches)
    scripted(lt.ones(4), lt.tensor(5))
    program = lt.freeze(lt.nn.Sequential(lt.nn.Linear(3, 4), lt.nn.Tanh()), lt.ones(2, 3))
    for f in (traced(), scripted, program):
        text = f.optimised if optimised else f.graph
        known = statements(text)
        shown = [about for kind, texts, about, _ in boxes(lt.draw(f, optimised=optimised))
                 if about and " = " in about]  # fmt: skip
        nodes = [about.partition("    # ")[0] for about in shown]
        assert len(nodes) > 3 and set(nodes) <= known
        names = [node.partition(": ")[0] for node in nodes]
        assert len(set(names)) == len(names)


def test_the_captured_graph_has_no_plan():
    text = lt.draw(traced(), optimised=False)
    assert not [kind for kind, _, _, _ in boxes(text) if kind in ("group", "step")]
    assert 'class="entry"' not in text.partition("</style>")[2]


def test_boxes_hold_what_is_inside_or_stand_apart():
    def f(x, n):
        total = x * 0
        for _ in range(int(n)):
            if x.sum() > 3:
                x = x * 0.5
            else:
                x = (x + 1).tanh()
            total = total + x
        return total, x

    scripted = lt.script(f)
    scripted(lt.ones(4), lt.tensor(5))
    for optimised in (False, True):
        text = lt.draw(scripted, optimised=optimised)
        found = boxes(text)
        named = {t.partition(":")[0] for _, texts, _, _ in found for t in texts}
        assert {"then", "else"} <= named
        places = [place for _, _, _, place in found]
        for i, a in enumerate(places):
            for b in places[:i]:
                assert inside(a, b) or inside(b, a) or apart(a, b)
        root = xml.fromstring(text)
        width, height = float(root.get("width")), float(root.get("height"))
        assert all(inside(p, (0, 0, width, height)) for p in places)
        assert len(root.findall(f".//{SVG}path[@class='edge']")) > 8


def test_the_file_and_the_program(tmp_path):
    path = tmp_path / "picture.svg"
    text = lt.draw(traced(), path)
    assert path.read_text(encoding="utf-8") == text
    program = lt.freeze(lt.nn.Linear(3, 4), lt.ones(2, 3))
    assert "f32[3, 4]" in lt.draw(program, optimised=False)
    assert 'class="entry"' in lt.draw(program)
    with pytest.raises(lt.Error, match="the file cannot be written"):
        lt.draw(program, tmp_path / "none" / "picture.svg")


def test_which_graph():
    f = lt.trace(lambda x: x.sum() if x.ndim > 1 else x.exp())
    f(lt.ones(3))
    f(lt.ones(3, 3))
    pictures = [lt.draw(f, index=i, optimised=False) for i in range(2)]
    assert ["exp" in p for p in pictures] == ["-> (f32[])" not in g for g in f.graphs()]
    with pytest.raises(lt.IndexError, match="below 2"):
        lt.draw(f, index=2)
    with pytest.raises(lt.IndexError, match="a number from 0 on(.|\n)*next: +f.graphs"):
        lt.draw(f, index=-1)
    program = lt.freeze(lt.nn.Linear(3, 4), lt.ones(2, 3))
    with pytest.raises(lt.IndexError, match="below 1(.|\n)*next: +leave it out: it has one"):
        lt.draw(program, index=1)


def test_what_cannot_be_drawn():
    with pytest.raises(lt.TypeError, match="only a captured function or a program"):
        lt.draw(layer)
    with pytest.raises(lt.ValueError, match="nothing was captured so far"):
        lt.draw(lt.trace(layer))


def test_names_that_xml_has_words_for():
    text = lt.draw(traced(eval("lambda x: x < 3"), lt.ones(2)), optimised=False)
    assert xml.fromstring(text) is not None


def test_many_nodes_in_time():
    def f(x):
        for i in range(5_000):
            x = x * 1.5 - i
        return x

    long = traced(f, lt.ones(3))
    began = time.monotonic()
    assert lt.draw(long, optimised=False).count("<rect") > 10_000
    assert time.monotonic() - began < 20


def test_layers_go_down_and_nothing_overlaps():
    edges = [(0, 1), (0, 2), (1, 3), (2, 3), (0, 3), (3, 4), (0, 5)]
    sizes = [(30, 10), (80, 20), (40, 10), (20, 10), (60, 10), (10, 40)]
    layout = Layout(sizes, edges)
    boxes = [(*place, *size) for place, size in zip(layout.places, sizes)]
    for a, b in edges:
        assert boxes[a][1] + boxes[a][3] < boxes[b][1]
    for i, a in enumerate(boxes):
        assert inside(a, (0, 0, layout.width, layout.height))
        assert all(apart(a, b) for b in boxes[:i])
    assert len(layout.routes[0, 3]) == 2  # past the layer between
    assert Layout([], []).places == []
