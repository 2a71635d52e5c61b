"""Makes the modules of this folder importable by its tests, and a C++ program for them."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def cpp(tmp_path_factory):
    """Runs tests/consumer/seeds.cpp with these words; gives its output as bytes."""
    from consumers import compiled, runner

    return runner(compiled(tmp_path_factory.mktemp("cpp"), "seeds"))
