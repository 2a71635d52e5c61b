"""Runs the samples of one mode, and tells what came of each: the parts that modes are made of."""

import re
from collections import namedtuple

import convert
import entries
import torch
from entries import Absent

import lathe as lt

# status: pass, wrong, crash, unsupported, timeout, or none (PyTorch has nothing to ask)
Outcome = namedtuple("Outcome", "status reason samples passed")
WORST = ["crash", "timeout", "wrong", "unsupported"]
# Faults that are ours, whatever the input: a definition that breaks is not a refusal.
BROKEN = (lt.InternalError, SystemError, RecursionError, AssertionError, ZeroDivisionError)
NO_PROCESS = "SampleInput.__init__.<locals>.<lambda>"  # a sample's results are compared as they are


class Run:
    """The samples of one mode: counts, and keeps the first of each fault."""

    def __init__(self, entry, progress):
        self.samples = self.passed = 0
        self.entry, self.first, self.progress = entry, {}, progress

    def sample(self, call, check, *args):
        """check(entry, call, ...) gives what is wrong or None, and raises what lathe refuses."""
        self.samples += 1
        self.progress(at := shown(call))
        status, reason = verdict(check, self.entry, call, *args)
        if status == "none":
            self.samples -= 1
        elif status == "pass":
            self.passed += 1
        else:
            absent = reason.startswith("no lathe.")
            self.first.setdefault(status, reason if absent else f"{reason} <- {at}")

    def outcome(self):
        for status in WORST:
            if status in self.first:
                return Outcome(status, self.first[status], self.samples, self.passed)
        return Outcome("pass" if self.samples else "none", "", self.samples, self.passed)


class Skip(Exception):
    """PyTorch gives nothing to compare with here."""


def verdict(check, *args):
    """(status, reason) of one check."""
    try:
        found = check(*args)
    except Skip as e:
        return "none", str(e)
    except (Absent, convert.Unconvertible) as e:
        return "unsupported", str(e)
    except AttributeError as e:
        return "unsupported", absence(e)
    except BROKEN as e:
        return "crash", told(e)
    except Exception as e:
        return "unsupported", told(e)
    return ("wrong", found) if found else ("pass", "")


ABSENCES = [
    r"(?P<place>lathe[\w.]*): there is nothing of this name\n\s*got:\s*(?P<name>\w+)",
    r"(?:module|type object) '(?P<place>lathe[\w.]*)' has no attribute '(?P<name>\w+)'",
    r"'(?P<place>lathe\.Tensor)' object has no attribute '(?P<name>\w+)'",
]


def absence(error):
    """An AttributeError in words: 'no lathe.polygamma' for a name that a place of ours lacks."""
    for pattern in ABSENCES:
        if found := re.search(pattern, str(error)):
            return f"no {found['place']}.{found['name']}"
    return told(error)


def told(error):
    """The first two lines of an error's text behind its kind."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {'; '.join(lines[:2])}"[:240]


def shown(call, dtype=None):
    """A call in short: 'float32 (tensor[2, 3], 1, dim=0)'."""

    def leaf(value):
        if not isinstance(value, torch.Tensor):
            return value
        gaps = "" if value.layout != torch.strided or value.is_contiguous() else " strided"
        return Shown(f"{convert.dtype_name(value.dtype)}{list(value.shape)}{gaps}")

    args = [repr(convert.mapped(a, leaf)) for a in call[0]]
    args += [f"{k}={convert.mapped(v, leaf)!r}" for k, v in call[1].items()]
    return f"({', '.join(args)})"[:200]


class Shown(str):
    def __repr__(self):
        return str(self)


def call_of(sample):
    value, args, kwargs, _ = sample
    return (value, *args), kwargs


def expected_of(entry, call, operation=None):
    """PyTorch's result, on tensors of its own; Skip where PyTorch refuses."""
    args, kwargs = (convert.mapped(part, entries.fresh) for part in call)
    try:
        with torch.no_grad():
            return (operation or entry.info.op)(*args, **kwargs)
    except Exception as e:
        raise Skip(str(e)) from None


def got_of(function, call):
    args, kwargs = convert.mapped(call[0], convert.ours), convert.mapped(call[1], convert.ours)
    return function(*args, **kwargs)


def widened(call, integers=False):
    """The call in f64, for a result to measure both sides by; with its integers, or without."""

    def leaf(value):
        if value in (torch.float16, torch.bfloat16, torch.float32) and not hasattr(value, "shape"):
            return torch.float64
        if isinstance(value, torch.Tensor) and value.is_floating_point():
            return value.to(torch.float64)
        if isinstance(value, torch.Tensor) and value.is_complex():
            return value.to(torch.complex128)
        if isinstance(value, torch.Tensor) and integers and value.dtype != torch.bool:
            return value.to(torch.float64)
        return value

    def safe(value):
        return leaf(value) if isinstance(value, (torch.Tensor, torch.dtype)) else value

    return convert.mapped(call[0], safe), convert.mapped(call[1], safe)


def processed(sample, result):
    """Our result, after what PyTorch's sample says is to be done before it is differentiated."""
    process = sample[3].output_process_fn_grad
    return result if process.__qualname__ == NO_PROCESS else convert.over_lathe(process)(result)
