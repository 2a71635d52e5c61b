"""Line 9: the front end of capture before and after guards from observed reads."""

from ..proof import ROOT, Line, require

LINE = Line(9, "Lines of the front end; the walk and its mirror are gone", proof="capture")
BEFORE = 4823  # at a41ddb4: python/lathe/jit, and what is named jit and witness in the bindings
FOLDER = ROOT / "python/lathe/jit"
BINDINGS = ("jit", "guards", "observer")
GONE = ("state.py", "inputs.py", "names.py", "changes.py")
WALK = ("Snapshot", "reachable", "_BAD_NAMES")


@LINE.part("the walk of what could be reached, its lists of names and its mirror are gone")
def gone():
    left = [name for name in GONE if (FOLDER / name).exists()]
    left += [str(p.name) for p in (ROOT / "python/bindings").glob("witness.*")]
    texts = {p: p.read_text() for p in FOLDER.rglob("*.py")}
    left += [f"{p.name}: {word}" for p, text in texts.items() for word in WALK if word in text]
    require(not left, "; ".join(left))
    return f"{len(GONE)} files and witness.* gone"


@LINE.part("it has fewer lines than before")
def fewer():
    files = [*FOLDER.rglob("*.py")]
    files += [ROOT / f"python/bindings/{name}.{end}" for name in BINDINGS for end in ("cpp", "h")]
    now = sum(len(p.read_text().splitlines()) for p in files)
    require(now < BEFORE, f"{BEFORE} before, {now} now")
    return f"{BEFORE} before, {now} now"
