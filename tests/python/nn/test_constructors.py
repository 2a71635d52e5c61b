"""Constructors: what is not supported is refused by name, what does not fit under the class's own
name, and a module passes its settings on to the function that it stands for."""

import inspect
import sys

import pytest
from built import ROOT

import lathe as lt
from lathe import nn, optim
from lathe.nn import functional as F
from lathe.utils import data

sys.path.insert(0, str(ROOT / "tests/signatures"))
import ours
import table

PLACES = ("nn.", "optim.", "utils.data.")
NAMES = [n for p in PLACES for n in table.names(p) if not n.startswith("nn.functional.")]


@pytest.mark.parametrize("name", [n for n in NAMES if n not in ("nn.Identity",)])
def test_what_does_not_fit_is_refused_under_its_own_name(name):
    made = ours.find(name)
    with pytest.raises(lt.TypeError) as caught:
        made(no_such_argument=1)
    assert caught.value.op == name.rpartition(".")[2]
    assert str(inspect.signature(made)) in caught.value.expected
    assert "__" not in str(caught.value).replace(__file__, "")
    assert caught.value.next


def test_a_subclass_is_told_of_the_class_it_knows():
    class Mine(nn.Linear):
        def __init__(self):
            super().__init__(3)

    with pytest.raises(lt.TypeError, match="^Linear: .*'out_features'"):
        Mine()

    class Broken(nn.Module):
        def __init__(self):
            super().__init__()
            self.x = {}["a"]

    with pytest.raises(KeyError) as caught:
        Broken()
    assert not isinstance(caught.value, lt.Error)


P = nn.Parameter(lt.ones(1))
ROWS = data.TensorDataset(lt.arange(4))
OPTIMIZERS = [k for k in map(optim.__dict__.get, optim.__all__) if isinstance(k, type)]
DENSE = [k for k in OPTIMIZERS if k not in (optim.Optimizer, optim.SparseAdam)]
DIFFERENTIABLE = [k for k in DENSE if "differentiable" in inspect.signature(k).parameters]
UNSUPPORTED = [
    *((lambda v, k=k: k([P], differentiable=v), "differentiable") for k in DIFFERENTIABLE),
]
UNSUPPORTED = [(make, name, (None, False), True) for make, name in UNSUPPORTED] + [
    (lambda v: nn.Hardtanh(min_value=v), "min_value", (None,), 0.0),
]


@pytest.mark.parametrize("make, name, neutral, other", UNSUPPORTED)
def test_only_its_default_is_taken(make, name, neutral, other):
    for value in neutral:
        make(value)
    with pytest.raises(lt.UnsupportedError, match=f"{name}=.* is not supported yet") as caught:
        make(other)
    assert caught.value.next and caught.value.expected.startswith(f"{name}=")


X = lt.arange(32.0).reshape(1, 2, 4, 4) / 7 - 2
IDS, TABLE = lt.tensor([[0, 2], [1, 1]]), lt.arange(8.0).reshape(4, 2)
LOGITS, CLASSES = lt.tensor([[0.1, 2.0, -1.0], [0.3, -0.5, 1.0]]), lt.tensor([2, 0])
TARGETS = lt.tensor([[0.0, 1.0, 1.0], [1.0, 0.0, 0.5]])
WEIGHT = lt.tensor([0.5, 2.0, 1.0])
LEGACY = [{"size_average": False}, {"reduce": False}, {"size_average": True, "reduce": True}]
REDUCED = [{}, {"reduction": "sum"}, {"reduction": "none"}, *LEGACY]
BCE = F.binary_cross_entropy_with_logits
LOSSES = [
    (nn.MSELoss, F.mse_loss, TARGETS, []),
    (nn.L1Loss, F.l1_loss, TARGETS, []),
    (nn.NLLLoss, F.nll_loss, CLASSES, [{"weight": WEIGHT}, {"ignore_index": 2}]),
    (nn.CrossEntropyLoss, F.cross_entropy, CLASSES, [{"weight": WEIGHT, "ignore_index": 2}]),
    (nn.CrossEntropyLoss, F.cross_entropy, CLASSES, [{"label_smoothing": 0.25}]),
    (nn.BCEWithLogitsLoss, BCE, TARGETS, [{"weight": WEIGHT}, {"pos_weight": WEIGHT}]),
]
SAME = [
    *((kind, f, (LOGITS, t), k) for kind, f, t, own in LOSSES for k in [*REDUCED, *own]),
    (nn.MaxPool2d, F.max_pool2d, (X,), {"kernel_size": 3, "stride": 1, "padding": 1}),
    (nn.AvgPool2d, F.avg_pool2d, (X,), {"kernel_size": 3, "stride": 2, "padding": 1}),
    (nn.AvgPool2d, F.avg_pool2d, (X,), {"kernel_size": 2, "count_include_pad": True}),
    (nn.LeakyReLU, F.leaky_relu, (X,), {"negative_slope": 0.3}),
    (nn.GELU, F.gelu, (X,), {"approximate": "tanh"}),
    (nn.Softmax, F.softmax, (X,), {"dim": 2}),
    (nn.LogSoftmax, F.log_softmax, (X,), {"dim": 2}),
    (nn.Dropout, F.dropout, (X,), {"p": 0.75}),
]


def values(result):
    """Of one tensor or several."""
    return [t.tolist() for t in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.parametrize("kind, function, args, settings", SAME)
def test_settings_are_the_functions(kind, function, args, settings):
    lt.manual_seed(1)
    want = values(function(*args, **settings))
    lt.manual_seed(1)
    assert values(kind(**settings)(*args)) == want


@pytest.mark.parametrize(
    "make, function",
    [
        (lambda k: nn.MaxPool2d(2, **k), lambda k: F.max_pool2d(X, 2, **k)),
        (lambda k: nn.AvgPool2d(2, **k), lambda k: F.avg_pool2d(X, 2, **k)),
    ],
    ids=["max", "avg"],
)
@pytest.mark.parametrize(
    "setting",
    ["dilation=2", "ceil_mode=True", "return_indices=True", "count_include_pad=False",
     "divisor_override=3"],
)  # fmt: skip
def test_what_the_function_refuses_the_module_does(make, function, setting):
    name, _, value = setting.partition("=")
    settings = {name: eval(value)}
    try:
        want = values(function(settings))
    except lt.Error as error:
        with pytest.raises(type(error)) as caught:
            make(settings)(X)
        assert name in str(caught.value)
    else:
        assert values(make(settings)(X)) == want


def test_a_row_to_pad_with():
    layer = nn.Embedding(4, 2, padding_idx=-2)
    assert layer.padding_idx == 2 and layer.weight[2].tolist() == [0, 0]
    assert repr(layer) == "Embedding(4, 2, padding_idx=2)"
    layer(IDS).sum().backward()
    assert layer.weight.grad.tolist() == [[1, 1], [2, 2], [0, 0], [0, 0]]
    with pytest.raises(lt.IndexError, match="pad"):
        nn.Embedding(4, 2, 4)


def test_a_sparse_layout_of_gradients_is_not_there_and_changes_no_value():
    sparse = nn.Embedding(4, 2, sparse=True)
    sparse(IDS).sum().backward()
    assert sparse.weight.grad.tolist() == [[1, 1], [2, 2], [1, 1], [0, 0]]


def test_how_pytorch_runs_a_step_changes_nothing():
    for kind in DENSE:
        names = {"foreach", "fused", "capturable"} & set(inspect.signature(kind).parameters)
        group = kind([P], **dict.fromkeys(names, True)).param_groups[0]
        assert all(group[name] is True for name in names)
    with pytest.raises(lt.UnsupportedError, match="sparse gradients"):
        optim.SparseAdam([P])


def test_maximize_is_every_optimizers():
    for kind in DENSE:
        p = nn.Parameter(lt.ones(1))
        (p * 3).sum().backward()
        kind([p], lr=0.5, maximize=True).step()
        assert p.item() > 1, kind


def test_text():
    assert repr(nn.LeakyReLU(0.2, True)) == "LeakyReLU(negative_slope=0.2, inplace=True)"
    assert repr(nn.LeakyReLU()) == "LeakyReLU(negative_slope=0.01)"
    assert repr(nn.Softplus()) == "Softplus(beta=1.0, threshold=20.0)"
    assert repr(nn.Hardtanh(0, 1, True)) == "Hardtanh(min_val=0, max_val=1, inplace=True)"
    pool = "MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)"
    assert repr(nn.MaxPool2d(2)) == pool
    x = lt.tensor([-2.0, 0.5])
    assert nn.Hardtanh(inplace=True)(x) is x and x.tolist() == [-1, 0.5]


def test_loading_takes_what_pytorch_programs_say(tmp_path):
    path = tmp_path / "w.safetensors"
    lt.save({"w": X}, path)
    assert lt.load(path, map_location="cpu", weights_only=True)["w"].tolist() == X.tolist()
    assert lt.load(path, "sim")["w"].device == lt.zeros(1, device="sim").device
    assert lt.load(path, weights_only=False)["w"].tolist() == X.tolist()
    with pytest.raises(lt.TypeError, match=r"^load: "):
        lt.load(None)
