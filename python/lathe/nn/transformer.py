"""The Transformer (Vaswani et al. 2017): encoder and decoder layers, stacks of them, and both
together."""

import math

from .. import _lathe, ops
from .._errors import typed
from . import functional as F
from . import init
from .activations import Dropout
from .attention import MultiheadAttention
from .containers import ModuleList
from .layers import Linear
from .module import Module
from .norms import LayerNorm

_ACTIVATIONS = {"relu": F.relu, "gelu": F.gelu}  # not an op: names of settings


def _activation(given):
    if not isinstance(given, str):
        return given
    if given not in _ACTIVATIONS:
        raise _lathe.ValueError(
            "an unknown activation", op="Transformer", got=repr(given),
            expected="'relu', 'gelu' or a function", next="pass the function itself",
        )  # fmt: skip
    return _ACTIVATIONS[given]


class _Layer(Module):
    """What both kinds of layers have in common: a feed-forward net, and how parts are added."""

    def _build(self, parts, d_model, feedforward, dropout, activation, eps, norm_first, bias, kind):
        """Norms and dropouts for so many parts, of which the net is the last."""
        self.linear1 = Linear(d_model, feedforward, bias=bias, **kind)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(feedforward, d_model, bias=bias, **kind)
        self.norm_first = norm_first
        for k in range(1, parts + 1):
            setattr(self, f"norm{k}", LayerNorm(d_model, eps=eps, bias=bias, **kind))  # not an op
        for k in range(1, parts + 1):
            setattr(self, f"dropout{k}", Dropout(dropout))  # not an op: a name
        self.activation = _activation(activation)

    def _net(self, x):
        return self.linear2(self.dropout(self.activation(self.linear1(x))))

    def _add(self, x, *blocks):
        """x after each block: normalised before it, or after it is added."""
        for k, block in enumerate(blocks, 1):
            norm, dropout = getattr(self, f"norm{k}"), getattr(self, f"dropout{k}")  # not an op
            x = x + dropout(block(norm(x))) if self.norm_first else norm(x + dropout(block(x)))
        return x


class TransformerEncoderLayer(_Layer):
    """Self-attention and a feed-forward net, each added to what it reads and normalised."""

    @typed
    def __init__(
        self, d_model, nhead, dim_feedforward=2048, dropout=0.1, activation=F.relu,
        layer_norm_eps=1e-5, batch_first=False, norm_first=False, bias=True, device=None,
        dtype=None,
    ):  # fmt: skip
        super().__init__()
        kind = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(
            d_model, nhead, dropout, bias, batch_first=batch_first, **kind
        )
        self._build(
            2, d_model, dim_feedforward, dropout, activation, layer_norm_eps, norm_first, bias, kind
        )

    def forward(self, src, src_mask=None, src_key_padding_mask=None, is_causal=False):
        """src_mask: what a position does not see; src_key_padding_mask: what none does."""

        def attend(x):
            return self.self_attn(
                x, x, x, attn_mask=src_mask, key_padding_mask=src_key_padding_mask,
                need_weights=False, is_causal=is_causal,
            )[0]  # fmt: skip

        return self._add(src, attend, self._net)


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to the encoder's output, and a feed-forward net."""

    @typed
    def __init__(
        self, d_model, nhead, dim_feedforward=2048, dropout=0.1, activation=F.relu,
        layer_norm_eps=1e-5, batch_first=False, norm_first=False, bias=True, device=None,
        dtype=None,
    ):  # fmt: skip
        super().__init__()
        kind = {"device": device, "dtype": dtype}
        for name in ("self_attn", "multihead_attn"):
            attention = MultiheadAttention(
                d_model, nhead, dropout, bias, batch_first=batch_first, **kind
            )
            setattr(self, name, attention)
        self._build(
            3, d_model, dim_feedforward, dropout, activation, layer_norm_eps, norm_first, bias, kind
        )

    def forward(
        self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None,
        memory_key_padding_mask=None, tgt_is_causal=False, memory_is_causal=False,
    ):  # fmt: skip
        """memory: the encoder's output; the masks as the encoder layer's, of both attentions."""

        def attend(x):
            return self.self_attn(
                x, x, x, attn_mask=tgt_mask, key_padding_mask=tgt_key_padding_mask,
                need_weights=False, is_causal=tgt_is_causal,
            )[0]  # fmt: skip

        def look(x):
            return self.multihead_attn(
                x, memory, memory, attn_mask=memory_mask,
                key_padding_mask=memory_key_padding_mask, need_weights=False,
                is_causal=memory_is_causal,
            )[0]  # fmt: skip

        return self._add(tgt, attend, look, self._net)


def _copies(layer, count):
    from copy import deepcopy  # not above: few programs need it

    return ModuleList([deepcopy(layer) for _ in range(count)])


class TransformerEncoder(Module):
    """num_layers copies of an encoder layer, one after the other, and a norm."""

    @typed
    def __init__(
        self, encoder_layer, num_layers, norm=None, enable_nested_tensor=True, mask_check=True
    ):
        super().__init__()
        self.layers, self.num_layers = _copies(encoder_layer, num_layers), num_layers
        self.norm = norm
        self.enable_nested_tensor, self.mask_check = enable_nested_tensor, mask_check

    def forward(self, src, mask=None, src_key_padding_mask=None, is_causal=None):
        for layer in self.layers:
            src = layer(src, mask, src_key_padding_mask, bool(is_causal))
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Module):
    """num_layers copies of a decoder layer, one after the other, and a norm."""

    @typed
    def __init__(self, decoder_layer, num_layers, norm=None):
        super().__init__()
        self.layers, self.num_layers = _copies(decoder_layer, num_layers), num_layers
        self.norm = norm

    def forward(
        self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None,
        memory_key_padding_mask=None, tgt_is_causal=None, memory_is_causal=False,
    ):  # fmt: skip
        for layer in self.layers:
            tgt = layer(
                tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask,
                memory_key_padding_mask, bool(tgt_is_causal), memory_is_causal,
            )  # fmt: skip
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """An encoder of the source, and a decoder of the target that attends to it."""

    @typed
    def __init__(
        self, d_model=512, nhead=8, num_encoder_layers=6, num_decoder_layers=6,
        dim_feedforward=2048, dropout=0.1, activation=F.relu, custom_encoder=None,
        custom_decoder=None, layer_norm_eps=1e-5, batch_first=False, norm_first=False, bias=True,
        device=None, dtype=None,
    ):  # fmt: skip
        super().__init__()
        kind = {"device": device, "dtype": dtype}
        settings = (
            d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first,
            norm_first, bias,
        )  # fmt: skip

        def norm():
            return LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **kind)

        self.encoder = custom_encoder or TransformerEncoder(
            TransformerEncoderLayer(*settings, **kind), num_encoder_layers, norm()
        )
        self.decoder = custom_decoder or TransformerDecoder(
            TransformerDecoderLayer(*settings, **kind), num_decoder_layers, norm()
        )
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first
        self._reset_parameters()

    def _reset_parameters(self):
        for parameter in self.parameters():
            if parameter.ndim > 1:
                init.xavier_uniform_(parameter)

    @staticmethod
    def generate_square_subsequent_mask(sz, device=None, dtype=None):
        """A mask by which each position sees itself and what stands before it."""
        hidden = ops.full((sz, sz), -math.inf, dtype=dtype, device=device)
        return ops.triu(hidden, 1)

    def forward(
        self, src, tgt, src_mask=None, tgt_mask=None, memory_mask=None, src_key_padding_mask=None,
        tgt_key_padding_mask=None, memory_key_padding_mask=None, src_is_causal=None,
        tgt_is_causal=None, memory_is_causal=False,
    ):  # fmt: skip
        """The decoder's output for tgt, which attends to the encoder's for src."""
        batch = 0 if self.batch_first else 1
        batched = src.ndim == 3
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model or src.ndim != tgt.ndim:
            raise _shape_error(src, tgt, f"a last axis of d_model={self.d_model}")
        if batched and src.shape[batch] != tgt.shape[batch]:
            raise _shape_error(src, tgt, "one size of the batch")
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        return self.decoder(
            tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask,
            tgt_is_causal, memory_is_causal,
        )  # fmt: skip


def _shape_error(src, tgt, expected):
    return _lathe.ShapeError(
        "source and target do not fit", op="Transformer",
        got=f"{list(src.shape)} and {list(tgt.shape)}", expected=expected,
        next="check batch_first, and how the module was made",
    )  # fmt: skip
