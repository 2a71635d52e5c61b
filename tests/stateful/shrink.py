"""Makes a program smaller that a capture gets wrong: statements are taken out while it stays so."""

import ast
import dataclasses
import re


def blocks(tree):
    """Every list of statements in it, and the list of calls of its schedule."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "schedule":
            yield node.value.elts
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block:
                yield block


def without(source, where, begin, length):
    """The text without these statements of the block of that number; None: there are none."""
    tree = ast.parse(source)
    block = list(blocks(tree))[where]
    if begin >= len(block) or isinstance(block[begin], ast.Pass):
        return None
    statements = block is not tree.body and isinstance(block[0], ast.stmt)
    block[begin : begin + length] = []
    if not block and statements:
        block.append(ast.Pass())
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def candidates(source):
    """Smaller texts, the ones that lose most first."""
    sizes = [len(block) for block in blocks(ast.parse(source))]
    for length in (8, 4, 2, 1):
        for where, size in enumerate(sizes):
            for begin in range(0, size, length):
                if length == 1 or size >= length:
                    text = without(source, where, begin, length)
                    if text is not None and text != source:
                        yield text


def kind(judged):
    """What must stay as it is: the verdict, and of wrong ones in what they differ."""
    return judged.verdict, re.sub(r"\d+", "", judged.why)[:30]


def shrink(program, mode, judged_all, batch=24):
    """The smallest text found that has the same kind of verdict in this mode."""
    wanted = kind(judged_all([program], [mode], 1)[program.name, mode])
    source, tried = ast.unparse(ast.parse(program.source)) + "\n", set()
    going = True
    while going:
        going = False
        waiting = [text for text in dict.fromkeys(candidates(source)) if text not in tried]
        for at in range(0, len(waiting), batch):
            some = [
                dataclasses.replace(program, name=f"{program.name}_{i}", source=text)
                for i, text in enumerate(waiting[at : at + batch])
            ]
            tried.update(p.source for p in some)
            results = judged_all(some, [mode], 2)
            kept = [p.source for p in some if kind(results[p.name, mode]) == wanted]
            if kept:
                source, going = min(kept, key=len), True
                break
    return source
