"""Cycles of includes between components; a part of the check `layers`.

A component is a stem with its .h and .cpp (core/op/args: args.h and args.cpp): what
either includes, the component includes. A .hpp is a component of its own. A cycle is a strongly
connected component, of more than one, of that graph. Those that the tree has are listed in
known_cycles.txt, one a line: its components, sorted. The list may only shrink: a cycle that is
new or has grown is a problem, and so is a line that is no cycle as it stands any more.
"""

import re

from tree import line_of, strip_cpp

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)
KNOWN = "tests/checks/known_cycles.txt"


def component(path):
    return re.sub(r"\.(h|cpp)$", "", path)


def include_graph(tree):
    """{component: {component that it includes: "path:line" of the first such include}}."""
    paths = [p for p in tree.sources() if not p.startswith("tests/")]
    graph = {component(p): {} for p in paths}
    for path in paths:
        text = strip_cpp(tree.text(path), keep_strings=True)
        for match in INCLUDE.finditer(text):
            target = match.group(2)
            target = component(f"include/{target}" if target.startswith("lathe/") else target)
            if target in graph and target != component(path):
                edge = f"{path}:{line_of(text, match.start())}"
                graph[component(path)].setdefault(target, edge)
    return graph


def strongly_connected(graph):
    """Tarjan's algorithm: the sorted members of each cycle."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        on_stack.add(node)
        for other in graph[node]:
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in on_stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            members = sorted(stack[at:])
            del stack[at:]
            on_stack.difference_update(members)
            if len(members) > 1:
                found.append(members)

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return sorted(found)


def known_cycles(tree):
    if KNOWN not in tree.files:
        return []
    lines = tree.text(KNOWN).splitlines()
    return [line.split() for line in lines if line and not line.startswith("#")]


def edges_inside(graph, members):
    """ "a -> b (path:line)" of every include from one member to another."""
    return [
        f"{a} -> {b} ({graph[a][b]})" for a in members for b in sorted(graph[a]) if b in members
    ]


def judge(tree):
    """(problems, figure)"""
    graph = include_graph(tree)
    cycles, known = strongly_connected(graph), known_cycles(tree)
    problems = []
    for members in cycles:
        if members not in known:
            problems.append(
                f"{members[0]}: a cycle of includes that {KNOWN} does not list: {' '.join(members)}"
            )
            problems += [f"    {edge}" for edge in edges_inside(graph, members)]
    for members in known:
        if members not in cycles:
            problems.append(
                f"{KNOWN}: no such cycle any more: {' '.join(members)}; take the line out, or "
                "leave those that still are one"
            )
    folders = {}
    for members in cycles:
        for folder in {m.rsplit("/", 1)[0].split("/")[-1] for m in members}:
            folders.setdefault(folder, []).append(len(members))
    counts = ", ".join(f"{f} {'+'.join(map(str, n))}" for f, n in sorted(folders.items()))
    return problems, f"{len(cycles)} known cycles ({counts})" if cycles else "no cycles"


def print_edges(tree):
    graph = include_graph(tree)
    for members in strongly_connected(graph):
        print(f"{len(members)}: {' '.join(members)}")
        for edge in edges_inside(graph, members):
            print(f"    {edge}")


if __name__ == "__main__":
    from pathlib import Path

    from tree import Tree

    print_edges(Tree(Path(__file__).resolve().parents[2]))
