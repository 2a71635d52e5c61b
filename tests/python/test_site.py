"""The documentation site: the reference is complete, links lead somewhere, pages render."""

import subprocess
import sys

import matplotlib.image
import numpy as np
import pytest
from built import ROOT

import lathe as lt

sys.path.insert(0, str(ROOT / "docs"))
import links
import reference
import render

SPHINX = ROOT / ".deps/docs/bin/python"
BUILT = pytest.mark.skipif(not SPHINX.exists(), reason="./dev docs was not run: Sphinx is missing")


def test_every_op_is_on_one_page_with_its_facts():
    pages = [text for name, text in reference.pages().items() if name.startswith("ops-")]
    headings = [line[3:] for text in pages for line in text.splitlines() if line.startswith("## ")]
    rows = lt._lathe._definitions()
    assert sorted(headings) == sorted({row["name"].split(".")[0] for row in rows})
    for row in rows:
        assert any(f"```text\n{row['schema']}\n" in text for text in pages), row["name"]
        assert reference.reproducibility(row) and reference.dtypes(row)


def test_what_the_pages_say_of_an_op():
    rows = {row["name"]: row for row in lt._lathe._definitions()}
    assert reference.dtypes(rows["tanh"]) == "floating, complex; integers and bool become floating"
    assert reference.reproducibility(rows["tanh"]) == "defined"
    assert reference.reproducibility(rows["mm"]) == "defined; pinned by another entry"
    assert reference.forms(rows["tanh"]) == "method, in place (`tanh_`)"


def test_every_flag_is_on_the_page_with_its_default():
    page = reference.pages()["flags"]
    for name, variable, default, _ in lt.flags():
        shown = f"`{default}`" if default else "empty"
        assert f"| `{name}` | `{variable}` | {shown} |" in page


def test_dead_links_are_found(tmp_path):
    (tmp_path / "a.html").write_text(
        '<a href="b.html#here">1</a><a href="b.html#gone">2</a><a href="c.html">3</a>'
        '<a href="#top">4</a><a href="../x.html">5</a><script src="https://x.org/a.js"></script>'
    )
    (tmp_path / "b.html").write_text('<h1 id="here">b</h1><a href="https://x.org">fine</a>')
    (tmp_path / "a.css").write_text('@import "https://x.org/b.css";')
    assert links.problems(tmp_path) == [
        "a.css: asks another host for a file",
        "a.html: #top: no such anchor",
        "a.html: ../x.html: no such file",
        "a.html: b.html#gone: no such anchor",
        "a.html: c.html: no such file",
        "a.html: https://x.org/a.js: comes from another host",
    ]


@pytest.fixture(scope="module")
def site():
    done = subprocess.run(
        [SPHINX, ROOT / "docs/build.py"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return ROOT / "build/docs/html"


@BUILT
@pytest.mark.slow
def test_the_site_builds_without_a_dead_link(site):
    assert links.problems(site) == []
    assert len(list(site.rglob("*.html"))) > 30


def needs_chromium():
    try:
        render.chromium()
    except FileNotFoundError as error:
        pytest.skip(str(error))


@BUILT
@pytest.mark.slow
def test_three_pages_render_in_a_browser(site, tmp_path):
    needs_chromium()
    pictures = dict(render.render(site, tmp_path))
    assert sorted(pictures) == sorted(render.PAGES)
    for page, picture in pictures.items():
        image = matplotlib.image.imread(picture)[..., :3]
        assert image.shape[:2] == render.SIZE[::-1], page
        background = np.median(image.reshape(-1, 3), axis=0)
        inked = (np.abs(image - background).max(axis=2) > 0.2).mean()
        assert 0.01 < inked < 0.5, f"{page}: {inked:.3f} of it is drawn"


@BUILT
@pytest.mark.slow
def test_the_search_finds_an_op(site):
    needs_chromium()
    found = render.text_of((site / "search.html").resolve().as_uri() + "?q=logsumexp")
    assert "docs/reference/ops-reduce.html" in found
