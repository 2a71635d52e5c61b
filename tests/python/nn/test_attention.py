"""Attention and the Transformer against NumPy. tests/against_pytorch/attention.py compares them
with PyTorch's, in all their forms."""

import numpy as np
import pytest

import lathe as lt
from lathe import nn

CAUSAL = nn.Transformer.generate_square_subsequent_mask


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def reference(m, query, key, value, mask=None):
    """[batch, time, width] each."""
    w, b = (t.detach().numpy() for t in (m.in_proj_weight, m.in_proj_bias))
    n, out = m.embed_dim, []
    parts = [x @ w[i * n : (i + 1) * n].T + b[i * n : (i + 1) * n]
             for i, x in enumerate((query, key, value))]  # fmt: skip
    weights = []
    for h in range(m.num_heads):
        q, k, v = (p[..., h * m.head_dim : (h + 1) * m.head_dim] for p in parts)
        scores = q @ k.swapaxes(-1, -2) / np.sqrt(m.head_dim)
        weights.append(softmax(scores if mask is None else scores + mask))
        out.append(weights[-1] @ v)
    joined = np.concatenate(out, -1)
    return joined @ m.out_proj.weight.detach().numpy().T + m.out_proj.bias.detach().numpy(), weights


def near(a, b):
    np.testing.assert_allclose(a.detach().numpy(), b, rtol=1e-12, atol=1e-14)


def test_attention():
    m = nn.MultiheadAttention(6, 2, batch_first=True, dtype=lt.float64)
    nn.init.normal_(m.in_proj_bias)
    q, kv = lt.randn(3, 4, 6, dtype=lt.float64), lt.randn(3, 5, 6, dtype=lt.float64)
    want, weights = reference(m, q.numpy(), kv.numpy(), kv.numpy())
    out, mean = m(q, kv, kv)
    near(out, want)
    near(mean, np.mean(weights, 0))
    near(m(q, kv, kv, average_attn_weights=False)[1], np.stack(weights, 1))
    none = m(q, kv, kv, need_weights=False)
    assert none[1] is None
    near(none[0], want)
    near(m(q[0], kv[0], kv[0])[0], want[0])
    hidden = lt.tensor(np.triu(np.ones((4, 4), bool), 1))
    want, _ = reference(m, q.numpy(), q.numpy(), q.numpy(), np.where(hidden.numpy(), -np.inf, 0))
    for mask in (hidden, CAUSAL(4, dtype=lt.float64)):
        near(m(q, q, q, attn_mask=mask)[0], want)
    padding = lt.zeros(3, 5, dtype=lt.bool)
    padding[1, 3:] = True
    seen, _ = reference(m, q.numpy()[1:2], kv.numpy()[1:2, :3], kv.numpy()[1:2, :3])
    near(m(q, kv, kv, key_padding_mask=padding)[0][1:2], seen)
    traced = lt.trace(lambda q, kv: m(q, kv, kv)[0])
    assert lt.equal(traced(q, kv), out)


def test_parameters():
    m = nn.MultiheadAttention(4, 2, add_bias_kv=True, kdim=3)
    assert [n for n, _ in m.named_parameters()] == [
        "q_proj_weight", "k_proj_weight", "v_proj_weight", "in_proj_bias", "bias_k", "bias_v",
        "out_proj.weight", "out_proj.bias",
    ]  # fmt: skip
    assert m.in_proj_weight is None and m.in_proj_bias.sum().item() == 0
    assert [n for n, _ in nn.MultiheadAttention(4, 2, bias=False).named_parameters()] == [
        "in_proj_weight", "out_proj.weight",
    ]  # fmt: skip


MHA = nn.MultiheadAttention(4, 2)
WRONG = {
    "heads": lambda: nn.MultiheadAttention(4, 3), "width": lambda: MHA(*[lt.ones(2, 1, 3)] * 3),
    "rank": lambda: MHA(lt.ones(4), lt.ones(4), lt.ones(4)),
    "mask": lambda: MHA(*[lt.ones(2, 1, 4)] * 3, attn_mask=lt.ones(3, 3)),
    "mask of integers": lambda: MHA(*[lt.ones(2, 1, 4)] * 3, attn_mask=lt.ones(2, 2).long()),
    "no mask": lambda: MHA(*[lt.ones(2, 1, 4)] * 3, is_causal=True),
    "padding": lambda: MHA(*[lt.ones(2, 1, 4)] * 3, key_padding_mask=lt.ones(2).bool()),
    "other padding": lambda: MHA(*[lt.ones(2, 1, 4)] * 3, key_padding_mask=lt.ones(2, 2).bool()),
    "activation": lambda: nn.TransformerEncoderLayer(4, 2, activation="sine"),
    "batch": lambda: nn.Transformer(4, 2, 1, 1, 4)(lt.ones(3, 1, 4), lt.ones(3, 2, 4)),
    "model": lambda: nn.Transformer(4, 2, 1, 1, 4)(lt.ones(3, 1, 5), lt.ones(3, 1, 5)),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name):
    with pytest.raises(lt.Error) as caught:
        WRONG[name]()
    assert caught.value.next and caught.value.expected


@pytest.mark.parametrize("norm_first", [False, True])
def test_encoder_layer(norm_first):
    layer = nn.TransformerEncoderLayer(
        6, 2, 8, 0.0, norm_first=norm_first, batch_first=True, dtype=lt.float64
    )
    x = lt.randn(2, 3, 6, dtype=lt.float64)

    def net(x):
        return layer.linear2(lt.relu(layer.linear1(x)))

    def attend(x):
        return layer.self_attn(x, x, x)[0]

    if norm_first:
        want = x + attend(layer.norm1(x))
        want = want + net(layer.norm2(want))
    else:
        want = layer.norm1(x + attend(x))
        want = layer.norm2(want + net(want))
    near(layer(x), want.detach().numpy())
    stack = nn.TransformerEncoder(layer, 2, nn.LayerNorm(6, dtype=lt.float64))
    assert [n for n, _ in stack.named_children()] == ["layers", "norm"]
    assert stack.layers[0].linear1.weight is not stack.layers[1].linear1.weight
    near(stack(x), stack.norm(stack.layers[1](stack.layers[0](x))).detach().numpy())


def test_transformer_sees_what_it_may():
    net = nn.Transformer(8, 2, 1, 1, 16, 0.0, batch_first=True)
    src, tgt = lt.randn(2, 5, 8), lt.randn(2, 4, 8, requires_grad=True)
    out = net(src, tgt, tgt_mask=CAUSAL(4), tgt_is_causal=True)
    (out[:, 1] * lt.arange(8.0)).sum().backward()
    seen = tgt.grad.abs().sum((0, 2)) > 0
    assert seen.tolist() == [True, True, False, False]
    assert all(p.grad is not None for p in net.parameters())
    step = lt.trace(lambda s, t: net(s, t, tgt_mask=CAUSAL(4)))
    assert lt.equal(step(src, tgt.detach()), net(src, tgt.detach(), tgt_mask=CAUSAL(4)))
