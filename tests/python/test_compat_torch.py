"""lathe.compat.torch: what programs for PyTorch find under its names."""

import subprocess
import sys

import lathe.compat.torch.nn.functional as F
import pytest
from lathe.compat.torch.utils.data import DataLoader

import lathe as lt
import lathe.compat.torch as torch
from lathe.compat.torch import nn, optim


def test_the_same_objects():
    assert torch.Tensor is lt.Tensor and torch.float32 is lt.float32 and torch.add is lt.add
    assert nn is lt.nn and F is lt.nn.functional and optim is lt.optim
    assert DataLoader is lt.utils.data.DataLoader and torch.device is lt.device
    import lathe.compat.torch.optim.lr_scheduler as schedules
    from lathe.compat.torch.nn.modules.batchnorm import _BatchNorm

    assert schedules is lt.optim.lr_scheduler and issubclass(nn.BatchNorm2d, _BatchNorm)
    assert sys.modules["lathe.compat.torch.optim"] is lt.optim
    assert {"relu", "save", "jit", "cuda"} <= set(dir(torch))
    with pytest.raises(AttributeError):
        torch.no_such_name  # noqa: B018
    with pytest.raises(ImportError):
        import lathe.compat.torch.no_such_module  # noqa: F401


# Lines of programs for PyTorch, whose modules lie deeper than Lathe's.
PATHS = """
from {0}.distributions.categorical import Categorical
from {0}.distributions.normal import Normal
from {0}.distributions.multivariate_normal import MultivariateNormal
from {0}.distributions.transformed_distribution import TransformedDistribution
from {0}.distributions.kl import kl_divergence
from {0}.utils.data.sampler import Sampler, SubsetRandomSampler
from {0}.utils.data.dataset import Dataset, TensorDataset, random_split
from {0}.utils.data.dataloader import DataLoader, default_collate
from {0}.nn.utils.clip_grad import clip_grad_norm_
from {0}.nn.utils.convert_parameters import parameters_to_vector
from {0}.nn.parallel import DataParallel
from {0}.nn.parameter import Parameter
from {0}.nn.modules.utils import _pair
from {0}.optim.adamw import AdamW
from {0}.optim.optimizer import Optimizer
from {0}.optim.lr_scheduler import StepLR
from {0}.amp.grad_scaler import GradScaler
from {0}.amp.autocast_mode import autocast
from {0}.cuda.amp import autocast, GradScaler
from {0}.autograd.grad_mode import no_grad
from {0}.autograd.variable import Variable
from {0}.autograd.function import Function
from {0}.autograd.profiler import profile
from {0}.signal.windows import hann
import {0}.distributions.beta as beta
assert beta.Beta is {0}.distributions.Beta
"""


@pytest.mark.parametrize("package", ["lathe", "lathe.compat.torch"])
def test_paths_of_imports(package):
    lines = PATHS.format(package)
    code = (
        "import lathe, sys\nimport lathe.compat.torch\n" * (package != "lathe") + "import lathe\n"
    )
    code += (
        lines
        + """
copies = {}
for name, module in list(sys.modules.items()):
    if name.startswith("lathe.") and getattr(module, "__file__", None):
        copies.setdefault(module.__file__, set()).add(id(module))
assert all(len(ids) == 1 for ids in copies.values())  # none is loaded twice
"""
    )
    done = subprocess.run(
        [sys.executable, "-c", "import sys\n" + code], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_names_that_mean_something_else():
    x = torch.tensor([[1.0, 2.0], [3.0, float("nan")]])
    assert torch.trace(torch.eye(3) * 2).item() == 6 and torch.trace(x[:, :1] * 0 + 1).item() == 1
    with pytest.raises(lt.ShapeError, match="trace"):
        torch.trace(torch.ones(3))
    assert torch.typename(torch.ones(1)) == "torch.FloatTensor" and torch.Size is tuple
    assert torch.__version__ == torch.version.__version__ and torch.version.cuda is None


def test_files(tmp_path):
    net = nn.Linear(2, 2)
    torch.save({"net": net.state_dict(), "epoch": 3}, tmp_path / "x.pt")
    for only in (True, False, None):
        state = torch.load(tmp_path / "x.pt", map_location="cpu", weights_only=only)
        assert state["epoch"] == 3 and torch.equal(state["net"]["weight"], net.weight)


def test_programs(tmp_path):
    def f(x):
        return torch.relu(x) * 2

    x = torch.tensor([-1.0, 2.0])
    for made in (torch.compile(f), torch.compile(f, mode="max-autotune"), torch.jit.trace(f, x),
                 torch.jit.trace(f, (x,)), torch.jit.script(f),
                 torch.compile(disable=True)(f)):  # fmt: skip
        assert made(x).tolist() == [0, 4]
    net = torch.compile(nn.Linear(2, 1))
    assert net(x).shape == (1,) and not torch.jit.is_scripting()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net.train()
    net(x).sum().backward()
    before = net.weight.tolist()
    optimizer.step()
    assert net.weight.tolist() != before and net.eval().training is False
    assert list(net.state_dict()) == ["weight", "bias"] and not hasattr(net, "no_such_thing")
    program = torch.jit.freeze(lt.nn.ReLU().eval(), x)
    torch.jit.save(program, tmp_path / "f.lathe")
    assert torch.jit.load(tmp_path / "f.lathe")(x).tolist() == [0, 2]


def test_a_machine_without_other_devices():
    assert not torch.cuda.is_available() and torch.cuda.device_count() == 0
    assert not torch.backends.mps.is_available() and not torch.distributed.is_available()
    torch.cuda.manual_seed_all(0)
    torch.backends.cudnn.benchmark = False
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    assert torch.ones(2).to(device).device.type == "cpu"
    before = torch.get_num_threads()
    assert before >= 1
    torch.set_num_threads(1)
    assert torch.get_num_threads() == 1
    lt.set_flag("threads", 0)
    torch.use_deterministic_algorithms(True)
    torch.set_float32_matmul_precision("high")
    with torch.autocast("cpu", enabled=False):
        assert torch.ones(1).dtype is torch.float32
    with torch.autocast("cpu"):
        assert (torch.ones(1, 1) @ torch.ones(1, 1)).dtype is torch.bfloat16


def test_a_usual_program():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    optimizer = optim.Adam(net.parameters(), lr=1e-2)
    scaler = torch.amp.GradScaler("cpu")
    x = torch.randn(16, 4)
    y = x.sum(1, keepdim=True)
    first = None
    for _ in range(50):
        optimizer.zero_grad()
        loss = F.mse_loss(net(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        first = loss.item() if first is None else first
    with torch.no_grad():
        assert F.mse_loss(net(x), y).item() < first / 4


def test_it_comes_when_named():
    code = (
        "import sys, lathe; print('lathe.compat' in sys.modules, lathe.compat.torch.ones(1).item())"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert out.stdout.split() == ["False", "1.0"], out.stderr


def test_a_traced_module_is_saved_as_a_program(tmp_path):
    model, x = torch.nn.Linear(3, 2), torch.ones(4, 3)
    for what in (model, lambda x: x * 2):
        traced = torch.jit.trace(what, x)
        torch.jit.save(traced, tmp_path / "a.pt")
        assert torch.equal(torch.jit.load(tmp_path / "a.pt")(x), what(x).detach())
    with pytest.raises(lt.TypeError, match="for certain inputs"):
        torch.jit.save(torch.jit.script(torch.nn.Linear(3, 2)), tmp_path / "b.pt")
    assert not (tmp_path / "b.pt").exists()
