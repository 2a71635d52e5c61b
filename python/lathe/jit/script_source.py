"""From a function to the syntax tree of its source, and what can be told from that tree alone."""

import ast
import functools
import inspect
import linecache
import math
import types

from .. import _lathe
from .._capturing import PACKAGE

_TREES = {}  # by file: (the lines it was made of, tree)


# ── finding the source ──────────────────────────────────────────────────────────────────────────


def _tree(file):
    lines = linecache.getlines(file)
    if not lines:
        return None
    known = _TREES.get(file)
    if known is None or known[0] is not lines:
        try:
            known = _TREES[file] = (lines, ast.parse("".join(lines)))
        except SyntaxError:
            known = _TREES[file] = (lines, None)
    return known[1]


def _first_line(node):
    decorators = getattr(node, "decorator_list", ())
    return min([node.lineno, *(d.lineno for d in decorators)])


@functools.lru_cache(maxsize=4096)
def candidates(code):
    """The nodes that the code object may have been made of: one, if all is well."""
    tree = _tree(code.co_filename)
    if tree is None:
        return ()
    wanted = ast.Lambda if code.co_name == "<lambda>" else (ast.FunctionDef, ast.AsyncFunctionDef)
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, wanted) or _first_line(node) != code.co_firstlineno:
            continue
        if getattr(node, "name", "<lambda>") != code.co_name:
            continue
        a = node.args
        if tuple(x.arg for x in (*a.posonlyargs, *a.args, *a.kwonlyargs)) == names:
            found.append(node)
    return tuple(found)


def find(code):
    """The node of a function's code; None where there is not exactly one."""
    found = candidates(code)
    return found[0] if len(found) == 1 else None


def is_special(code):
    """Generators and coroutines are not run statement by statement."""
    flags = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
    return bool(code.co_flags & flags)


def underlying(function):
    """The Python function under partials, methods and modules; None for other callables."""
    while not isinstance(function, types.FunctionType):
        if isinstance(function, functools.partial):
            function = function.func
        elif isinstance(function, types.MethodType):
            function = function.__func__
        elif hasattr(function, "_function"):
            function = function._function
        elif hasattr(type(function), "forward"):
            function = function.forward
        elif isinstance(type(function).__dict__.get("__call__"), types.FunctionType):
            function = type(function).__call__
        else:
            return None
    return function


def require(function):
    """ScriptError, at the line that asks for the script, where there is no source to read."""
    f = underlying(function)
    if f is None or find(f.__code__) is not None:
        return
    if f.__module__ is not None and f.__module__.split(".")[0] == "lathe":
        return
    code = f.__code__
    many = len(candidates(code)) > 1
    file, line = code.co_filename, code.co_firstlineno
    if not many:
        file, line = _asking_line()
    problem = (
        "two functions begin on this line, and the script cannot tell them apart"
        if many
        else ("the function's source text cannot be read")
    )
    raise trampoline(file, line)(
        _lathe.ScriptError, (problem,),
        {"op": "script", "got": f"{f.__qualname__} of {code.co_filename}",
         "next": "write each on a line of its own" if many else "define it in a file"},
    )  # fmt: skip


def _asking_line():
    """The innermost line of the user's that is in a file."""
    for frame in inspect.stack(0):
        if frame.filename.startswith(PACKAGE) or not linecache.getlines(frame.filename):
            continue
        return frame.filename, frame.lineno
    return "?", 0


def file_of(function):
    f = underlying(function)
    return f.__code__.co_filename if f is not None else "?"


def any_node(function):
    """A node that says where the function is."""
    f = underlying(function)
    line = f.__code__.co_firstlineno if f is not None else 0
    return ast.Pass(lineno=line, col_offset=0)


# ── a line of the user's ────────────────────────────────────────────────────────────────────────

_PROTOTYPE = (lambda f, args, kwargs: f(*args, **kwargs)).__code__


@functools.lru_cache(maxsize=4096)
def trampoline(file, line):
    """A function that calls another, and in tracebacks and errors is the user's line."""
    code = _PROTOTYPE.replace(co_filename=file, co_firstlineno=line, co_name="<script>")
    return types.FunctionType(code, {})


_WIDEST = 100  # columns of an excerpt


def excerpt(file, node):
    """The line that a node begins in, and carets below the node; "" where there is no text."""
    line = linecache.getline(file, node.lineno).rstrip()
    before = len(line.encode()[: node.col_offset].decode(errors="ignore"))  # columns, not bytes
    end = len(line)
    if getattr(node, "end_lineno", None) == node.lineno:
        end = len(line.encode()[: node.end_col_offset].decode(errors="ignore"))
    text = line.lstrip()
    indent = len(line) - len(text)
    if not text or len(text) > _WIDEST or before < indent or end <= before:
        return ""
    return f"{text}\n{' ' * (before - indent)}{'^' * (end - before)}"


# ── calls ───────────────────────────────────────────────────────────────────────────────────────


def bind_function(f, args, kwargs):
    """A function's local names at its start."""
    bound = inspect.signature(f, follow_wrapped=False).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.arguments


def parameters(node):
    """Of a function inside a script: its ast arguments and the nodes of its defaults."""
    a = node.args
    return a, [*a.defaults, *(d for d in a.kw_defaults if d is not None)]


def bind(name, a, defaults, args, kwargs, _inner):
    kinds = inspect.Parameter
    defaults = list(defaults)
    positional = [*a.posonlyargs, *a.args]
    without = len(positional) - len(a.defaults)
    made = []
    for i, p in enumerate(positional):
        kind = kinds.POSITIONAL_ONLY if i < len(a.posonlyargs) else kinds.POSITIONAL_OR_KEYWORD
        default = defaults[i - without] if i >= without else kinds.empty
        made.append(kinds(p.arg, kind, default=default))
    if a.vararg:
        made.append(kinds(a.vararg.arg, kinds.VAR_POSITIONAL))
    rest = iter(defaults[len(a.defaults) :])
    for p, d in zip(a.kwonlyargs, a.kw_defaults):
        made.append(
            kinds(p.arg, kinds.KEYWORD_ONLY, default=kinds.empty if d is None else next(rest))
        )
    if a.kwarg:
        made.append(kinds(a.kwarg.arg, kinds.VAR_KEYWORD))
    bound = inspect.Signature(made).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.arguments


# ── names ───────────────────────────────────────────────────────────────────────────────────────

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def targets(node):
    """The names that an assignment to this target binds."""
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, (ast.Tuple, ast.List)):
        return [n for e in node.elts for n in targets(e)]
    if isinstance(node, ast.Starred):
        return targets(node.value)
    return []


def assigned(nodes):
    """Names that the statements assign or delete, in order of appearance, each once."""
    out = {}

    def visit(node):
        if isinstance(node, ast.Assign):
            for t in node.targets:
                out.update(dict.fromkeys(targets(t)))
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.For, ast.NamedExpr)):
            out.update(dict.fromkeys(targets(node.target)))
        elif isinstance(node, ast.Delete):
            for t in node.targets:
                out.update(dict.fromkeys(targets(t)))
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            out.update(dict.fromkeys(targets(node.optional_vars)))
        elif isinstance(node, (ast.MatchAs, ast.MatchStar)):
            out.update(dict.fromkeys([node.name] if node.name else []))
        elif isinstance(node, ast.MatchMapping) and node.rest:
            out[node.rest] = None
        elif isinstance(node, ast.ExceptHandler) and node.name:
            out[node.name] = None
        elif isinstance(node, _SCOPES):
            if hasattr(node, "name"):
                out[node.name] = None
            return
        for child in ast.iter_child_nodes(node):
            visit(child)

    for n in nodes:
        visit(n)
    return list(out)


@functools.lru_cache(maxsize=4096)
def local_names(node):
    """All names that are a function's own."""
    a = getattr(node, "args", None)
    if a is None:  # stands for the line of a call from outside
        return frozenset()
    names = [x.arg for x in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
    names += [x.arg for x in (a.vararg, a.kwarg) if x is not None]
    if isinstance(node.body, list):
        names += assigned(node.body)
    return frozenset(names) - declared(node).keys()


def _own_nodes(node):
    """All that a function's body holds, but for the functions and classes in it."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, _SCOPES):
            yield from _own_nodes(child)


@functools.lru_cache(maxsize=4096)
def declared(node):
    """{name: ast.Nonlocal or ast.Global} of the names that a function says are not its own."""
    return {n: type(s) for s in _own_nodes(node) if isinstance(s, (ast.Nonlocal, ast.Global))
            for n in s.names}  # fmt: skip


@functools.lru_cache(maxsize=4096)
def shared_names(node):
    """A function's names that functions inside it set, or read while they may still change."""
    names = set()
    for inner in ast.walk(node):
        if inner is not node and isinstance(inner, (ast.FunctionDef, ast.Lambda)):
            names |= {n for n, how in declared(inner).items() if how is ast.Nonlocal}
            names |= _late_names(inner, node)
    return frozenset(names & local_names(node))


def _late_names(inner, outer):
    """Names that a nested function reads and that the outer one binds again afterwards."""
    own = local_names(inner)
    body = inner.body if isinstance(inner.body, list) else [inner.body]
    read = {n.id for b in body for n in ast.walk(b) if isinstance(n, ast.Name)} - own
    if not isinstance(outer.body, list):
        return set()
    loops = [n for n in ast.walk(outer) if isinstance(n, (ast.For, ast.While)) and _holds(n, inner)]
    late = set(assigned(loops))
    for node in ast.walk(outer):
        if getattr(node, "lineno", 0) > inner.lineno and not _holds(inner, node):
            late |= set(assigned([node])) if isinstance(node, ast.stmt) else set()
    return (read & late) - {getattr(inner, "name", None)}


def _holds(outer, inner):
    return any(n is inner for n in ast.walk(outer))


@functools.lru_cache(maxsize=4096)
def of_a_round(function, loop):
    """Names that each round of the loop sets before it reads them, and that nothing outside of it
    reads: no round hands them on."""
    inside = set(map(id, ast.walk(loop)))
    outside = [n for n in ast.walk(function) if id(n) not in inside]
    read = {n.id for n in outside if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Store)}
    read |= {n.target.id for n in outside
             if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)}  # fmt: skip
    before = _named(loop.test) if isinstance(loop, ast.While) else set()
    out = set(targets(loop.target)) if isinstance(loop, ast.For) else set()
    for s in loop.body:
        if isinstance(s, ast.Assign):
            reads = {
                n.id for n in ast.walk(s) if isinstance(n, ast.Name) and type(n.ctx) is ast.Load
            }
            out |= set(_own_targets(s)) - before - reads
        before |= _named(s)
    return out - read


@functools.lru_cache(maxsize=4096)
def read_names(statement):
    """Names that a statement reads, or may: those that it only binds are left out."""
    found = set()
    for n in ast.walk(statement):
        if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Store):
            found.add(n.id)
        elif isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name):
            found.add(n.target.id)
    return frozenset(found)


def _named(node):
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


@functools.lru_cache(maxsize=4096)
def as_loops(comprehension):
    """(a name that no source can hold, what a list comprehension does to the list of that name, as
    statements)."""
    name = f" list {comprehension.lineno} {comprehension.col_offset}"
    place = {a: getattr(comprehension, a) for a in comprehension._attributes}

    def made(kind, *fields):
        return kind(*fields, **place)

    append = made(ast.Attribute, made(ast.Name, name, ast.Load()), "append", ast.Load())
    body = made(ast.Expr, made(ast.Call, append, [comprehension.elt], []))
    for g in reversed(comprehension.generators):
        for test in reversed(g.ifs):
            body = made(ast.If, test, [body], [])
        body = made(ast.For, g.target, g.iter, [body], [])
    return name, [body]


def only_augmented(statements, name):
    """Is the name only ever the target of `name += ...` in these statements?"""
    for s in statements:
        for node in ast.walk(s):
            if isinstance(node, ast.AugAssign):
                continue
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.For, ast.NamedExpr, ast.Delete,
                                 ast.withitem)) and name in _own_targets(node):  # fmt: skip
                return False
    return True


def _own_targets(node):
    if isinstance(node, (ast.Assign, ast.Delete)):
        return [n for t in node.targets for n in targets(t)]
    if isinstance(node, ast.withitem):
        return [] if node.optional_vars is None else targets(node.optional_vars)
    return targets(node.target)


# ── control flow ────────────────────────────────────────────────────────────────────────────────


def may_exit(node, inside_loop=False):
    """Does the statement hold a return, or a break or continue of a loop around it?"""
    if isinstance(node, ast.Return):
        return True
    if isinstance(node, (ast.Break, ast.Continue)):
        return not inside_loop
    if isinstance(node, _SCOPES):
        return False
    inside_loop = inside_loop or isinstance(node, (ast.While, ast.For))
    return any(may_exit(c, inside_loop) for c in ast.iter_child_nodes(node))


@functools.lru_cache(maxsize=4096)
def ways_through(node):
    """In how many ways does a statement come to its end, as far as ifs tell?"""
    if isinstance(node, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
        return 0
    if not isinstance(node, ast.If) or not may_exit(node):
        return 1
    parts = [math.prod(map(ways_through, part)) for part in (node.body, node.orelse)]
    return sum(parts)


def leaves_loop(node):
    """Does the statement hold a break or continue of a loop around it?"""
    if isinstance(node, (ast.Break, ast.Continue)):
        return True
    if isinstance(node, (*_SCOPES, ast.While, ast.For)):
        return False
    return any(map(leaves_loop, ast.iter_child_nodes(node)))


def has_break(statements):
    def holds(node):
        if isinstance(node, ast.Break):
            return True
        if isinstance(node, (*_SCOPES, ast.While, ast.For)):
            return False
        return any(holds(c) for c in ast.iter_child_nodes(node))

    return any(holds(s) for s in statements)


def may_return(node):
    """Does the statement hold a return of the function around it?"""
    if isinstance(node, ast.Return):
        return True
    return not isinstance(node, _SCOPES) and any(map(may_return, ast.iter_child_nodes(node)))


def has_walrus(node):
    return any(isinstance(n, ast.NamedExpr) for n in ast.walk(node))


def is_generator(node):
    own = [n for s in node.body for n in ast.walk(s)]
    return any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in own)


_SPOKEN = {
    ast.ClassDef: "a class",
    ast.AsyncFunctionDef: "'async'", ast.Await: "'await'", ast.Yield: "'yield'",
    ast.YieldFrom: "'yield'",
}  # fmt: skip


def spoken(node):
    return _SPOKEN.get(type(node), f"'{type(node).__name__.lower()}'")
