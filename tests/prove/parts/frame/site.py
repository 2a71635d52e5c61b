"""Line 6: the docs site, its words and the wheel; line 7 has the demo from nothing."""

from ..proof import ROOT, Line, green, require, run
from ..wheel import wheel

LINE = Line(6, "The site, the glossary, the wheel", proof="frame")


@LINE.part("./dev docs: no dead link, three pages in Chromium", minutes=4)
def site():
    done = run("docs", "./dev", "docs", "--render")
    require(done.code == 0, f"{done.text.strip().splitlines()[-1]}; whole log: {done.log}")
    pictures = sorted((ROOT / "build/docs/pictures").glob("*.png"))
    sizes = [f"{p.name} {p.stat().st_size // 1024} KiB" for p in pictures]
    require(len(pictures) == 3 and min(p.stat().st_size for p in pictures) > 10_000, str(sizes))
    return f"{done.last('^[0-9]+ pages, no dead link')}; {', '.join(sizes)}"


@LINE.part("the site's tests in a browser", minutes=1)
def tests():
    done = run("site-tests", "./dev", "test", "--python", "test_site")
    require("SKIPPED" not in done.text, f"some were skipped; whole log: {done.log}")
    return green(done)


@LINE.part("the glossary: its words are used, the house's words are not")
def words():
    done = run("words", "./dev", "check", "words")
    require(done.code == 0, f"whole log: {done.log}")
    return done.last(r"problems; (.*); [\d.]+ s")


@LINE.part("the wheel from a clean clone, used from Python and C++ outside of the tree", minutes=6)
def wheel_outside():
    return wheel()
