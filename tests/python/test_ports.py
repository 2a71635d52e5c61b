"""The programs of examples/ports, a few steps each; tests/suites/ports compares with PyTorch."""

import importlib.util

import numpy as np
import pytest
from built import ROOT

import lathe as lt

PROGRAMS = sorted((ROOT / "examples/ports").glob("*.py"))


def load(path):
    spec = importlib.util.spec_from_file_location(f"port_{path.stem}", path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    return program


def test_there_are_thirty():
    assert len(PROGRAMS) >= 30


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_a_program_takes_two_steps(path):
    program = load(path)
    lt.manual_seed(0)
    random = np.random.default_rng(0)
    state = program.build()
    losses = [program.step(*state, *program.batch(random)).item() for _ in range(2)]
    assert np.isfinite(losses).all() and losses[0] != losses[1]
