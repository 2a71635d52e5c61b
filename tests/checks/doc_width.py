"""No line of a page is longer than 120 columns, but rows of tables: Markdown cannot break those."""

from tree import Result

NAME = "doc width"
LIMIT = 120


def check(tree):
    result = Result()
    pages = [f for f in tree.files if f.endswith(".md")]
    for path in pages:
        for number, line in enumerate(tree.text(path).splitlines(), 1):
            if len(line) > LIMIT and not line.startswith("|"):
                result.problems.append(f"{path}:{number}: {len(line)} columns, above {LIMIT}")
    result.figure = f"{len(pages)} pages"
    return result
