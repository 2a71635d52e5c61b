"""What the checks look at: the files of a source tree, and the objects of a build of it.

A check is a module with NAME, a line that says what it holds up (its docstring), and

    check(tree) -> Result

It never prints and never exits: tests/python/checks runs it on small trees that break the rule.
"""

from __future__ import annotations

import functools
import json
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

CPP = (".cpp", ".h", ".hpp")
_OUTPUT = re.compile(r"\s-o\s+(\S+)")
FOLDERS = ("core", "kernels", "graph", "autodiff", "jit", "capi", "python")


@dataclass
class Result:
    """problems: one line each, 'path:line: what'. figure: what was looked at, for the report."""

    problems: list[str] = field(default_factory=list)
    figure: str = ""
    notes: list[str] = field(default_factory=list)
    skipped: str = ""


@dataclass(frozen=True)
class Object:
    source: str  # path below the root
    path: Path
    command: str


@dataclass(frozen=True)
class Tree:
    root: Path
    build: Path | None = None

    @functools.cached_property
    def files(self) -> list[str]:
        """Paths of all files git tracks or would track, or of all files where there is no git."""
        if (self.root / ".git").exists():
            command = ["git", "ls-files", "-co", "--exclude-standard", "-z"]
            out = subprocess.run(command, cwd=self.root, capture_output=True, check=True).stdout
            names = out.decode().split("\0")
        else:
            names = [str(p.relative_to(self.root)) for p in self.root.rglob("*")]
        return sorted({n for n in names if n and (self.root / n).is_file()})

    def sources(self, *under: str, suffixes=CPP) -> list[str]:
        """Files with one of the suffixes, below one of the folders (all when none is named)."""
        folders = tuple(f.rstrip("/") + "/" for f in under)
        return [
            f for f in self.files if f.endswith(suffixes) and (not under or f.startswith(folders))
        ]

    @functools.cached_property
    def _texts(self) -> dict[str, str]:
        return {}

    def text(self, path: str) -> str:
        if path not in self._texts:
            self._texts[path] = (self.root / path).read_text(errors="replace")
        return self._texts[path]

    def bytes(self, path: str) -> bytes:
        return (self.root / path).read_bytes()

    @functools.cached_property
    def objects(self) -> list[Object]:
        """What compile_commands.json names. Raises FileNotFoundError where nothing was built."""
        entries = json.loads((self.build / "compile_commands.json").read_text())
        root = self.root.resolve()
        found = []
        for entry in entries:
            folder = Path(entry["directory"])
            source = (folder / entry["file"]).resolve()
            inside = source.is_relative_to(root)
            name = str(source.relative_to(root)) if inside else str(source)
            output = _OUTPUT.search(entry["command"]).group(1)
            found.append(Object(name, folder / output, entry["command"]))
        return found

    def our_objects(self, *folders: str) -> list[Object]:
        """Objects of the named folders that exist, and whose source does."""
        prefixes = tuple(f + "/" for f in folders)
        mine = [o for o in self.objects if o.source.startswith(prefixes)]
        built = [o for o in mine if o.path.exists() and (self.root / o.source).exists()]
        if mine and not built:
            raise FileNotFoundError("nothing was built yet: ./dev build")
        return built


def line_of(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


_TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|(?:u8|[uUL])?R"(?P<d>[^()\\ ]{0,16})\(.*?\)(?P=d)"'
    r"|\"(?:\\.|[^\"\\\n])*\"|(?<![0-9a-zA-Z_])'(?:\\.|[^'\\\n])+'",
    re.S,
)


def strip_cpp(text: str, keep_strings: bool = False) -> str:
    """The text with comments, and strings unless kept, blanked; every offset stays the same."""

    def blank(match):
        token = match.group(0)
        if keep_strings and not token.startswith("/"):
            return token
        return re.sub(r"[^\n]", " ", token)

    return _TOKEN.sub(blank, text)


def strings_of_cpp(text: str):
    """(offset, contents) of each ordinary string literal outside comments."""
    for match in _TOKEN.finditer(text):
        token = match.group(0)
        if token.startswith('"'):
            yield match.start(), token[1:-1]


def run(command, **kwargs) -> str:
    """Standard output of a command that must succeed."""
    return subprocess.run(
        [str(c) for c in command], capture_output=True, text=True, check=True, **kwargs
    ).stdout
