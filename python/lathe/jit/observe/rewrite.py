"""Observed code: what a function's source says, with a hook at every read and store.

Hooks are methods of the observer (observer.py says what each does); nothing else is added, so that
lines, names and tracebacks stay as they are. `pairs_around` compiles the top-level statement around
a function as it is and with hooks, of a class the one member around it; sources.py takes what it
needs of that.
"""

import ast
import contextlib
import sys
from io import open_code

from .sources import FUNCTION, OBSERVER, OUTER, inside

_FUTURE = 0x1FF0000  # the flags that `from __future__ import` sets

# Fields of syntax nodes whose value an operation of the language uses, whatever it is.
_USED = {
    ast.YieldFrom: ("value",), ast.withitem: ("context_expr",), ast.Set: ("elts",),
    ast.Dict: ("keys",),
}  # fmt: skip
# Those of which it is asked whether they are true.
_ASKED = {
    ast.UnaryOp: ("operand",), ast.BoolOp: ("values",), ast.If: ("test",), ast.While: ("test",),
    ast.IfExp: ("test",), ast.Assert: ("test",), ast.comprehension: ("ifs",),
}  # fmt: skip
# Those whose value C goes through.
_ITERATED = {ast.For: "iter", ast.comprehension: "iter", ast.Starred: "value"}
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_FRAMES = 12_000  # of Python: walks over what a compiler just accepts, scripts that call each other


class Room:
    """Code of ours may go deep."""

    def __enter__(self):
        self._most = sys.getrecursionlimit()
        sys.setrecursionlimit(max(self._most, _FRAMES))

    def __exit__(self, *problem):
        sys.setrecursionlimit(self._most)


def _is_identity(compare):
    return all(isinstance(op, (ast.Is, ast.IsNot)) for op in compare.ops)


def _bound_in(function):
    """Names that are certainly local to a function: its parameters, and what it assigns."""
    names, given = set(), function.args
    for a in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg):
        if a is not None:
            names.add(a.arg)
    waiting, outer = list(function.body) if isinstance(function.body, list) else [], set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            outer.update(node.names)
        if not isinstance(node, (*_SCOPES, ast.ClassDef)):
            waiting.extend(ast.iter_child_nodes(node))
    return names - outer


def _shape(pattern):
    """What a pattern takes apart: patterns.py says how that is written."""
    kind, parts = type(pattern), tuple(map(_shape, getattr(pattern, "patterns", ())))
    if kind is ast.MatchAs:
        return pattern.pattern and _shape(pattern.pattern)
    if kind is ast.MatchOr:
        return ("either", parts)
    if kind in (ast.MatchSequence, ast.MatchMapping):
        return ("items", parts)
    if kind is ast.MatchClass:
        named = zip(pattern.kwd_attrs, map(_shape, pattern.kwd_patterns))
        return ("class", (*enumerate(parts), *named))
    if kind is ast.MatchValue:
        return ("value" if isinstance(pattern.value, ast.Attribute) else "literal", ())
    return None


class _Rewriter(ast.NodeTransformer):
    def __init__(self):
        self._classes, self._local = (), [frozenset()]

    def _hook(self, name, *args):
        """A call of a hook, where its first argument is and on one line: else the compiler would
        move calls to the last line of what is inside."""
        at = next((a for a in args if hasattr(a, "lineno")), None)
        node = ast.Call(ast.Attribute(ast.Constant(OBSERVER), name, ast.Load()), list(args), [])
        for part in (node, node.func, node.func.value) if at is not None else ():
            part.lineno = part.end_lineno = at.lineno
            part.col_offset = at.col_offset
            one_line = at.lineno == at.end_lineno
            part.end_col_offset = at.end_col_offset if one_line else at.col_offset
        return node

    def _use(self, node, hook="use"):
        if node is None or isinstance(node, (ast.Constant, ast.Lambda)):
            return node
        return self._hook(hook, node)

    def _name(self, name):
        """As the compiler has it: private names of a class are mangled."""
        if self._classes and name.startswith("__") and not name.endswith("__"):
            name = f"_{self._classes[-1].lstrip('_')}{name}"
        return ast.Constant(name)

    def generic_visit(self, node):
        super().generic_visit(node)
        asked = _ASKED.get(type(node), ())
        hook = "in_question" if asked else "use"
        for field in asked or _USED.get(type(node), ()):
            value = getattr(node, field)
            every = value if isinstance(value, list) else [value]
            used = [self._use(v, hook) for v in every]
            used = used if every is value else used[0]
            if isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
                setattr(node, field, used)
        field = _ITERATED.get(type(node))
        if field and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            setattr(node, field, self._use(getattr(node, field), "iterated"))
        return node

    # ── reads ───────────────────────────────────────────────────────────────────────────────────

    def visit_Name(self, node):
        if not isinstance(node.ctx, ast.Load) or node.id in self._local[-1]:
            return node
        if len(self._local) == 1 or node.id in ("super", "__class__"):
            return node
        name = self._name(node.id)
        return self._hook("outside", node, name, ast.Constant(OUTER))

    def visit_Attribute(self, node):
        load = isinstance(node.ctx, ast.Load)
        name = self._name(node.attr)
        node.value = self._hook("attribute" if load else "store", self.visit(node.value), name)
        return node.value if load else node

    def visit_Subscript(self, node):
        self.generic_visit(node)
        parts = [node.slice, *getattr(node.slice, "elts", ())]
        plain = not any(isinstance(k, ast.Slice) for k in parts)
        load = isinstance(node.ctx, ast.Load)
        if load and plain:
            return self._hook("item", node.value, node.slice)
        if load or not plain:
            node.value = self._hook("use" if load else "store_item", node.value)
            return node
        node.value = self._hook("store_into", node.value)
        node.slice = self._hook("stored_key", node.slice)
        return node

    def visit_Dict(self, node):
        self.generic_visit(node)
        node.values = [
            self._use(v, "spread" if k is None else "use") for k, v in zip(node.keys, node.values)
        ]
        return self._hook("made", node)

    def visit_DictComp(self, node):
        return self._hook("made", self.generic_visit(node))

    def visit_BinOp(self, node):
        self.generic_visit(node)
        if isinstance(node.left, ast.Constant) and isinstance(node.right, ast.Constant):
            return node
        op = ast.Constant(type(node.op).__name__)
        return self._hook("operate", node.left, node.right, op)

    def visit_Compare(self, node):
        self.generic_visit(node)
        if _is_identity(node):
            both = [node.left, *node.comparators]
            if not any(isinstance(operand, ast.Constant) for operand in both):
                node.left, *node.comparators = [self._hook("identified", o) for o in both]
            return node
        if len(node.ops) == 1:
            op = ast.Constant(type(node.ops[0]).__name__)
            return self._hook("operate", node.left, node.comparators[0], op)
        node.left, node.comparators = self._use(node.left), [*map(self._use, node.comparators)]
        return node

    def visit_Call(self, node):
        bare = isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args
        self.generic_visit(node)
        node.func = node.func if bare else self._hook("call", node.func)
        return node

    def visit_keyword(self, node):
        self.generic_visit(node)
        if node.arg is None:  # **what C takes apart
            node.value = self._use(node.value, "spread")
        return node

    def visit_JoinedStr(self, node):
        parts = []
        for part in node.values:
            if not isinstance(part, ast.Constant):
                value, spec = self.visit(part.value), ast.Constant("")
                if part.format_spec is not None:
                    spec = self.visit(part.format_spec)
                part = self._hook("formatted", value, ast.Constant(part.conversion), spec)
            parts.append(part)
        return ast.copy_location(self._hook("joined", *parts), node)

    def visit_Match(self, node):
        """What patterns name is read beside the subject: a pattern has no place for hooks."""
        from copy import deepcopy

        patterns = [p for case in node.cases for p in ast.walk(case.pattern)]
        asks_class = any(isinstance(p, ast.MatchClass) for p in patterns)
        values = [p.value for p in patterns if isinstance(p, ast.MatchValue)]
        named = [value for value in values if isinstance(value, ast.Attribute)]
        read = [self.visit(deepcopy(value)) for value in named]
        self.generic_visit(node)
        hook = "match_classes" if asks_class else "match"
        shapes = ast.Constant(tuple(_shape(case.pattern) for case in node.cases))
        node.subject = self._hook(hook, node.subject, shapes, *read)
        return node

    def _in_pattern(self, node):
        for pattern in (*getattr(node, "patterns", ()), *getattr(node, "kwd_patterns", ())):
            self.visit(pattern)
        return node

    visit_MatchClass = visit_MatchMapping = visit_MatchValue = _in_pattern

    def visit_Await(self, node):
        node.value = self._hook("refuse", ast.Constant("`await`"))
        return node

    # ── stores ──────────────────────────────────────────────────────────────────────────────────

    def visit_AugAssign(self, node):
        target, op = node.target, ast.Constant(type(node.op).__name__)
        value = self.visit(node.value)
        if isinstance(target, ast.Name):
            old = self.visit(ast.copy_location(ast.Name(target.id, ast.Load()), target))
            return ast.copy_location(
                ast.Assign([target], self._hook("augment", old, value, op)), node
            )
        by_name = isinstance(target, ast.Attribute)
        key = self._name(target.attr) if by_name else self.visit(target.slice)
        if isinstance(key, ast.Slice):
            ends = [x or ast.Constant(None) for x in (key.lower, key.upper, key.step)]
            key = self._hook("slice_of", *ends)
        place = self._hook("place", self.visit(target.value), key, ast.Constant(by_name))
        return ast.copy_location(ast.Expr(self._hook("augment_place", place, value, op)), node)

    def visit_Assign(self, node):
        self.generic_visit(node)
        unpacked = [isinstance(t, (ast.Tuple, ast.List)) for t in node.targets]
        if any(unpacked):  # what is bound whole as well is not a copy
            node.value = self._use(node.value, "iterated" if all(unpacked) else "use")
        return node

    def visit_AnnAssign(self, node):
        if node.value is not None:
            node.value = self.visit(node.value)
        if not isinstance(node.target, ast.Name):
            node.target = self.visit(node.target)
        return node

    def _import(self, node):
        plain = isinstance(node, ast.Import)
        names = [a.name for a in node.names] if plain else [node.module or ""]
        items = [] if plain else [a.name for a in node.names]
        lists = [ast.Tuple([ast.Constant(x) for x in xs], ast.Load()) for xs in (names, items)]
        level = ast.Constant(getattr(node, "level", 0))
        hook = ast.Expr(self._hook("importing", level, *lists))
        return [ast.copy_location(hook, node), node] if len(self._local) > 1 else node

    visit_Import = visit_ImportFrom = _import

    def visit_Nonlocal(self, node):
        if len(self._local) == 1:
            return node
        names = [self._name(name) for name in node.names]
        hook = ast.Expr(self._hook("rebinds", *names))
        return [node, ast.copy_location(hook, node)]

    visit_Global = visit_Nonlocal

    # ── functions and classes ───────────────────────────────────────────────────────────────────

    def _arguments(self, node):
        """Defaults belong to the scope around the function."""
        node.args.defaults = [self.visit(d) for d in node.args.defaults]
        node.args.kw_defaults = [d and self.visit(d) for d in node.args.kw_defaults]

    def visit_FunctionDef(self, node):
        node.decorator_list = [self._hook("call", self.visit(d)) for d in node.decorator_list]
        self._arguments(node)
        self._local.append(_bound_in(node))
        body = [self.visit(s) for s in node.body]
        self._local.pop()
        node.body = [s for made in body for s in (made if isinstance(made, list) else [made])]
        place = {"lineno": node.lineno, "end_lineno": node.lineno, "col_offset": node.col_offset,
                 "end_col_offset": node.col_offset}  # fmt: skip
        begin = ast.Expr(self._hook("enter", ast.Constant(FUNCTION, **place)), **place)
        node.body.insert(ast.get_docstring(node, clean=False) is not None, begin)
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node):
        self._arguments(node)
        self._local.append(_bound_in(node))
        body = self.visit(node.body)
        self._local.pop()
        both = ast.Tuple([self._hook("enter", ast.Constant(FUNCTION)), body], ast.Load())
        node.body = ast.Subscript(both, ast.Constant(1), ast.Load())
        return node

    def visit_ClassDef(self, node):
        outer, self._classes = self._classes, (*self._classes, node.name)
        node.decorator_list = [self._hook("call", self.visit(d)) for d in node.decorator_list]
        node.bases = [self.visit(b) for b in node.bases]
        node.keywords = [self.visit(k) for k in node.keywords]
        self._local.append(frozenset())
        body = [self.visit(s) for s in node.body]
        self._local.pop()
        node.body = [s for made in body for s in (made if isinstance(made, list) else [made])]
        self._classes = outer
        return node


# ── finding the source of a code object ─────────────────────────────────────────────────────────

_compiled = set()  # (file, path of a statement, flags)
_rewritten = {}  # by file: paths of statements whose trees have hooks
_files = {}


def _text(file):
    """The source of a file, as text or bytes. Python's own modules may be frozen, and `python -c`
    has its text among the arguments; whatever is found here is only used where it compiles to the
    code in question."""
    if file == "<string>" and "-c" in sys.orig_argv[:-1]:
        return sys.orig_argv[sys.orig_argv.index("-c") + 1]
    if file.startswith("<frozen "):
        file = getattr(sys.modules.get(file[8:-1]), "__file__", "")
    if "linecache" not in sys.modules:  # with it come tokenize and re
        with contextlib.suppress(OSError), open_code(file) as opened:
            return opened.read()
    import linecache

    return "".join(linecache.getlines(file))


def statements_of(file):
    """(top-level statements, what the module imports at its top level, the source)."""
    if file not in _files:
        text = _text(file)
        try:
            body = ast.parse(text).body
        except (SyntaxError, ValueError):
            body = []
        imports = [
            ast.alias("x", (a.asname or a.name).split(".")[0])
            for statement in body
            if not isinstance(statement, (*_SCOPES, ast.ClassDef))
            for node in ast.walk(statement)
            if isinstance(node, (ast.Import, ast.ImportFrom))
            for a in node.names
            if a.name != "*"
        ]
        _files[file] = body, imports, text
    return _files[file]


def _paths(body, line):
    """Where the statements are that this line belongs to: which of a module's, and if that is a
    class, which of the class's, and so on."""
    for number, statement in enumerate(body):
        decorators = getattr(statement, "decorator_list", ())
        first = min([statement.lineno, *(d.lineno for d in decorators)])
        if first <= line <= statement.end_lineno:
            plain = isinstance(statement, ast.ClassDef) and not getattr(
                statement, "type_params", ()
            )
            inner = list(_paths(statement.body, line)) if plain else []
            yield from ((number, *path) for path in inner) if inner else [(number,)]


def _alone(body, path):
    """The statement at a path, in its classes without their other members: those, bases and
    decorators change nothing of a member's code."""
    statement = body[path[0]]
    if len(path) == 1:
        return statement
    inner = [_alone(statement.body, path[1:])]
    return ast.copy_location(ast.ClassDef(statement.name, [], [], inner, []), statement)


def _has_hooks(file, path):
    done = _rewritten.get(file, ())
    return any(all(a == b for a, b in zip(path, other)) for other in done)


def pairs_around(code):
    """(own, observed) code objects of all code in the statements around this code."""
    file = code.co_filename
    body, imports, text = statements_of(file)
    for path in _paths(body, code.co_firstlineno):
        at = file, path, code.co_flags & _FUTURE
        if at in _compiled:
            continue
        _compiled.add(at)
        statement = _alone(ast.parse(text).body if _has_hooks(file, path) else body, path)
        _rewritten.setdefault(file, set()).add(path)
        # A call of a name that the module imports compiles differently: keep the imports.
        head = [ast.Import(imports, lineno=1, col_offset=0)] if imports else []
        for name in imports:
            name.lineno, name.col_offset = 1, 0
        both = []
        with Room():
            for change in (None, _Rewriter().visit):  # the tree itself, which nobody asks for again
                part = statement if change is None else ast.fix_missing_locations(change(statement))
                tree = ast.Module([*head, part], [])
                made = compile(tree, file, "exec", code.co_flags & _FUTURE, dont_inherit=True)
                both.append(list(inside(made)))
        if [c.co_name for c in both[0]] == [c.co_name for c in both[1]]:
            yield from zip(*both)
