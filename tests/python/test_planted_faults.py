"""Every fault that tests/bits/faults.py plants changes a text that stands in the sources once: the
long run that plants them would only say so after an hour."""

import importlib.util
import sys

import pytest
from built import ROOT


def faults():
    spec = importlib.util.spec_from_file_location("planted_faults", ROOT / "tests/bits/faults.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where its dataclass looks for it
    spec.loader.exec_module(module)
    return module.FAULTS


@pytest.mark.parametrize("fault", faults(), ids=lambda fault: fault.what)
def test_a_fault_can_be_planted(fault):
    assert (ROOT / fault.file).read_text().count(fault.old) == 1
    assert fault.old != fault.new
