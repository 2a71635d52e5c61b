"""PyTorch's database of modules (module_db): its layers, built, called and differentiated here too.

    PYTHONPATH=build/release/python TORCH/bin/python tests/suites/modules/run.py [--only REGEX]

Of each entry's inputs, in training and eval, in f64: text, names and shapes of the state; with
PyTorch's weights the result, gradients and buffers, of strided inputs too; the same bytes from a
copy, a pickle and a trace with its gradients. `not run` and a reason where PyTorch is missing.
"""

import argparse
import copy
import pickle
import re
import sys
import types
import warnings
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "opinfo"))
try:
    import expecttest  # noqa: F401
    import torch
    from torch.testing._internal.common_modules import module_db
except ImportError as e:
    print(f"modules: not run: {e}")
    sys.exit(0)

import compare
import convert

import lathe as lt


def of_ours(args, kwargs):
    """PyTorch's arguments as ours; a tensor that stands there twice is one tensor."""
    known = {}

    def leaf(value):
        if isinstance(value, torch.Tensor):
            if id(value) not in known:
                known[id(value)] = convert.our_tensor(value).requires_grad_(value.requires_grad)
            return known[id(value)]
        if isinstance(value, torch.nn.TransformerEncoderLayer):  # what an encoder is made of
            sizes = value.linear1.in_features, value.self_attn.num_heads, value.linear1.out_features
            settings = {"activation": leaf(value.activation), "norm_first": value.norm_first,
                        "batch_first": value.self_attn.batch_first,
                        "bias": value.norm1.bias is not None}  # fmt: skip
            return lt.nn.TransformerEncoderLayer(*sizes, value.dropout.p, **settings)
        if getattr(value, "__module__", "") == torch.nn.functional.__name__:
            return getattr(lt.nn.functional, value.__name__)
        bound = isinstance(value, types.BuiltinFunctionType)
        return convert.resolved(value) if bound else convert.ours(value)

    return convert.mapped(args, leaf), convert.mapped(kwargs, leaf)


def strided(value):
    """A leaf of the arguments; of a tensor each second element of a memory of its own."""
    if not isinstance(value, torch.Tensor) or value.dim() == 0:
        return value
    return torch.stack([value.detach()] * 2, -1)[..., 1].requires_grad_(value.requires_grad)


def gradients(library, module, call, result):
    """By the inputs that ask for one, and by all parameters."""
    inputs, results = ([t for t in convert.leaves(part) if getattr(t, "requires_grad", False)]
                       for part in (call, result))  # fmt: skip
    wanted = [*inputs, *module.parameters()]
    if not results or not wanted:
        return []
    like = [torch.empty(tuple(r.shape), dtype=torch.float64) for r in results]
    seeds = [torch.arange(1.0, t.numel() + 1).sin().to(t.dtype).reshape(t.shape) for t in like]
    seeds = seeds if library is torch else [convert.our_tensor(s) for s in seeds]
    return list(library.autograd.grad(results, wanted, seeds, allow_unused=True))


def faults(info, case, training):
    """What is wrong with ours, or None, for each thing that is asked."""
    made, given = case.constructor_input, case.forward_input
    theirs = info.module_cls(*made.args, **made.kwargs).to(torch.float64).train(training)
    args, kwargs = of_ours(made.args, made.kwargs)
    ours = getattr(lt.nn, info.module_cls.__name__)(*args, **kwargs).to(lt.float64).train(training)
    if given is None:
        return
    call = given.args, given.kwargs
    if info.is_lazy:
        args, kwargs = of_ours(*call)
        theirs(*given.args, **given.kwargs), ours(*args, **kwargs)
    text = repr(theirs).replace("NonDynamicallyQuantizable", "")  # a private kind of Linear
    yield None if text == repr(ours) else f"text {ours!r}, not {text}"
    ours.load_state_dict({k: convert.our_tensor(v) for k, v in theirs.state_dict().items()})
    # PyTorch's CTC loss reads strided targets as if they were not, and its gradient is right behind
    # a log_softmax alone.
    ctc = info.name == "nn.CTCLoss"
    yield from of_call(*map(copy.deepcopy, (theirs, ours)), call, not ctc)
    if not ctc:
        yield from of_call(theirs, ours, [convert.mapped(part, strided) for part in call], True)


def of_call(theirs, ours, call, differentiates):
    copies = [copy.deepcopy(ours), pickle.loads(pickle.dumps(ours)), copy.deepcopy(ours)]
    args, kwargs = our_call = of_ours(*call)
    want, got = theirs(*call[0], **call[1]), ours(*args, **kwargs)
    yield compare.difference(want, got)
    yield compare.difference(*(list(m.state_dict().values()) for m in (theirs, ours)), at="state")
    for other in copies[:2]:
        yield compare.same_bytes(got, other(*args, **kwargs), "a copy's result")
    again = lt.trace(copies[2])(*args, **kwargs)
    yield compare.same_bytes(got, again, "a trace's result")
    try:
        slopes = gradients(torch, theirs, call, want)
    except RuntimeError:  # PyTorch refuses
        return
    found = gradients(lt, ours, our_call, got)
    yield compare.difference(slopes, found, at="gradient") if differentiates else None
    found_again = gradients(lt, copies[2], our_call, again)
    yield compare.same_bytes(found, found_again, "a trace's gradient")


def outcome(info):
    """(word, the first thing that is wrong, how many checks, how many of them pass)"""
    bad, asked = [], 0
    for training in (True, False):
        torch.manual_seed(0)
        how = {"device": "cpu", "dtype": torch.float64, "requires_grad": True}
        for case in info.module_inputs_func(info, training=training, **how):
            at = f"{case.desc or case.constructor_input.args} {'eval' * (not training)}"
            asked += 1  # that all of them can be asked
            try:
                for fault in faults(info, case, training):
                    asked += 1
                    bad += [("wrong", f"{at}: {fault}")] if fault else []
            except Exception as e:
                refused = isinstance(e, (lt.UnsupportedError, convert.Unconvertible))
                bad.append(("refused" if refused else "wrong", f"{at}: {type(e).__name__}: {e}"))
    first = next((b for b in bad if b[0] == "wrong"), bad[0] if bad else ("pass", ""))
    return *first, asked, asked - len(bad)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="entries whose name matches this")
    only = parser.parse_args().only
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    count, asked, right = Counter(), 0, 0
    for info in (i for i in module_db if re.search(only, i.name)):
        there = hasattr(lt.nn, info.module_cls.__name__)
        word, why, *numbers = outcome(info) if there else ("absent", "", 0, 0)
        count[word] += 1
        asked, right = asked + numbers[0], right + numbers[1]
        if word != "pass":
            print(f"{word:<8} {info.name}: {why}", flush=True)
    print(f"lathe {lt.__version__} against PyTorch {torch.__version__}")
    others = ", ".join(f"{word} {count[word]}" for word in ("wrong", "refused", "absent"))
    checks = f"{right} of {asked} checks"
    print(f"modules: {count['pass']} of {count.total()} entries ({checks}); {others}")


if __name__ == "__main__":
    main()
