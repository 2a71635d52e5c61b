"""No file above 1,000 lines and no function above 100; files above 600 are listed for review."""

import ast
import re
import statistics

from tree import CPP, Result, strip_cpp

NAME = "sizes"

FILE_LIMIT, FILE_REVIEW, FUNCTION_LIMIT = 1000, 600, 100
COUNTED = (*CPP, ".c", ".py", ".cmake", ".sh")

_TEMPLATE = re.compile(r"\s*template\s*<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>")
_SCOPE = re.compile(r"\s*(inline\s+)?(namespace|class|struct|union|extern)\b")
_CALLABLE_END = re.compile(r"\)\s*((const|noexcept|override|final|mutable|&&?)\s*)*$")
_BLANK_LINES = re.compile(r"^[ \t]*#.*(?:\\\n.*)*", re.M)


def _kind(head, enclosing):
    """What a brace opens, told from the text before it: 'scope', 'function' or 'other'."""
    if enclosing != "scope" or re.search(r"[\w>\]]$", head):  # "x{1}": a space precedes a body
        return "other"
    if re.search(r"(=|\(|,|return)\s*$", head) or re.match(r"\s*enum\b", head):
        return "other"
    if _SCOPE.match(_TEMPLATE.sub("", head)) and not _CALLABLE_END.search(head):
        return "scope"
    return "function" if ")" in head else "other"


def _name(head):
    found = re.findall(r"([\w:~]+|operator\s*\S+)\s*\(", head)
    return found[0] if found else "function"


def cpp_functions(text):
    """(name, first line, lines) of each function body. A brace matcher: enough for tidy code."""
    text = _BLANK_LINES.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), strip_cpp(text))
    stack, start, line, parens = ["scope"], 0, 1, 0
    opened, found = [], []
    for offset, char in enumerate(text):
        if char == "\n":
            line += 1
        elif char in "()":
            parens += 1 if char == "(" else -1
        elif char == ";" and stack[-1] == "scope" and parens == 0:
            start = offset + 1
        elif char == "{":
            head = text[start:offset]
            kind = _kind(head, stack[-1]) if parens == 0 else "other"
            lead = len(head) - len(head.lstrip())
            opened.append((_name(head), line - head[lead:].count("\n")))
            stack.append(kind)
            if kind == "scope":
                start = offset + 1
        elif char == "}" and opened:
            kind = stack.pop()
            name, first = opened.pop()
            if kind == "function":
                found.append((name, first, line - first + 1))
            if kind != "other" and stack[-1] == "scope" and parens == 0:
                start = offset + 1
    return found


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno, node.end_lineno - node.lineno + 1


def check(tree):
    result = Result()
    lengths, files = [], 0
    for path in tree.sources(suffixes=COUNTED):
        text = tree.text(path)
        files += 1
        lines = text.count("\n")
        if lines > FILE_LIMIT:
            result.problems.append(f"{path}:1: {lines} lines, above {FILE_LIMIT}")
        elif lines > FILE_REVIEW:
            result.notes.append(f"{path}: {lines} lines, worth a review")
        functions = []
        if path.endswith(CPP):
            functions = cpp_functions(text)
        elif path.endswith(".py"):
            functions = python_functions(text)
        for name, first, length in functions:
            lengths.append(length)
            if length > FUNCTION_LIMIT:
                result.problems.append(
                    f"{path}:{first}: {name} has {length} lines, above {FUNCTION_LIMIT}"
                )
    median = statistics.median(lengths) if lengths else 0
    longest = max(lengths, default=0)
    result.figure = (
        f"{files} files, {len(lengths)} functions: median {median:g} lines, longest {longest}"
    )
    return result
