"""Makes the helpers of this folder importable by the tests in it."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


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
