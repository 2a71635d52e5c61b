"""Builds the documentation site: build/docs/html/index.html.

    ./dev docs             the pages of docs/ and the reference, then looks for dead links
    ./dev docs --render    three of them in headless Chromium too; pictures in build/docs/pictures

The site mirrors the tree, so a link that works in the tree works on the site: README.md is its
first page, docs/ the rest, and docs/reference/ is printed from the definitions (reference.py).
Sphinx makes the HTML and takes every warning for an error; nothing on a page comes from another
host.
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

import links
import reference
import render

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "build/docs"
PAGES = ["CONTRIBUTING.md", "LICENSE", "third_party/README.md", "docs/*.md", "docs/howto/*.md"]
LISTS = {
    "Use it": ["tutorial", "coming-from-pytorch", "script", "custom-ops", "cpp"],
    "How to": ["howto/debug-a-trace", "howto/profile", "howto/rewrite-rules",
               "howto/embed-in-cpp", "howto/add-a-pass",
               "howto/add-a-kernel", "howto/add-a-vendor", "adding-an-op"],
    "What it promises": ["ops", "stability", "accuracy", "speed", "status"],
    "How it is made": ["architecture", "glossary", "decisions", "checks", "seeds"],
}  # fmt: skip


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def table_of_contents(caption, pages):
    return "\n".join(
        ["", "```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```", ""]
    )


def collect(source):
    """Writes what Sphinx reads: the tree's pages, the reference, and the lists beside them."""
    shutil.rmtree(source, ignore_errors=True)
    for pattern in PAGES:
        for path in sorted(ROOT.glob(pattern)):
            text = path.read_text().replace("](../README.md", "](../index.md")  # the first page
            write(source / path.relative_to(ROOT), text)
    printed = reference.pages()
    for name, text in printed.items():
        write(source / f"docs/reference/{name}.md", text)
    listed = {caption: [f"docs/{page}" for page in pages] for caption, pages in LISTS.items()}
    listed["Reference"] = [f"docs/reference/{name}" for name in printed]
    listed["Work on it"] = ["CONTRIBUTING", "third_party/README"]
    first = (ROOT / "README.md").read_text()
    write(source / "index.md", first + "".join(map(table_of_contents, listed, listed.values())))


def make_html(source, html):
    shutil.rmtree(html, ignore_errors=True)
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-q", "-W", "--keep-going"]
    command += ["-c", str(ROOT / "docs/site"), "-d", str(OUT / "doctrees"), str(source), str(html)]
    if subprocess.run(command).returncode:
        sys.exit("docs: Sphinx found the mistakes above; each is an error")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--render", action="store_true", help="show three pages to Chromium")
    args = parser.parse_args()
    source, html = OUT / "source", OUT / "html"
    collect(source)
    make_html(source, html)
    problems = links.problems(html)
    if problems:
        sys.exit("\n".join([f"docs: {len(problems)} dead links", *problems]))
    print(f"{len(list(html.rglob('*.html')))} pages, no dead link: {html / 'index.html'}")
    if args.render:
        for page, picture in render.render(html, OUT / "pictures"):
            print(f"rendered {page}: {picture}")


if __name__ == "__main__":
    main()
