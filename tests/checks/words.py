"""The field's terms are used, not the house's own; and every word of docs/glossary.md is used.

tests/checks/words.txt lists the house's words. They are looked for in pages (code of a page left
out, as names are not prose), in comments and in texts (strings) of C++ and Python sources. In a
pattern a blank stands for any white space, line ends and the marks of a comment included.
"""

import io
import re
import tokenize
from dataclasses import dataclass

from tree import _TOKEN, CPP, Result, line_of

NAME = "words"
LIST = "tests/checks/words.txt"
GLOSSARY = "docs/glossary.md"
PLACES = ("pages", "comments", "texts")
SKIPPED = ("tests/traps/t", "tests/python/checks/", "docs/internals/", "tests/checks/words.")
# Code of a page: fenced, indented by four columns after an empty line, or in a line.
CODE = re.compile(r"^ *```.*?^ *```|(?<=\n\n)(?:    .*\n+)+|`[^`\n]+`", re.M | re.S)
CELL = re.compile(r"^\| \*\*(.+?)\*\* \|", re.M)


@dataclass(frozen=True)
class Word:
    line: int
    places: tuple
    pattern: re.Pattern
    instead: str
    allowed: re.Pattern | None

    def found_in(self, text):
        """Offsets of the places where the text uses it outside of what is allowed."""
        good = [m.span() for m in self.allowed.finditer(text)] if self.allowed else []
        for match in self.pattern.finditer(text):
            if not any(a <= match.start() and match.end() <= b for a, b in good):
                yield match


def compiled(text):
    """The pattern of the list; capitals do not matter unless it has some."""
    flags = 0 if re.search(r"(?<!\\)[A-Z]", text) else re.I
    return re.compile(text.strip().replace(" ", r"(?:\s+(?:(?://+|#+|\*|>)\s+)?)"), flags)


def words(tree):
    """(the list, problems of the list itself)"""
    found, problems = [], []
    for number, line in enumerate(tree.text(LIST).splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split(" | ")]
        places = tuple(parts[0].split())
        if len(parts) not in (3, 4) or not set(places) <= set(PLACES):
            problems.append(f"{LIST}:{number}: not 'PLACES | PATTERN | INSTEAD [| ALLOWED]'")
            continue
        allowed = compiled(parts[3]) if len(parts) == 4 else None
        found.append(Word(number, places, compiled(parts[1]), parts[2], allowed))
    return found, problems


def blanked(text, spans):
    """The text with nothing but these spans left, every offset as it was."""
    kept, at = [], 0
    for begin, end in spans:
        kept += [re.sub(r"[^\n]", " ", text[at:begin]), text[begin:end]]
        at = end
    return "".join([*kept, re.sub(r"[^\n]", " ", text[at:])])


def page(text):
    return {"pages": CODE.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), text)}


def cpp_parts(text):
    tokens = [(m.start(), m.end(), m.group(0)) for m in _TOKEN.finditer(text)]
    comments = [(a, b) for a, b, token in tokens if token.startswith("/")]
    texts = [(a, b) for a, b, token in tokens if not token.startswith("/")]
    return {"comments": blanked(text, comments), "texts": blanked(text, texts)}


def python_parts(text):
    starts = [0, *(m.end() for m in re.finditer("\n", text))]
    comments, texts, before = [], [], tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        begin, end = (starts[row - 1] + column for row, column in (token.start, token.end))
        if token.type == tokenize.COMMENT:
            comments.append((begin, end))
        elif token.type == tokenize.STRING:  # a docstring begins a statement
            statement = before in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
            (comments if statement else texts).append((begin, end))
        if token.type not in (tokenize.NL, tokenize.COMMENT):
            before = token.type
    return {"comments": blanked(text, comments), "texts": blanked(text, texts)}


def parts(path, text):
    """{place: what of this file belongs to it}"""
    if path.endswith(".md"):
        return page(text)
    return cpp_parts(text) if path.endswith(CPP) else python_parts(text)


def glossary(tree, prose):
    """(number of words, problems): each is used in prose besides the glossary."""
    if GLOSSARY not in tree.files:
        return 0, [f"{GLOSSARY}:1: no such file"]
    text = tree.text(GLOSSARY)
    entries = [(m.group(1), line_of(text, m.start())) for m in CELL.finditer(text)]
    problems = []
    for word, line in entries:
        names = [re.escape(name.strip(" `")) for name in word.split(",")]
        if not any(re.search(rf"\b{name}(?:s|es|ed)?\b", prose, re.I) for name in names):
            problems.append(f"{GLOSSARY}:{line}: '{word}' is used nowhere")
    return len(entries), problems


def check(tree):
    known, problems = words(tree)
    paths = [p for p in tree.files if p.endswith((".md", ".py", *CPP))]
    paths = [p for p in paths if not p.startswith(SKIPPED)]
    prose = []
    for path in paths:
        found = parts(path, tree.text(path))
        prose += [text for text in found.values() if path != GLOSSARY]
        for word in known if path != GLOSSARY else ():
            for place in set(word.places) & found.keys():
                problems += [
                    f"{path}:{line_of(found[place], m.start())}: "
                    f"'{' '.join(m.group(0).split())}': the field says {word.instead}"
                    for m in word.found_in(found[place])
                ]
    count, missing = glossary(tree, "\n".join(prose))
    figure = f"{len(known)} patterns in {len(paths)} files; {count} words of the glossary"
    return Result(sorted(set(problems)) + missing, figure)
