"""nn.utils.fuse_*, formats of weights, nn.attention's scope, and names kept for older programs."""

import pytest

import lathe as lt
from lathe import nn
from lathe.nn import utils
from lathe.nn.attention import SDPBackend, sdpa_kernel
from lathe.nn.attention_backends import allowed


def measured(bn):
    """The norm with statistics and weights that are not the first ones."""
    for tensor in (bn.running_mean, bn.running_var, *bn.parameters()):
        nn.init.uniform_(tensor, 0.5, 2.0)
    return bn.eval()


@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("transpose", [True, False])
def test_a_convolution_takes_over_the_norm(axes, bias, affine, transpose):
    kind = getattr(nn, f"ConvTranspose{axes}d" if transpose else f"Conv{axes}d")
    conv = kind(3, 4, 2, bias=bias).double().eval()
    bn = measured(getattr(nn, f"BatchNorm{axes}d")(4, affine=affine).double())
    x = lt.randn(2, 3, *[4] * axes, dtype=lt.float64)
    before = conv.weight.clone()
    fused = utils.fuse_conv_bn_eval(conv, bn, transpose)
    assert type(fused) is kind and fused is not conv and fused.weight.requires_grad
    assert lt.allclose(fused(x), bn(conv(x)), rtol=1e-12, atol=1e-12)
    assert lt.equal(conv.weight, before)


@pytest.mark.parametrize("features", [4, 1])
def test_a_linear_layer_takes_over_the_norm(features):
    linear = nn.Linear(3, 4).double().eval()
    bn = measured(nn.BatchNorm1d(features).double())
    x = lt.randn(5, 3, dtype=lt.float64)
    scale = bn.weight / (bn.running_var + bn.eps).sqrt()
    expected = (linear(x) - bn.running_mean) * scale + bn.bias
    assert lt.allclose(utils.fuse_linear_bn_eval(linear, bn)(x), expected, rtol=1e-12, atol=1e-12)


def test_what_cannot_be_fused():
    conv, bn = nn.Conv2d(3, 4, 1), nn.BatchNorm2d(4)
    with pytest.raises(lt.ValueError, match="^fuse_conv_bn_eval: ") as caught:
        utils.fuse_conv_bn_eval(conv, bn)
    assert "training" in caught.value.got
    without = nn.BatchNorm2d(4, track_running_stats=False).eval()
    with pytest.raises(lt.ValueError, match="running statistics"):
        utils.fuse_conv_bn_eval(conv.eval(), without)
    with pytest.raises(lt.ShapeError, match="^fuse_linear_bn_weights: "):
        utils.fuse_linear_bn_eval(nn.Linear(3, 4).eval(), nn.BatchNorm1d(3).eval())


def test_weights_in_another_order_of_memory():
    net = nn.Sequential(nn.Conv2d(3, 4, 2), nn.Linear(2, 2), nn.ConvTranspose2d(3, 4, 2))
    values = net[0].weight.clone()
    assert utils.convert_conv2d_weight_memory_format(net, lt.channels_last) is net
    for part in (net[0], net[2]):
        assert part.weight.is_contiguous(memory_format=lt.channels_last)
    assert lt.equal(net[0].weight, values)
    deep = nn.Conv3d(3, 4, 2)
    utils.convert_conv3d_weight_memory_format(deep, lt.channels_last_3d)
    assert deep.weight.is_contiguous(memory_format=lt.channels_last_3d)


def test_kernels_of_attention_are_a_scope():
    q = lt.randn(1, 2, 3, 4)
    before = nn.functional.scaled_dot_product_attention(q, q, q)
    everything = allowed()
    with sdpa_kernel(SDPBackend.MATH):
        assert allowed() == [SDPBackend.MATH]
        with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH], set_priority=True):
            assert allowed() == [SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]
            assert lt.equal(nn.functional.scaled_dot_product_attention(q, q, q), before)
        assert allowed() == [SDPBackend.MATH]
    assert allowed() == everything

    @sdpa_kernel([SDPBackend.EFFICIENT_ATTENTION])
    def inside():
        return allowed()

    assert inside() == [SDPBackend.EFFICIENT_ATTENTION] and allowed() == everything
    for bad, kind in (("math", lt.TypeError), ([], lt.ValueError), (["x"], lt.TypeError)):
        with pytest.raises(kind, match="^sdpa_kernel: "):
            sdpa_kernel(bad)


def test_older_losses():
    with pytest.warns(FutureWarning, match="NLLLoss"):
        loss = nn.NLLLoss2d(reduction="sum")
    scores, target = lt.randn(2, 3, 2, 2), lt.zeros(2, 2, 2, dtype=lt.int64)
    assert lt.equal(loss(scores, target), nn.NLLLoss(reduction="sum")(scores, target))


def test_a_module_in_another_memory_format():
    net = nn.Sequential(nn.Conv2d(3, 4, 2), nn.BatchNorm2d(4))
    values, x = net[0].weight.clone(), lt.randn(2, 3, 5, 5)
    before = net(x)
    assert net.to(memory_format=lt.channels_last) is net
    assert net[0].weight.is_contiguous(memory_format=lt.channels_last)
    assert lt.equal(net[0].weight, values) and lt.allclose(net(x), before, atol=1e-6)
    net(x.to(memory_format=lt.channels_last)).sum().backward()
    assert net.to(lt.float64)[0].weight.dtype == lt.float64
    with pytest.raises(lt.ShapeError):
        nn.Conv3d(2, 2, 2).to(memory_format=lt.channels_last)
