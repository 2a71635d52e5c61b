"""Finds dead links in a folder of HTML: files and anchors that are not there, and other hosts.

A page may link to another host, but must not need one: scripts, styles, pictures and fonts have to
come with the site.
"""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

NEEDED = {"script": "src", "img": "src", "link": "href", "iframe": "src"}
IMPORT = re.compile(r"url\(\s*[\"']?(https?:)?//|@import\s+[\"'](https?:)?//")


class Page(HTMLParser):
    """What a page offers and asks for: anchors, links, and the files that it needs."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.needed = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.anchors |= {attrs[key] for key in ("id", "name") if attrs.get(key)}
        target = attrs.get(NEEDED.get(tag, ""))
        canonical = tag == "link" and attrs.get("rel") in ("canonical", "search", "author")
        if target and not canonical:
            self.needed.append(target)
        if tag == "a" and attrs.get("href"):
            self.links.append(attrs["href"])


def dead(path, target, html, pages):
    """Why a link of the page at `path` leads nowhere, or None."""
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return None
    file = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not file.is_file():
        return "no such file"
    if not file.is_relative_to(html):
        return "leads out of the site"
    if parts.fragment and file in pages and unquote(parts.fragment) not in pages[file].anchors:
        return "no such anchor"
    return None


def problems(html: Path) -> list[str]:
    """'page: link: why', sorted."""
    html = html.resolve()
    pages = {path: Page(path.read_text()) for path in html.rglob("*.html")}
    found = []
    for path, page in pages.items():
        where = path.relative_to(html)
        for target in page.links + page.needed:
            why = dead(path, target, html, pages)
            if why:
                found.append(f"{where}: {target}: {why}")
        found += [
            f"{where}: {target}: comes from another host"
            for target in page.needed
            if urlsplit(target).netloc
        ]
    for style in html.rglob("*.css"):
        if IMPORT.search(style.read_text()):
            found.append(f"{style.relative_to(html)}: asks another host for a file")
    return sorted(set(found))
