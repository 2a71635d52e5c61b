"""Multi-head attention (Vaswani et al. 2017), as a function of its weights and as a module.

Queries, keys and values are projected, cut into heads, and each head attends by itself. Masks say
what is hidden: True, or a number that is added to the scores (-inf hides).
"""

import math

from .. import _lathe, ops
from .._errors import typed
from . import functional as F
from . import init
from .attention_backends import SDPBackend, sdpa_kernel  # noqa: F401
from .layers import Linear
from .module import Module
from .parameter import Parameter

_NAME = "MultiheadAttention"


def _refuse(problem, got, expected, advice, kind=None):
    raise (kind or _lathe.ShapeError)(problem, op=_NAME, got=got, expected=expected, next=advice)


def _added(mask, dtype):
    """A mask as numbers to add to the scores; None for None."""
    if mask is None or mask.dtype == dtype:
        return mask
    if mask.dtype.is_floating_point:
        return mask.to(dtype)
    if mask.dtype != _lathe.bool:
        _refuse(
            "a mask of another kind", mask.dtype.name, "bool, or floats to add to the scores",
            "convert it with .bool()", _lathe.DTypeError,
        )  # fmt: skip
    zeros = ops.zeros(mask.shape, dtype=dtype, device=mask.device)
    return ops.masked_fill(zeros, mask, -math.inf)


def _checked_mask(mask, heads, batch, queries, keys):
    """An attention mask as [batch * heads or 1, queries, keys]."""
    if mask.ndim == 2:
        mask = ops.unsqueeze(mask, 0)
    fits = mask.ndim == 3 and mask.shape[1] == queries and mask.shape[2] == keys
    if not fits or not (mask.shape[0] == 1 or mask.shape[0] == batch * heads):
        _refuse(
            "attn_mask has another shape", list(mask.shape),
            f"[{queries}, {keys}], or [{batch * heads}, {queries}, {keys}]",
            "make one for each query and key",
        )  # fmt: skip
    return mask


def _projected(query, key, value, weights, biases):
    """The three projections; one product where they read the same tensor by one weight."""
    packed = weights[0] if len(weights) == 1 else None
    if packed is None:
        return [ops.linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases)]
    bias = biases[0]
    width = query.shape[-1]
    if query is key and key is value:
        return ops.split(ops.linear(query, packed, bias), width, -1)
    parts = ops.split(packed, packed.shape[0] // 3)
    cut = (None,) * 3 if bias is None else ops.split(bias, bias.shape[0] // 3)
    return [ops.linear(x, w, b) for x, w, b in zip((query, key, value), parts, cut)]


def _heads(x, heads):
    """[time, batch, width] as [batch * heads, time, width / heads]."""
    time, rows = x.shape[0], x.shape[1] * heads
    return ops.transpose(ops.reshape(x, [time, rows, x.shape[2] // heads]), 0, 1)


def _appended(x, rows):
    return ops.cat([x, rows], 1)


def _one_more(mask):
    """A mask for one more key, which is seen."""
    return None if mask is None else ops.constant_pad_nd(mask, [0, 1])


class _Masks:
    """The two masks of a call, as they grow by keys that are appended."""

    def __init__(self, attention, padding):
        self.attention, self.padding = attention, padding

    def grow(self):
        self.attention, self.padding = _one_more(self.attention), _one_more(self.padding)

    def joined(self, batch, heads, keys):
        """Both as one, [batch * heads, queries or 1, keys]; None: nothing is hidden."""
        if self.padding is None:
            return self.attention
        rows = ops.reshape(self.padding, [batch, 1, 1, keys])
        rows = ops.reshape(ops.expand(rows, [batch, heads, 1, keys]), [batch * heads, 1, keys])
        return rows if self.attention is None else self.attention + rows


def _check_operands(query, key, value, padding, width, heads):
    if query.ndim not in (2, 3) or key.ndim != query.ndim or value.ndim != query.ndim:
        _refuse(
            "query, key and value have not two axes or three each",
            [query.ndim, key.ndim, value.ndim], "[time, batch, width], or [time, width] all",
            "unsqueeze() the missing axis",
        )  # fmt: skip
    if query.shape[-1] != width:
        _refuse("the query has another width", list(query.shape), f"embed_dim={width}",
                "check how the module was made")  # fmt: skip
    if width % heads:
        _refuse("the heads do not divide the width", f"{heads} heads, width {width}",
                "a divisor", "choose another number of heads", _lathe.ValueError)  # fmt: skip
    if padding is not None and padding.ndim != query.ndim - 1:
        _refuse("key_padding_mask has another rank", list(padding.shape),
                "[batch, keys], or [keys]", "give a flag for each key")  # fmt: skip
    wanted = (*key.shape[1:-1], key.shape[0])
    if padding is not None and padding.shape != wanted:
        _refuse("key_padding_mask does not fit the keys", list(padding.shape),
                f"{list(wanted)}: a flag for each key", "check the order of the axes")  # fmt: skip


@typed
def multi_head_attention_forward(
    query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v,
    add_zero_attn, dropout_p, out_proj_weight, out_proj_bias, training=True, key_padding_mask=None,
    need_weights=True, attn_mask=None, use_separate_proj_weight=False, q_proj_weight=None,
    k_proj_weight=None, v_proj_weight=None, static_k=None, static_v=None,
    average_attn_weights=True, is_causal=False,
):  # fmt: skip
    """(output, weights or None) of attention with several heads; see MultiheadAttention.

    query[time, batch, width], or [time, width]; key and value alike, with a time of their own.
    """
    _check_operands(query, key, value, key_padding_mask, embed_dim_to_check, num_heads)
    alone = query.ndim == 2
    if alone:
        same = query is key, key is value
        query = ops.unsqueeze(query, 1)
        key = query if same[0] else ops.unsqueeze(key, 1)
        value = key if same[1] else ops.unsqueeze(value, 1)
        if key_padding_mask is not None:
            key_padding_mask = ops.unsqueeze(key_padding_mask, 0)
    queries, batch, width = query.shape
    keys = key.shape[0]
    if is_causal and attn_mask is None:
        _refuse("is_causal says what a mask is like, and there is none", "attn_mask=None",
                "attn_mask, too", "make one: nn.Transformer.generate_square_subsequent_mask(n)",
                _lathe.ValueError)  # fmt: skip
    if attn_mask is not None:
        attn_mask = _checked_mask(_added(attn_mask, query.dtype), num_heads, batch, queries, keys)
    masks = _Masks(attn_mask, _added(key_padding_mask, query.dtype))
    if use_separate_proj_weight:
        weights = [q_proj_weight, k_proj_weight, v_proj_weight]
        third = None if in_proj_bias is None else ops.split(in_proj_bias, width)
        q, k, v = _projected(query, key, value, weights, third or (None,) * 3)
    else:
        q, k, v = _projected(query, key, value, [in_proj_weight], [in_proj_bias])
    if bias_k is not None and bias_v is not None:
        k, v = (
            ops.cat([x, ops.expand(more, [1, batch, more.shape[-1]])])
            for x, more in ((k, bias_k), (v, bias_v))
        )
        masks.grow()
    q = _heads(q, num_heads)
    k = _heads(k, num_heads) if static_k is None else static_k
    v = _heads(v, num_heads) if static_v is None else static_v
    if add_zero_attn:
        k, v = (
            _appended(x, ops.zeros((x.shape[0], 1, x.shape[2]), dtype=x.dtype, device=x.device))
            for x in (k, v)
        )
        masks.grow()
    mask = masks.joined(batch, num_heads, k.shape[1])
    dropout = dropout_p if training else 0.0
    weights = None
    if need_weights:
        output, weights = _weighed(q, k, v, mask, dropout)
    else:
        output = F.scaled_dot_product_attention(q, k, v, mask, dropout)
    output = ops.reshape(ops.transpose(output, 0, 1), [queries, batch, width])
    output = ops.linear(output, out_proj_weight, out_proj_bias)
    if weights is not None:
        weights = ops.reshape(weights, [batch, num_heads, queries, k.shape[1]])
        weights = ops.mean(weights, 1) if average_attn_weights else weights
    if alone:
        output = ops.squeeze(output, [1])
        weights = None if weights is None else ops.squeeze(weights, [0])
    return output, weights


def _weighed(q, k, v, mask, dropout):
    """Attention whose weights are wanted, too."""
    scores = ops.matmul(q * math.sqrt(1.0 / q.shape[-1]), ops.transpose(k, -2, -1))
    weights = ops.softmax(scores if mask is None else scores + mask, -1)
    if dropout:
        weights = F.dropout(weights, dropout, True)
    return ops.matmul(weights, v), weights


class MultiheadAttention(Module):
    """softmax(Q K^T / sqrt(width of a head)) V for each head, of projected query, key and value.

    Of [time, batch, embed_dim] ([batch, time, ...] with batch_first), or [time, embed_dim]. kdim,
    vdim:
    the widths of key and value, if they are others. add_bias_kv: one more key and value that are
    learned; add_zero_attn: one of zeros. Gives (output, attention weights or None).
    """

    @typed
    def __init__(
        self, embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False, add_zero_attn=False,
        kdim=None, vdim=None, batch_first=False, device=None, dtype=None,
    ):  # fmt: skip
        super().__init__()
        if embed_dim < 1 or num_heads < 1 or embed_dim % num_heads:
            raise _lathe.ValueError(
                "the heads do not divide the width", op=_NAME,
                got=f"embed_dim={embed_dim}, num_heads={num_heads}",
                expected="a positive width and a divisor of it", next="choose other numbers",
            )  # fmt: skip
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, dropout
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.batch_first, self.add_zero_attn = batch_first, add_zero_attn
        self.head_dim = embed_dim // num_heads
        kind = {"device": device, "dtype": dtype}
        self._same = self.kdim == embed_dim and self.vdim == embed_dim
        widths = {"q": embed_dim, "k": self.kdim, "v": self.vdim}
        shapes = {
            f"{n}_proj_weight": None if self._same else (embed_dim, w) for n, w in widths.items()
        }
        shapes["in_proj_weight"] = (3 * embed_dim, embed_dim) if self._same else None
        shapes["in_proj_bias"] = (3 * embed_dim,) if bias else None
        for name, shape in shapes.items():
            setattr(self, name, None if shape is None else Parameter(ops.zeros(shape, **kind)))
        self.out_proj = Linear(embed_dim, embed_dim, bias=bias, **kind)
        for name in ("bias_k", "bias_v"):
            more = Parameter(ops.zeros((1, 1, embed_dim), **kind)) if add_bias_kv else None
            setattr(self, name, more)
        self._reset_parameters()

    def _reset_parameters(self):
        for name in ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"):
            if getattr(self, name) is not None:
                init.xavier_uniform_(getattr(self, name))
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        for more in (self.bias_k, self.bias_v):
            if more is not None:
                init.xavier_normal_(more)

    def forward(
        self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None,
        average_attn_weights=True, is_causal=False,
    ):  # fmt: skip
        """key_padding_mask[batch, keys]: keys that no query sees. attn_mask[queries, keys] (or one
        for
        each batch and head): keys that a query does not see. is_causal: says that attn_mask is."""
        turn = self.batch_first and query.ndim == 3
        if turn:
            same = query is key, key is value
            query = ops.transpose(query, 0, 1)
            key = query if same[0] else ops.transpose(key, 0, 1)
            value = key if same[1] else ops.transpose(value, 0, 1)
        output, weights = multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight,
            self.in_proj_bias, self.bias_k, self.bias_v, self.add_zero_attn, self.dropout,
            self.out_proj.weight, self.out_proj.bias, self.training, key_padding_mask,
            need_weights, attn_mask, not self._same, self.q_proj_weight, self.k_proj_weight,
            self.v_proj_weight, None, None, average_attn_weights, is_causal,
        )  # fmt: skip
        return (ops.transpose(output, 0, 1) if turn else output), weights
