"""Cycles of includes between components; a part of the check `layers`. There may be none.

A component is a stem with its .h and .cpp (core/op/args: args.h and args.cpp): what either
includes, the component includes. A .hpp is a component of its own. A cycle is a strongly connected
component, of more than one, of that graph. Where functions call each other in a ring, one header
declares what the others may call, and a source beside it (core/dispatch/replay.cpp) defines it.

`./dev python tests/checks/cycles.py` prints the edges of each cycle.
"""

import re

from tree import line_of, strip_cpp

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)


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


def edges_inside(graph, members):
    """ "a -> b (path:line)" of every include from one member to another."""
    return [
        f"{a} -> {b} ({graph[a][b]})" for a in members for b in sorted(graph[a]) if b in members
    ]


def judge(tree):
    """(problems, figure)"""
    graph = include_graph(tree)
    cycles = strongly_connected(graph)
    problems = []
    for members in cycles:
        problems.append(f"{members[0]}: a cycle of includes: {' '.join(members)}")
        problems += [f"    {edge}" for edge in edges_inside(graph, members)]
    return problems, f"{len(cycles)} cycles of {len(graph)} components"


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
