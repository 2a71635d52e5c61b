"""Programs that stand by themselves: captured from a function, frozen from a module, or loaded."""

import inspect
import os

from .. import _lathe, ops
from .._lathe import Tensor
from .observe.observer import Observer, Restart
from .observe.recording import Built
from .trace import Traced, _where, misfit, same_grad
from .tracebacks import without_own_lines


def _sizes(shape):
    """The sizes in a sequence that has a length: an iterator may have no end."""
    sequence = hasattr(shape, "__len__") and hasattr(shape, "__getitem__")
    if not sequence or isinstance(shape, (str, bytes, dict)) or len(shape) > _MOST_AXES:
        raise _lathe.TypeError(
            "a shape is a sequence of sizes",
            op="InputSpec",
            got=type(shape).__name__,
            expected=f"a tuple of at most {_MOST_AXES} integers and None",
            next="make a tuple of it first",
        )
    return tuple(shape[i] for i in range(len(shape)))


_MOST_AXES = 64


class InputSpec:
    """What a program's input is like, without its elements.

    shape: a tuple of sizes; None is a size that may differ from call to call. dtype: float32 if
    none is given. An example tensor does as well: its sizes all count as free.

    A free size is 7 (`InputSpec.HINT`) while the function is captured. Where 7 does not fit, or
    the function asks about sizes, give an example tensor with sizes like those of later calls.
    """

    # What a free size is while the function is traced. Nothing is computed with it, but where the
    # function branches on a size it is this size that decides, and the program says so.
    HINT = 7

    def __init__(self, shape, dtype=None, name=None):
        self.shape, self.dtype, self.name = _sizes(shape), dtype, name

    def __repr__(self):
        return f"InputSpec({self.shape}, dtype={self.dtype or _lathe.float32})"

    def _example(self):
        sizes = [self.HINT if size is None else size for size in self.shape]
        fixed = sum(1 << axis for axis, size in enumerate(self.shape) if size is not None)
        return ops.zeros(sizes, dtype=self.dtype or _lathe.float32), fixed


class Program:
    """A compiled function of tensors that needs nothing but itself: no module, no Python state.

    Call it with tensors, by position or by name. It gives a tensor, or a tuple of tensors; inputs
    that it writes to are written to. Any number of threads may call it at once. Gradients are taken
    through it as through the function, by its inputs: what the function detached, or computed under
    `no_grad`, has none.

    TypeError, ShapeError: inputs that it was not made for.
    """

    def __init__(self, engine):
        self._engine = engine
        self.parts = []  # (op, part or None, why it stays, "file:line") of each node: partition()
        self._names = [name for name, _, _ in engine.inputs()]

    def __call__(self, *tensors, **named):
        if named:
            tensors = self._in_order(tensors, named)
        results = self._engine.run(tensors)
        return results[0] if len(results) == 1 and not self._engine.tuple_of_one else tuple(results)

    def _in_order(self, tensors, named):
        names = self._names[len(tensors) :]
        if set(names) != set(named):
            raise _lathe.TypeError(
                "the inputs given by name are not those that are left",
                op=self.name,
                got=", ".join(sorted(named)),
                expected=", ".join(names),
            )
        return (*tensors, *(named[name] for name in names))

    def __repr__(self):
        inputs = ", ".join(f"{n}: {d}{list(s)}" for n, d, s in self.inputs)
        return f"<lathe program {self.name}({inputs})>".replace("None", "*")

    @property
    def name(self):
        return self._engine.name

    @property
    def note(self):
        """What was done when it was made, as text."""
        return self._engine.note

    @property
    def inputs(self):
        """(name, dtype, shape) of each; None in a shape is a size that may differ."""
        return self._engine.inputs()

    @property
    def outputs(self):
        return self._engine.outputs()

    @property
    def graph(self):
        """The program as it is saved, as text."""
        return self._engine.graph()

    @property
    def optimised(self):
        """The same as it runs: rewritten and fused."""
        return self._engine.optimised()

    def explain(self, verbose=False):
        """What the rewriter changed, and a line for each step: the ops that run as one, what they
        give, what runs them, your line. verbose: every pass and what it did; of each step also its
        parts, the class of its bits, loads and stores, and why no other entry runs it."""
        return self._engine.explain(verbose)

    def compile(self):
        """Generates all machine code now instead of at the first calls; what could not be, why."""
        return self._engine.compile()

    def peak_bytes(self, *shapes):
        """The most memory that a first call with inputs of these shapes will take beside them,
        known without one: intermediates, results, and what our own products and look-ups by index
        use inside of themselves. A loop counts as if it ran, an `if` as its larger branch.
        ShapeError for shapes it is not for; UnsupportedError where data decides sizes."""
        return self._engine.peak_bytes([_sizes(shape) for shape in shapes])

    @property
    def kernels(self):
        """(op, kernel, "file:line") of each node as it runs: the entry of the table that was chosen
        for it, "generated" or "own.simd" for fused ops. explain() says why."""
        return self._engine.kernels()

    @property
    def counts(self):
        """How often steps have run: ops, kernels generated, interpreted and moved, how many rounds
        of loops ran by addresses alone (alike_rounds), how many products some rows at a time with
        what lies between them (in_panels), and how many sets of sizes were worked out (bindings);
        peak_bytes is the most memory that intermediates took in one call, and least_bytes below
        what no placing of them could go: the most that lives at one step of it."""
        return self._engine.counts()

    @property
    def hash(self):
        """Of the graph: structure, ops, literals and types; not of names and lines."""
        return self._engine.hash()

    # ── the levels below the graph ──────────────────────────────────────────────────────────────

    @property
    def instructions(self):
        """The plan as instructions on buffers, one straight-line list for each block."""
        return self._engine.instructions()

    @property
    def loops(self):
        """The loops of every generated kernel."""
        return self._engine.loops()

    @property
    def vectors(self):
        """Every generated kernel as its machine code is made from: instructions on vectors."""
        return self._engine.vectors()

    # ── the graph as a thing to ask and to change ───────────────────────────────────────────────
    # A result or value is named as `graph` prints it, with or without '%'; a result may be given
    # by its number. NameError and IndexError say which there are.

    def variables(self, of=0):
        """Names of the inputs and named constants that a value is made of."""
        return self._engine.variables(of)

    def ordered_ops(self, of=0):
        """(op, "file:line") of all that a value needs, in the order in which it runs."""
        return self._engine.ordered_ops(of)

    def only(self, *results):
        """The program that gives these values alone, runs what they need, and writes nothing."""
        return Program(self._engine.only(list(results)))

    def deriv(self, of, *wrt):
        """The program of the gradients of a value by inputs or constants; it has the inputs of this
        one. Of a value of several elements it is that of their sum. AutogradError where an op on
        the way has no derivative."""
        return Program(self._engine.deriv(of, list(wrt)))

    def trainable(self, *constants):
        """The program that takes these constants as inputs, behind its own: what is a constant
        has no gradient and cannot be updated, what is an input can."""
        return Program(self._engine.trainable(list(constants)))

    def partition(self, backend):
        """The program in which parts run on a back end of yours, as far as it takes them; `parts`
        of the result tells of each node which part it is in, or why it stays.

        backend has a `name`; `refuses(op, inputs, results)`, which gets the op's name and a
        library.TensorSpec for each tensor, and gives None for what it takes, else why not;
        and `compile(program)`, which gets a part as a Program and gives a function of its inputs,
        to be called with tensors of just these shapes. Nodes whose sizes are not known before a
        run, with effects, or that may fail stay. Gradients are not taken through a part, and
        the program cannot be saved: save this one, and partition what was loaded.
        """
        from ..library import TensorSpec, as_tensors

        for what in ("name", "refuses", "compile"):
            if not hasattr(backend, what):
                raise _lathe.TypeError(
                    "this is no back end", op="partition", got=type(backend).__name__,
                    expected="name, refuses(op, inputs, results) and compile(program)",
                    next=f"give it `{what}`",
                )  # fmt: skip

        def refuses(op, *tensors):
            described = [[TensorSpec(s, d) for d, s in specs] for specs in tensors]
            return backend.refuses(op, *described) or ""

        def compiled(engine):
            run = backend.compile(Program(engine))
            return lambda tensors: as_tensors(backend.name, "part", run(*tensors))

        engine, rows = self._engine.partition(str(backend.name), refuses, compiled)
        made = Program(engine)
        made.parts = [(op, None if part < 0 else part, why, at) for op, part, why, at in rows]
        return made

    def save(self, path):
        """Writes a `.lathe` file, whole or not at all. FileError."""
        self._engine.save(os.fspath(path))


# ── capture ─────────────────────────────────────────────────────────────────────────────────────


def _examples(inputs, op):
    """(tensor, fixed axes, name or None) of each input given as an example or a spec."""
    if isinstance(inputs, (Tensor, InputSpec)):
        inputs = (inputs,)
    out = []
    for one in inputs:
        if isinstance(one, InputSpec):
            out.append((*one._example(), one.name))
        elif isinstance(one, Tensor):
            out.append((one, 0, None))
        else:
            raise _lathe.TypeError(
                "an input is given as an example tensor or as an InputSpec",
                op=op,
                got=type(one).__name__,
                expected="a tensor or an InputSpec for each input",
                next="for sizes, write lathe.InputSpec((None, 3)); None is a size that may differ",
            )
    return out


def _parameter_names(function, count):
    """What the function calls its first arguments, where that can be found out."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return [f"x{i}" for i in range(count)]
    names = []
    for p in parameters:
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
            names.append(p.name)
        elif p.kind is p.VAR_POSITIONAL:
            break
    return (names + [f"x{i}" for i in range(len(names), count)])[:count]


def _weight_names(*owners):
    """(tensor, path) of the parameters and buffers of every module among `owners`."""
    return [
        (tensor, f"{prefix}{name}")
        for prefix, owner in owners
        for part in (owner.named_parameters(), owner.named_buffers())
        for name, tensor in part
    ]


def _results(value, function, op):
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, (tuple, list)) and value and all(isinstance(v, Tensor) for v in value):
        return tuple(value)
    raise _lathe.TypeError(
        "a program gives a tensor or a tuple of tensors",
        op=op,
        got=type(value).__name__,
        next=f"wrap the function defined at {_where(function)} so that it returns just tensors",
    )


def _modules_read(function):
    """Modules that the function reaches by a global or a closure, with the name it has for them."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or ())
    found = {n: function.__globals__.get(n) for n in function.__code__.co_names}
    for name, cell in cells:
        try:
            found[name] = cell.cell_contents
        except ValueError:  # a cell that is still empty
            continue
    return [(f"{n}.", v) for n, v in found.items() if hasattr(v, "named_parameters")]


def capture(function, inputs, freeze=False):
    """The Program that `function` is for inputs like these: what lathe.save writes.

    function: a function, traced or scripted or not, or a module, in the mode it is in. inputs: an
    example tensor or an InputSpec for each of its arguments. Tensors that it uses besides those
    become constants. freeze: as in lathe.freeze. Gradients are on meanwhile, wherever it is called,
    so that the program tells what the function computes without them.

    TypeError: results other than tensors. TraceError, ScriptError: it cannot be captured, or it
    writes to a tensor that it was not given, or changes Python's state.
    """
    op = "freeze" if freeze else "save"
    examples = _examples(inputs, op)
    compiled = function if isinstance(function, Traced) else None
    plain = compiled._function if compiled else function
    module = hasattr(plain, "named_parameters")
    code = plain.forward if module else plain
    if found := misfit(code, examples, {}):
        problem, signature = found
        raise _lathe.TypeError(
            f"the function cannot be called with these inputs: {problem}",
            op=op,
            got=f"{len(examples)} inputs",
            expected=f"an example or an InputSpec for each of {signature}",
            next="give them to save(function, path, inputs=...) or freeze(module, ...)",
        )
    names = _parameter_names(code, len(examples))
    owners = [("", plain)] if module else []
    if inspect.isfunction(plain):
        owners += _modules_read(plain)

    def body(tensors):
        observer = Observer()
        observer.recorded = recorded
        observer.constant(plain)
        observer.begin()
        try:
            results = run(observer, tensors)
            observer.check_net()
            observer.refuse_changes()
            return results
        finally:
            observer.end()
            observer.undo()
            observer.let_go()

    def run(observer, tensors):
        leaves = [(t, n, t.grad) for t, n in weights if t.is_leaf and t.requires_grad]
        try:
            if compiled:
                value = compiled._run(observer, tensors, {})
            else:
                value = observer.call(plain)(*tensors)
            results = _results(value, code, op)
            changed = [n for t, n, before in leaves if not same_grad(t.grad, before)]
        finally:
            for t, _, before in leaves:
                _lathe._put_grad(t, before)
        if changed:
            raise _lathe.TraceError(
                "the function sets the gradient of what it was not given, and a file has no place "
                "for it",
                op=op,
                got=", ".join(changed),
                next="take gradients with lathe.autograd.grad and return them",
            )
        return results

    weights = _weight_names(*owners)
    rows = [
        (tensor, spec_name or name, fixed)
        for (tensor, fixed, spec_name), name in zip(examples, names)
    ]
    name = type(plain).__name__ if module else getattr(plain, "__name__", "main")
    engine, recorded = None, set()
    try:
        with Observer.lock:
            while engine is None:
                try:
                    engine = _lathe._capture(name, rows, weights, body, freeze, "")
                except Restart:  # a script has learnt what it has to record
                    continue
                except Built:
                    raise _lathe.TraceError(
                        "a parameter or buffer gets its shape from the first call", op=op,
                        got="a lazy module that has not been called",
                        next="call it once, then capture it",
                    ) from None  # fmt: skip
    except BaseException as problem:
        raise without_own_lines(problem)  # noqa: B904, the same one
    _refuse_pinned(engine, inputs, rows)
    return Program(engine)


def _refuse_pinned(engine, inputs, rows):
    """A size that is None in an InputSpec, of which the function was asked the one value."""
    inputs = (inputs,) if isinstance(inputs, (Tensor, InputSpec)) else inputs
    for i, axis, size, where in engine.pinned():
        if i < len(inputs) and isinstance(inputs[i], InputSpec) and inputs[i].shape[axis] is None:
            raise _lathe.TraceError(
                f"trace: the program would hold for one size only, where any was asked for\n"
                f"  got:      axis {axis} of {rows[i][1]}, which is {size} while it is captured: "
                f"the function asks for its value, as a loop over it does\n"
                f"  expected: code that is the same for every size\n"
                f"  at:       {where}\n"
                f"  next:     use lathe's own ops along the axis instead of a loop, or give the "
                f"size in the InputSpec"
            )


def freeze(module, *inputs):
    """A module made into a Program for inference.

    inputs: an example tensor or an InputSpec for each input of the module. The module's forward is
    captured in evaluation mode (the module itself keeps its mode), with parameters and buffers as
    constants, so what depends on them alone is computed once. A batch norm after a convolution
    becomes part of its weights: results then round elsewhere than the module's do, and are
    otherwise the same. They are the same bits wherever the frozen program runs: here, and in C++
    after save() and lathe.load().

    Changing the module afterwards changes nothing in the program.

    TraceError: the forward depends on the elements of its inputs, or writes to the module's state.
    """
    if not hasattr(module, "named_parameters"):
        raise _lathe.TypeError(
            "freeze takes a module",
            op="freeze",
            got=type(module).__name__,
            next="save a function with lathe.save(function, path, inputs)",
        )
    modes = [(m, m.training) for m in module.modules()]
    try:
        module.eval()
        return capture(module, inputs, freeze=True)
    finally:
        for m, training in modes:
            m.training = training


def parse(text, function="", file="text"):
    """The Program of a text of graphs, as `Program.graph` prints it or written by hand.

    Gradients that it declares are functions like others: "gradient @g of @f wrt 1, 2". function:
    which one to run; the first if none is named. file: what errors call the text.

    ValueError with line and column for what is no text of a graph, and for a graph that is not well
    formed; TypeError where a declaration states other types than the gradient has; NameError for an
    op or function that is not there.
    """
    for name, value in (("text", text), ("function", function), ("file", file)):
        if not isinstance(value, str):
            raise _lathe.TypeError(
                f"{name} is no text", op="parse", got=type(value).__name__, expected="str",
                next="give the text of a graph: program.graph is one",
            )  # fmt: skip
    return Program(_lathe._program_of_text(text, function, file))


def run(graph, inputs=()):
    """What a graph gives for these inputs: a tensor, or a tuple of several.

    graph: a Program, or a text of graphs, of which the first function is run. inputs: a tensor, a
    sequence of them, or a dict by the names that the graph has for them. A text is parsed and
    planned at each call; to run it again and again, keep `lathe.jit.parse(text)`.

    What was chosen to run each node is `Program.kernels`.
    """
    program = graph if isinstance(graph, Program) else None
    if program is None:
        if not isinstance(graph, str):
            raise _lathe.TypeError(
                "there is no graph to run", op="run", got=type(graph).__name__,
                expected="a Program, or the text of a graph",
                next="make one with lathe.jit.capture(function, inputs) or lathe.load(path)",
            )  # fmt: skip
        program = parse(graph)
    if isinstance(inputs, Tensor):
        inputs = (inputs,)
    return program(**inputs) if isinstance(inputs, dict) else program(*inputs)


def load_program(path):
    """The Program in a `.lathe` file."""
    return Program(_lathe._load_program(os.fspath(path)))
