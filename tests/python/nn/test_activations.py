"""Activations and dropout as modules: the function with the module's settings, and its print."""

import numpy as np
import pytest

import lathe as lt
from lathe import nn
from lathe.nn import functional as F

X = [[-4.0, -1.0, -0.25, 0.0], [0.25, 0.75, 3.0, 6.5]]
MODULES = [
    (nn.ELU(0.5), lambda x: F.elu(x, 0.5), "alpha=0.5"),
    (nn.CELU(0.5, True), lambda x: F.celu(x, 0.5), "alpha=0.5, inplace=True"),
    (nn.SELU(), F.selu, ""),
    (nn.Mish(), F.mish, ""),
    (nn.SiLU(inplace=True), F.silu, "inplace=True"),
    (nn.Hardswish(), F.hardswish, ""),
    (nn.Hardsigmoid(True), F.hardsigmoid, "inplace=True"),
    (nn.ReLU6(), F.relu6, ""),
    (nn.Hardtanh(-2.0, 0.5), lambda x: F.hardtanh(x, -2.0, 0.5), "min_val=-2.0, max_val=0.5"),
    (nn.Hardshrink(1.0), lambda x: F.hardshrink(x, 1.0), "1.0"),
    (nn.Softshrink(), F.softshrink, "0.5"),
    (nn.Softplus(2.0, 5.0), lambda x: F.softplus(x, 2.0, 5.0), "beta=2.0, threshold=5.0"),
    (nn.Threshold(0.5, 9.0), lambda x: F.threshold(x, 0.5, 9.0), "threshold=0.5, value=9.0"),
    (nn.LeakyReLU(0.2), lambda x: F.leaky_relu(x, 0.2), "negative_slope=0.2"),
    (nn.Softsign(), F.softsign, ""),
    (nn.Tanhshrink(), F.tanhshrink, ""),
    (nn.LogSigmoid(), F.logsigmoid, ""),
    (nn.GLU(), F.glu, "dim=-1"),
    (nn.Softmin(1), lambda x: F.softmin(x, 1), "dim=1"),
    (nn.PReLU(4), lambda x: F.prelu(x, lt.full((4,), 0.25)), "num_parameters=4"),
    (nn.RReLU().eval(), F.rrelu, "lower=0.125, upper=0.3333333333333333"),
]


@pytest.mark.parametrize("module, function, text", MODULES, ids=[repr(m[0]) for m in MODULES])
def test_a_module_is_its_function(module, function, text):
    want = function(lt.tensor(X)).numpy()
    x = lt.tensor(X)
    with lt.no_grad():
        got = module(x)
    np.testing.assert_array_equal(got.numpy(), want)
    if getattr(module, "inplace", False):
        assert got is x
    assert repr(module) == f"{type(module).__name__}({text})"


def test_settings_are_attributes_that_count():
    module = nn.ELU()
    module.alpha = 3.0
    assert module(lt.tensor([-1.0])).item() == F.elu(lt.tensor([-1.0]), 3.0).item()


def test_channels_of_images():
    x = lt.randn(2, 3, 2, 2)
    np.testing.assert_allclose(nn.Softmax2d()(x).sum(1).numpy(), np.ones((2, 2, 2)), rtol=1e-6)
    with pytest.raises(lt.ShapeError, match="^Softmax2d"):
        nn.Softmax2d()(lt.ones(2, 3))


DROPPING = [nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout]
DROPPING += [nn.FeatureAlphaDropout]


@pytest.mark.parametrize("kind", DROPPING, ids=lambda k: k.__name__)
def test_dropout(kind):
    shape = (50, 40, 3) if kind in (nn.Dropout1d, nn.FeatureAlphaDropout) else (50, 40, 3, 2, 1)
    x, module = lt.ones(shape), kind(0.25)
    y = module(x).numpy()
    dropped = y != y.max()
    assert 0.2 < dropped.mean() < 0.3
    if kind not in (nn.Dropout, nn.AlphaDropout):  # channels go as a whole
        rows = dropped.reshape(50, 40, -1)
        assert (rows == rows[..., :1]).all()
    if kind in (nn.AlphaDropout, nn.FeatureAlphaDropout):
        assert abs(y.mean() - 0.75 * y.max() - 0.25 * y.min()) < 0.05
    else:
        assert y.min() == 0 and np.isclose(y.max(), 1 / 0.75)
    module.eval()
    np.testing.assert_array_equal(module(x).numpy(), x.numpy())
    assert repr(module) == f"{kind.__name__}(p=0.25, inplace=False)"
    with pytest.raises(lt.ValueError, match=f"^{kind.__name__}"):
        kind(1.5)


@pytest.mark.parametrize("name", ["dropout", "alpha_dropout", "feature_dropout"])
def test_functions_of_dropout_ask_whether_to_train(name):
    x = lt.ones(40, 50)
    assert (getattr(lt, name)(x, 0.5, False) == x).all()
    assert getattr(lt, name + "_")(x, 0.5, True) is x and (x != 1).any()


def test_alpha_dropout_keeps_mean_and_variance():
    lt.manual_seed(1)
    y = F.alpha_dropout(lt.randn(200_000), 0.3, True)
    assert abs(y.mean().item()) < 0.02 and abs(y.var().item() - 1) < 0.03


def test_random_slopes_lie_in_their_range():
    y = F.rrelu(-lt.ones(1000), 0.1, 0.3, training=True).numpy()
    assert -0.3 <= y.min() < -0.28 and -0.12 < y.max() <= -0.1
    with pytest.raises(lt.ValueError, match="lower is above upper"):
        F.rrelu(lt.ones(1), 0.3, 0.1)


def test_gumbel_softmax_draws_by_the_softmax():
    lt.manual_seed(2)
    logits = lt.tensor([0.0, 1.0, -1.0])
    draws = F.gumbel_softmax(logits.expand(20_000, 3), hard=True)
    np.testing.assert_array_equal(draws.sum(-1).numpy(), np.ones(20_000))
    np.testing.assert_allclose(draws.mean(0).numpy(), F.softmax(logits, 0).numpy(), atol=0.02)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda x: F.glu(x[:, :3]), "odd size"),
        (lambda x: F.prelu(x, lt.ones(3)), "one number a channel"),
        (lambda x: F.celu(x, 0.0), "alpha is 0"),
        (lambda x: F.hardtanh(x, 1.0, -1.0), "min_val is above max_val"),
        (lambda x: F.softshrink(x, -1.0), "lambd is negative"),
        (lambda x: F.dropout1d(x[0]), "another number of axes"),
        (lambda x: lt.feature_dropout(x[0], 0.5, True), "no channels"),
    ],
)
def test_what_does_not_fit_is_refused(call, message):
    with pytest.raises(lt.Error, match=message):
        call(lt.ones(2, 4))
