"""File names in comments and in pages are names of files of this tree.

Looked at: comments of C++, comments and docstrings of Python, comments of shell and CMake, and
pages without their fenced code, which may be a user's. A name may be written from the root of the
tree, or from any folder on the way (`ops/nn.cpp`), or bare; with * it names at least one file. A
file of somebody else is written in angle brackets, as <vector> and <llvm/IR/Type.h> are.
"""

import fnmatch
import io
import re
import tokenize

from tree import _TOKEN, CPP, Result, line_of

NAME = "file names"

ENDINGS = "cpp|h|hpp|py|pyi|txt|md|sh|cmake"
FILE = re.compile(
    rf"(?<![\w.*/<>{{}}$~-])[\w*][\w.*-]*(?:/[\w.*-]+)*\.(?:{ENDINGS})\b(?![\w(]|\.\w|/)"
)
# What a build writes, or an installation holds.
ELSEWHERE = {"generated/plugins_built.h", "LatheConfig.cmake"}
WRITTEN = ("build", ".deps")  # folders
PLANTED = "tests/python/checks/"  # their comments speak of the small trees that they make
SUFFIXES = (*CPP, ".py", ".pyi", ".md", ".sh", ".cmake", "CMakeLists.txt")
FOLDER = re.compile(r"`([\w.-]+(?:/[\w.-]+)*)/`")  # in pages
FENCED = re.compile(r"^```.*?^```", re.M | re.S)


def blanked(text):
    return re.sub(r"[^\n]", " ", text)


def cpp_prose(text):
    """The comments; the rest is blank, so that lines stay."""
    out, at = [], 0
    for match in _TOKEN.finditer(text):
        token = match.group(0)
        if token.startswith("/"):
            out += [blanked(text[at : match.start()]), token]
        else:
            out.append(blanked(text[at : match.end()]))
        at = match.end()
    return "".join([*out, blanked(text[at:])])


def python_prose(text):
    """(line, text) of comments and of strings that stand alone: docstrings."""
    previous = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        alone = previous in (tokenize.NEWLINE, tokenize.INDENT)
        if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and alone):
            yield token.start[0], token.string
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            previous = token.type


def program_of(page):
    """The name of a page's code as one program: its own, with underscores."""
    return page.split("/")[-1].replace("-", "_").replace(".md", ".py")


def prose(path, text):
    """(first line, text) of what is looked at in this file."""
    if path.endswith(CPP):
        yield 1, cpp_prose(text)
    elif path.endswith((".py", ".pyi")):
        yield from python_prose(text)
    elif path.endswith(".md"):
        yield 1, FENCED.sub(lambda m: blanked(m.group(0)), text)
    elif path.endswith((".sh", ".cmake", "CMakeLists.txt", "dev", "run")):
        for number, line in enumerate(text.splitlines(), 1):
            if line.lstrip().startswith("#"):
                yield number, line


class Names:
    """Every way to write a file of the tree: its path, and each end of it."""

    def __init__(self, files):
        self.ends, self.folders = set(), set()
        for file in files:
            parts = file.split("/")
            self.ends.update("/".join(parts[i:]) for i in range(len(parts)))
            for end in range(1, len(parts)):
                self.folders.update("/".join(parts[i:end]) for i in range(end))

    def has(self, name):
        if name.startswith("_"):  # an ending: `_avx2.cpp`
            name = f"*{name}"
        if "*" in name:
            return any(fnmatch.fnmatch(end, name) for end in self.ends)
        return name in self.ends or name in ELSEWHERE

    def has_folder(self, name):
        return name in self.folders or name.split("/")[0] in WRITTEN


def check(tree):
    result = Result()
    names, count = Names(tree.files), 0
    for path in tree.files:
        scripts = ("dev", ".ci/run")
        if path.startswith(PLANTED) or not (path.endswith(SUFFIXES) or path in scripts):
            continue
        text = tree.text(path)
        for first, part in prose(path, text):
            found = [(m, m.group(0), names.has) for m in FILE.finditer(part)]
            if path.endswith(".md"):
                found += [(m, m.group(1), names.has_folder) for m in FOLDER.finditer(part)]
            count += len(found)
            for match, name, there in found:
                if not there(name) and name != program_of(path):
                    line = first + line_of(part, match.start()) - 1
                    result.problems.append(f"{path}:{line}: no such file: {name}")
    result.figure = f"{count} names"
    return result
