"""What lathe.compat.torch has in place of, or beside, names of lathe."""

from types import ModuleType
from weakref import WeakKeyDictionary

import lathe

from ... import _lathe, ops
from ..._arguments import default_only

# ── functions ─────────────────────────────────────────────────────────────────────────────────────


def trace(input):
    """The sum of a matrix's diagonal."""
    if input.ndim != 2:
        raise _lathe.ShapeError(
            "only a matrix has a trace", op="trace", got=list(input.shape), expected="two axes",
            next="lathe.jit.trace is what makes programs of functions",
        )  # fmt: skip
    diagonal = ops.eye(*input.shape, dtype=_lathe.bool, device=input.device)
    return ops.sum(ops.where(diagonal, input, ops.zeros_like(input)))


def compile(
    model=None, *, fullgraph=False, dynamic=None, backend="inductor", mode=None, options=None,
    disable=False,
):  # fmt: skip
    """The function or module, running as a traced program; its other arguments change nothing."""
    if model is None:
        return lambda found: compile(found, disable=disable)
    if disable:
        return model
    if isinstance(model, lathe.nn.Module):
        return model.hybridize()
    return lathe.trace(model)


LEGACY_NAMES = {
    "float32": "FloatTensor", "float64": "DoubleTensor", "float16": "HalfTensor",
    "bfloat16": "BFloat16Tensor", "int64": "LongTensor", "int32": "IntTensor",
    "int16": "ShortTensor", "int8": "CharTensor", "uint8": "ByteTensor", "bool": "BoolTensor",
}  # fmt: skip

# ── modules ───────────────────────────────────────────────────────────────────────────────────────


def _module(name, doc, **names):
    made = ModuleType(f"lathe.compat.torch.{name}", doc)
    vars(made).update(names)
    return made


_EXAMPLES = WeakKeyDictionary()  # by what jit.trace gave
_NO_NEED = "leave it out: a trace finds out by itself"


@default_only(strict=_NO_NEED, example_kwarg_inputs="call the traced function by name once")
def _jit_trace(
    func, example_inputs=None, optimize=None, check_trace=True, check_inputs=None,
    check_tolerance=1e-5, strict=True, example_kwarg_inputs=None,
):  # fmt: skip
    """The function or module as a program, captured for the example and anew for other kinds."""
    traced = lathe.trace(func)
    if example_inputs is not None:
        one = isinstance(example_inputs, _lathe.Tensor)
        examples = (example_inputs,) if one else tuple(example_inputs)
        traced(*examples)
        _EXAMPLES[traced] = examples
    return traced


def _jit_script(obj, optimize=None, _frames_up=0, _rcb=None, example_inputs=None):
    """The function or module as a program with its branches and loops."""
    return obj if isinstance(obj, type) else lathe.script(obj)


def _same(function=None, **_):
    return function if function is not None else _same


def _jit_save(m, f, _extra_files=None):
    """Writes a program to a `.lathe` file: what jit.trace(m, examples) made for its examples, or
    what jit.freeze gave. TypeError for a module without examples, whose state `save` writes."""
    examples = _EXAMPLES.get(m)
    if examples is None and hasattr(m, "state_dict"):
        raise _lathe.TypeError(
            "a module is saved as a program for certain inputs",
            op="jit.save", got=type(m).__name__, expected="what jit.trace(module, examples) gave",
            next="lathe.save(module, path, inputs=(example, ...)); its state: torch.save",
        )  # fmt: skip
    lathe.save(m, f, inputs=examples)


def _jit_load(f, map_location=None, _extra_files=None, _restore_shapes=False):
    """Reads a program from a `.lathe` file."""
    return lathe.load(f, map_location)


def _off():
    return False


def _none(*_, **__):
    """Nothing: there is nothing of the kind here."""


jit = _module(
    "jit", "Programs of functions, by PyTorch's names.", trace=_jit_trace, script=_jit_script,
    save=_jit_save, load=_jit_load, ignore=_same, unused=_same, export=_same, is_scripting=_off,
    is_tracing=_lathe._tracing, freeze=lathe.freeze, optimize_for_inference=_same,
    interface=_same, annotate=lambda the_type, the_value: the_value,
)  # fmt: skip
compiler = _module(
    "compiler", "What is asked of torch.compile.", compile=compile, disable=_same,
    is_compiling=_lathe._tracing, is_dynamo_compiling=_off, reset=_none, allow_in_graph=_same,
)  # fmt: skip
distributed = _module(
    "distributed", "Several processes, of which there is one.", is_available=_off,
    is_initialized=_off,
)  # fmt: skip
version = _module(
    "version", "Whose names these are.", __version__="2.9.1", cuda=None, hip=None, git_version="",
    debug=False,
)  # fmt: skip
