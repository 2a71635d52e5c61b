"""Layers of networks: each is its function with its settings; weights, sizes and texts are
PyTorch's."""

import numpy as np
import pytest

import lathe as lt
from lathe import nn
from lathe.nn import functional as F


def normal(*shape):
    return lt.tensor(np.random.default_rng(len(shape)).standard_normal(shape).astype("float32"))


IMAGES = {n: normal(2, 4, *(7, 6, 5)[:n]) for n in (1, 2, 3)}
SETTINGS = {
    "MaxPool": [{"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True}]
    + [{"kernel_size": 2, "dilation": 2, "return_indices": True}],
    "AvgPool": [{"kernel_size": 3, "stride": 2, "padding": 1, "count_include_pad": False}],
    "LPPool": [{"norm_type": 2.0, "kernel_size": 2, "stride": 1, "ceil_mode": True}],
    "AdaptiveAvgPool": [{"output_size": 3}],
    "AdaptiveMaxPool": [{"output_size": 2}, {"output_size": 3, "return_indices": True}],
}
STEMS = {"MaxPool": "max_pool", "AvgPool": "avg_pool", "LPPool": "lp_pool"}
STEMS |= {"AdaptiveAvgPool": "adaptive_avg_pool", "AdaptiveMaxPool": "adaptive_max_pool"}


def flat(result):
    return [t.tolist() for t in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("kind", SETTINGS)
def test_a_pooling_is_its_function(kind, axes):
    for settings in SETTINGS[kind]:
        layer = getattr(nn, f"{kind}{axes}d")(**settings)
        function = getattr(F, f"{STEMS[kind]}{axes}d")
        assert flat(layer(IMAGES[axes])) == flat(function(IMAGES[axes], **settings))


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_pooled_and_back(axes):
    x = IMAGES[axes].abs()
    pool = getattr(nn, f"MaxPool{axes}d")(2, return_indices=True)
    values, indices = pool(x)
    back = getattr(nn, f"MaxUnpool{axes}d")(2)(values, indices, output_size=x.shape)
    assert back.shape == x.shape
    assert back.sum().item() == pytest.approx(values.sum().item())
    assert lt.where(back != 0, x, 0).tolist() == back.tolist()


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("mode", ["zeros", "reflect", "replicate", "circular"])
@pytest.mark.parametrize("padding", [1, "same", "valid"])
def test_a_convolution_pads_as_it_says(axes, mode, padding):
    settings = {"padding": padding, "groups": 2, "dilation": 2, "padding_mode": mode}
    layer = getattr(nn, f"Conv{axes}d")(4, 6, 3, **settings)
    border = {1: 1, "same": 2, "valid": 0}[padding]
    kind = "constant" if mode == "zeros" else mode
    x = F.pad(IMAGES[axes], (border,) * (2 * axes), kind)
    want = getattr(F, f"conv{axes}d")(x, layer.weight, layer.bias, dilation=2, groups=2)
    np.testing.assert_allclose(
        layer(IMAGES[axes]).detach().numpy(), want.detach().numpy(), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_a_transposed_convolution_takes_a_size(axes):
    down = getattr(nn, f"Conv{axes}d")(4, 6, 3, stride=2, padding=1)
    up = getattr(nn, f"ConvTranspose{axes}d")(6, 4, 3, stride=2, padding=1)
    x = IMAGES[axes]
    assert up(down(x), output_size=x.shape).shape == x.shape
    assert up.weight.shape == (6, 4, *(3,) * axes) and up.bias.shape == (4,)
    with pytest.raises(lt.ValueError, match="no convolution"):
        up(down(x), output_size=(50,) * axes)


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_borders(axes):
    x = IMAGES[axes]
    pads = [1, 2, 0, 1, 2, 1][: 2 * axes]
    kinds = {"Zero": "constant", "Reflection": "reflect", "Replication": "replicate"}
    for kind, mode in {**kinds, "Circular": "circular"}.items():
        got = getattr(nn, f"{kind}Pad{axes}d")(tuple(pads))(x)
        assert got.tolist() == F.pad(x, pads, mode).tolist()
    got = getattr(nn, f"ConstantPad{axes}d")(1, 2.5)(x)
    assert got.tolist() == F.pad(x, (1,) * (2 * axes), value=2.5).tolist()


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_norms(axes):
    x = IMAGES[axes]
    flat_x = x.numpy().reshape(2, 4, -1)
    whole = (flat_x - flat_x.mean(-1, keepdims=True)) / np.sqrt(
        flat_x.var(-1, keepdims=True) + 1e-5
    )
    layer = getattr(nn, f"InstanceNorm{axes}d")(4)
    assert list(layer.state_dict()) == []
    np.testing.assert_allclose(layer(x).numpy().reshape(2, 4, -1), whole, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(layer(x[0]).numpy(), layer(x)[0].numpy(), rtol=1e-5, atol=1e-6)
    tracking = getattr(nn, f"InstanceNorm{axes}d")(4, affine=True, track_running_stats=True)
    names = ["weight", "bias", "running_mean", "running_var", "num_batches_tracked"]
    assert list(tracking.state_dict()) == names
    tracking(x)
    mean = flat_x.mean((0, 2)) * 0.1
    np.testing.assert_allclose(tracking.running_mean.numpy(), mean, rtol=1e-4, atol=1e-6)
    group = nn.GroupNorm(2, 4)
    assert group(x).shape == x.shape and list(group.state_dict()) == ["weight", "bias"]
    assert nn.BatchNorm3d(4)(IMAGES[3]).shape == IMAGES[3].shape
    with pytest.raises(lt.UnsupportedError, match="SyncBatchNorm"):
        nn.SyncBatchNorm(4)


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("kind", ["BatchNorm2d", "InstanceNorm2d", "GroupNorm"])
def test_a_norm_without_bias(kind, lazy):
    if kind == "GroupNorm":
        layer, plain = nn.GroupNorm(2, 4, bias=False), nn.GroupNorm(2, 4)
    else:
        layer, plain = getattr(nn, kind)(4, affine=True, bias=False), getattr(nn, kind)(4)
        if lazy:
            layer = getattr(nn, f"Lazy{kind}")(affine=True, track_running_stats=False, bias=False)
    got = layer(IMAGES[2])
    assert [name for name, _ in layer.named_parameters()] == ["weight"]
    assert "affine=True, bias=False" in repr(layer)
    layer.reset_parameters()
    assert lt.equal(got, plain(IMAGES[2]))


@pytest.mark.parametrize("axes", [2, 3])
def test_places_of_fractional_windows_are_of_the_first_images(axes):
    pool = getattr(F, f"fractional_max_pool{axes}d")
    x, places = normal(2, 4, *(7,) * axes), lt.rand(3, 4, axes)
    got = pool(x, 2, 3, _random_samples=places)
    for i in range(2):
        one = pool(x[i], 2, 3, _random_samples=places[i : i + 1])
        assert lt.equal(got[i], one)
    assert lt.equal(pool(x[0], 2, 3, _random_samples=places), got[0])


@pytest.mark.parametrize("sizes", [(), (2, 3)])
@pytest.mark.parametrize("bias", [False, True])
def test_cross_entropy_of_a_linear_layer_of_its_own(sizes, bias):
    loss = nn.LinearCrossEntropyLoss(
        4, 5, out_features=sizes, bias=bias, weight=lt.arange(1.0, 6.0), label_smoothing=0.1
    )
    assert list(loss.state_dict()) == ["weight", "linear.weight", "linear.bias"][: 2 + bias]
    x, target = normal(6, 4), lt.arange(6).reshape(6, *(1,) * len(sizes)).expand(6, *sizes) % 5
    scores = loss.linear(x).reshape(6, 5, *sizes)
    want = F.cross_entropy(scores, target, lt.arange(1.0, 6.0), label_smoothing=0.1)
    assert loss(x, target).item() == want.item()
    assert f"num_classes=5, out_features={sizes}, bias={bias}" in repr(loss)
    if not sizes:
        one = nn.LinearCrossEntropyLoss(4, 5, reduction="sum", ignore_index=2)
        assert one(x[0], lt.tensor(2)).item() == 0


@pytest.mark.parametrize("loss", [F.cross_entropy, F.nll_loss, F.multi_margin_loss])
@pytest.mark.parametrize("shape", [(2,), (1,), (5,), (4, 1)])
def test_class_weights_are_one_for_each_class(loss, shape):
    x, target = normal(3, 4), lt.zeros(3, dtype=lt.int64)  # a class that all of them have
    with pytest.raises(lt.ShapeError, match="one number for each class"):
        loss(x, target, weight=lt.ones(shape))
    if loss is F.cross_entropy:
        with pytest.raises(lt.ShapeError, match="one number for each class"):
            loss(x, x.softmax(1), weight=lt.ones(shape))


@pytest.mark.parametrize("loss", [F.binary_cross_entropy, F.binary_cross_entropy_with_logits])
def test_weights_of_elements_make_no_more_losses(loss):
    assert loss(lt.ones(3, 4), lt.ones(3, 4), weight=lt.ones(3, 1)).shape == ()
    for shape in [(3, 4), (2, 1)]:
        with pytest.raises(lt.ShapeError, match="more elements than the input"):
            loss(lt.ones(4), lt.ones(4), weight=lt.ones(shape))


X, Y, Z = normal(3, 4), normal(3, 4) * 0.5, normal(3, 4) + 0.3
SIGNS, PART = lt.tensor([[1.0, -1, 1, -1]] * 3), X.sigmoid()
CLASSES = lt.tensor([1, 0, 3])
LOSSES = [
    (nn.SmoothL1Loss, F.smooth_l1_loss, (X, Y), {"beta": 0.5}),
    (nn.HuberLoss, F.huber_loss, (X, Y), {"delta": 0.5}),
    (nn.BCELoss, F.binary_cross_entropy, (PART, Y.sigmoid()), {"weight": Z.abs()}),
    (nn.KLDivLoss, F.kl_div, (X, Y), {"log_target": True}),
    (nn.GaussianNLLLoss, F.gaussian_nll_loss, (X, Y, PART), {"full": True}),
    (nn.PoissonNLLLoss, F.poisson_nll_loss, (X, PART), {"full": True}),
    (nn.HingeEmbeddingLoss, F.hinge_embedding_loss, (X, SIGNS), {"margin": 0.5}),
    (nn.MarginRankingLoss, F.margin_ranking_loss, (X, Y, SIGNS), {"margin": 0.5}),
    (nn.MultiMarginLoss, F.multi_margin_loss, (X, CLASSES), {"p": 2, "margin": 0.5}),
    (nn.MultiLabelMarginLoss, F.multilabel_margin_loss, (X, CLASSES.unsqueeze(1).expand(3, 4)), {}),
    (nn.MultiLabelSoftMarginLoss, F.multilabel_soft_margin_loss, (X, PART), {"weight": X[0]}),
    (nn.SoftMarginLoss, F.soft_margin_loss, (X, SIGNS), {}),
    (nn.TripletMarginLoss, F.triplet_margin_loss, (X, Y, Z), {"p": 3.0, "swap": True}),
    (nn.TripletMarginWithDistanceLoss, F.triplet_margin_with_distance_loss, (X, Y, Z),
     {"margin": 0.5, "distance_function": lambda a, b: (a - b).abs().sum(-1)}),
    (nn.CosineEmbeddingLoss, F.cosine_embedding_loss, (X, Y, lt.tensor([1, -1, 1])),
     {"margin": 0.1}),
    (nn.CTCLoss, F.ctc_loss,
     (normal(5, 2, 4).log_softmax(2), CLASSES[:2].unsqueeze(1), lt.tensor([5, 4]),
      lt.tensor([1, 1])),
     {"blank": 2}),
]  # fmt: skip


@pytest.mark.parametrize("kind, function, args, settings", LOSSES)
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.filterwarnings("ignore:KLDivLoss")
def test_a_loss_is_its_function(kind, function, args, settings, reduction):
    got = kind(**settings, reduction=reduction)(*args)
    assert got.tolist() == function(*args, **settings, reduction=reduction).tolist()


def test_bags():
    bag = nn.EmbeddingBag(5, 3, mode="sum", padding_idx=0)
    indices, offsets = lt.tensor([1, 2, 0, 4]), lt.tensor([0, 2])
    w = bag.weight.detach().numpy()
    assert w[0].tolist() == [0, 0, 0]
    want = np.stack([w[1] + w[2], w[4]])
    np.testing.assert_allclose(bag(indices, offsets).detach().numpy(), want, rtol=1e-6)
    table = normal(4, 2)
    frozen = nn.Embedding.from_pretrained(table)
    assert not frozen.weight.requires_grad and frozen(lt.tensor(1)).tolist() == table[1].tolist()
    short = nn.Embedding(4, 2, max_norm=0.1)
    assert short(lt.arange(4)).norm(dim=1).max().item() <= 0.1 + 1e-6
    assert short.weight.norm(dim=1).max().item() <= 0.1 + 1e-6, "shortened in the table itself"


def test_channels_are_dropped_whole():
    lt.manual_seed(3)
    for axes, kind in ((1, nn.Dropout1d), (2, nn.Dropout2d), (3, nn.Dropout3d)):
        y = kind(0.5)(lt.ones(3, 8, *(4,) * axes)).numpy().reshape(24, -1)
        assert all(len(set(row)) == 1 for row in y.tolist())
        assert {0.0, 2.0} == set(y.ravel().tolist())
    x = normal(100, 100)
    y = nn.AlphaDropout(0.3)(x)
    assert abs(y.mean().item()) < 0.05 and abs(y.std().item() - 1) < 0.05
    assert nn.FeatureAlphaDropout(0.3).eval()(x) is x


def test_distances_and_products():
    assert nn.CosineSimilarity()(X, X).tolist() == pytest.approx([1, 1, 1])
    assert nn.PairwiseDistance(eps=0.0)(X, X).tolist() == [0, 0, 0]
    layer = nn.Bilinear(4, 4, 2)
    want = np.einsum("ni,oij,nj->no", X.numpy(), layer.weight.detach().numpy(), Y.numpy())
    want += layer.bias.detach().numpy()
    np.testing.assert_allclose(layer(X, Y).detach().numpy(), want, rtol=1e-4, atol=1e-5)


TEXTS = [
    ("Conv1d", (3, 4, 5), {}, "3, 4, kernel_size=(5,), stride=(1,)"),
    ("Conv2d", (4, 4, 3), {"padding": "same", "padding_mode": "reflect", "bias": False},
     "4, 4, kernel_size=(3, 3), stride=(1, 1), padding=same, bias=False, padding_mode=reflect"),
    ("ConvTranspose2d", (4, 4, 3), {"stride": 2, "output_padding": 1, "groups": 2},
     "4, 4, kernel_size=(3, 3), stride=(2, 2), output_padding=(1, 1), groups=2"),
    ("AvgPool1d", (3,), {}, "kernel_size=(3,), stride=(3,), padding=(0,)"),
    ("GroupNorm", (2, 4), {}, "2, 4, eps=1e-05, affine=True, bias=True"),
    ("LayerNorm", (4,), {"bias": False},
     "(4,), eps=1e-05, elementwise_affine=True, bias=False"),
    ("BatchNorm2d", (4,), {"affine": False},
     "4, eps=1e-05, momentum=0.1, affine=False, bias=False, track_running_stats=True"),
    ("InstanceNorm1d", (4,), {"affine": True},
     "4, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=False"),
    ("ConstantPad1d", (1, 2.0), {}, "padding=(1, 1), value=2.0"),
    ("EmbeddingBag", (4, 2), {}, "4, 2, mode='mean'"),
    ("Upsample", (), {"scale_factor": 2}, "scale_factor=2.0, mode='nearest'"),
]  # fmt: skip


@pytest.mark.parametrize("name, args, settings, text", TEXTS)
def test_texts(name, args, settings, text):
    assert repr(getattr(nn, name)(*args, **settings)) == f"{name}({text})"


def test_the_mean_of_weighted_huber_losses_is_over_all():
    x, y, w = lt.zeros(2), lt.tensor([1.0, 0.5]), lt.tensor([1.0, 3.0])
    assert F.huber_loss(x, y, weight=w).item() == 0.4375
    assert F.huber_loss(x, y, weight=w, reduction="sum").item() == 0.875
    assert F.huber_loss(x, y, weight=w, reduction="none").tolist() == [0.5, 0.375]
    with pytest.raises(lt.ShapeError):
        F.huber_loss(x, y, weight=lt.ones(3))


BY_NAME = {
    "linear": (nn.Linear(2, 3), ["input"]),
    "conv": (nn.Conv1d(2, 3, 1), ["input"]),
    "norm": (nn.LayerNorm(2), ["input"]),
    "pool": (nn.MaxPool1d(2), ["input"]),
    "activation": (nn.ReLU(), ["input"]),
    "dropout": (nn.Dropout(0.0), ["input"]),
    "sequence": (nn.Sequential(nn.Tanh()), ["input"]),
    "binary": (nn.BCELoss(), ["input", "target"]),
    "divergence": (nn.KLDivLoss(reduction="sum"), ["input", "target"]),
    "counts": (nn.PoissonNLLLoss(), ["log_input", "target"]),
    "cosine": (nn.CosineEmbeddingLoss(), ["input1", "input2", "target"]),
    "triplet": (nn.TripletMarginLoss(), ["anchor", "positive", "negative"]),
    "gaussian": (nn.GaussianNLLLoss(), ["input", "target", "var"]),
}


@pytest.mark.parametrize("module, names", BY_NAME.values(), ids=BY_NAME)
def test_operands_by_pytorchs_names(module, names):
    given = [lt.tensor([[0.5, 0.25], [0.125, 0.75]]) + 0.01 * i for i in range(len(names))]
    if names[-1] == "target" and len(names) == 3:
        given[-1] = lt.tensor([1.0, -1.0])
    expected = module(*given)
    assert module(**dict(zip(names, given))).tolist() == expected.tolist()


@pytest.mark.parametrize("wrap", [lambda f: f, lt.trace], ids=["eager", "trace"])
def test_a_variance_is_not_negative(wrap):
    loss, x = wrap(F.gaussian_nll_loss), lt.tensor([1.0, 2.0, 3.0])
    assert loss(x, x, lt.tensor([0.0, 1.0, 2.0])).isfinite()
    with pytest.raises(lt.ValueError, match="a variance below 0"):
        loss(x, x, lt.tensor([1.0, -0.1, 1.0]))
    # As in PyTorch what is below eps counts as eps, and has its gradient.
    var = lt.tensor([0.0, 1.0, 2.0], requires_grad=True)
    loss(x, x + 1, var, eps=0.5).backward()
    expected = [(1 / v - 1 / v**2) / 6 for v in (0.5, 1.0, 2.0)]
    assert var.grad.tolist() == pytest.approx(expected)


def test_a_sequence_of_ctc_is_no_longer_than_the_time_there_is():
    def loss(times):
        return F.ctc_loss(lt.zeros(2, 1, 3), lt.tensor([[1]]), times, lt.tensor([1]))

    for wrap in (lambda f: f, lt.trace):
        assert wrap(loss)(lt.tensor([2])).isfinite()
        for wrong in (3, -1):
            with pytest.raises(lt.IndexError, match="an index is out of range"):
                wrap(loss)(lt.tensor([wrong]))
    with pytest.raises(lt.IndexError):
        F.ctc_loss(lt.zeros(2, 1, 3), lt.tensor([[1]]), [3], [1])


@pytest.mark.parametrize("targets", [lt.zeros(0), lt.zeros(3, 0)])
def test_ctc_of_no_labels_is_all_blank(targets):
    """Where no target has any, in both forms of targets, as where one of several has none."""
    log_probs = lt.linspace(-1, 1, 60, dtype=lt.float64).reshape(5, 3, 4).log_softmax(2)
    blank = -log_probs[:, :, 0]
    none = lt.zeros(3, dtype=lt.int64)
    found = F.ctc_loss(log_probs, targets.long(), lt.tensor([5, 4, 0]), none, reduction="none")
    want = lt.stack([blank[:5, 0].sum(), blank[:4, 1].sum(), lt.zeros((), dtype=lt.float64)])
    assert lt.allclose(found, want)
