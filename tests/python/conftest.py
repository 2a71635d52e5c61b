"""Makes the helpers of this folder importable by the tests in it."""

import signal
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

# A shell starts what runs in the background with Ctrl-C ignored, which children inherit; those that
# are sent one here are to take it as in a terminal.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def fresh_settings(request):
    """Every test starts from the same seed and default dtype."""
    if "checks" in str(request.path):
        yield
        return
    import lathe as lt

    lt.manual_seed(0)
    yield
    lt.set_default_dtype(lt.float32)
    assert lt.is_grad_enabled()


@pytest.fixture
def flag():
    """Sets flags for one test."""
    import lathe as lt

    before = {}

    def set_flag(name, value):
        before.setdefault(name, lt.get_flag(name))
        lt.set_flag(name, value)

    yield set_flag
    for name, value in before.items():
        lt.set_flag(name, value)
