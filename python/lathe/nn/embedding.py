"""Rows of a table by index, and sums of bags of them."""

from .. import _lathe, ops
from .._errors import our_class, typed
from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter


class _Table(Module):
    def _set_table(self, num_embeddings, embedding_dim, padding_idx, dtype, device):
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise _lathe.IndexError(
                "there is no such row to pad with",
                op=our_class(self).__name__,
                got=f"padding_idx={padding_idx}",
                expected=f"at least -{num_embeddings} and below {num_embeddings}",
                next="choose a row of the table",
            )
        self.padding_idx = None if padding_idx is None else padding_idx % num_embeddings
        self.weight = Parameter(
            ops.zeros((num_embeddings, embedding_dim), dtype=dtype, device=device)
        )
        self.reset_parameters()

    def reset_parameters(self):
        init.normal_(self.weight)
        if self.padding_idx is not None:
            self.weight.detach()[self.padding_idx] = 0

    @classmethod
    def _from_table(cls, embeddings, freeze, **settings):
        layer = cls(*embeddings.shape, **settings, dtype=embeddings.dtype, device=embeddings.device)
        layer.weight = Parameter(embeddings, requires_grad=not freeze)
        return layer

    def _described(self, usual):
        """The sizes, and what is set otherwise than usual."""
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        for name, value in usual.items():
            if getattr(self, name) != value:
                text += f", {name}={getattr(self, name)}"
        return text


class Embedding(_Table):
    """A row of weight for each integer of x. weight[num_embeddings, embedding_dim].

    padding_idx: the row that is zeros at first, and is not trained.
    """

    @typed
    def __init__(
        self,
        num_embeddings,
        embedding_dim,
        padding_idx=None,
        max_norm=None,
        norm_type=2.0,
        scale_grad_by_freq=False,
        sparse=False,
        device=None,
        dtype=None,
    ):
        super().__init__()
        self._set_table(num_embeddings, embedding_dim, padding_idx, dtype, device)
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse

    def forward(self, input):
        return F.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self):
        usual = {"padding_idx": None, "max_norm": None, "norm_type": 2, "scale_grad_by_freq": False}
        return self._described(usual | {"sparse": False})

    @classmethod
    @typed
    def from_pretrained(
        cls,
        embeddings,
        freeze=True,
        padding_idx=None,
        max_norm=None,
        norm_type=2.0,
        scale_grad_by_freq=False,
        sparse=False,
    ):
        """A layer whose table is this tensor; it is not trained unless freeze is False."""
        settings = {"padding_idx": padding_idx, "max_norm": max_norm, "norm_type": norm_type}
        settings |= {"scale_grad_by_freq": scale_grad_by_freq, "sparse": sparse}
        return cls._from_table(embeddings, freeze, **settings)


class EmbeddingBag(_Table):
    """The sum, mean or largest elements of bags of rows of weight[num_embeddings, embedding_dim].

    x[n, length] holds n bags; x[m] holds one behind the other, beginning at offsets.
    """

    @typed
    def __init__(
        self,
        num_embeddings,
        embedding_dim,
        max_norm=None,
        norm_type=2.0,
        scale_grad_by_freq=False,
        mode="mean",  # not an op: what becomes of a bag
        sparse=False,
        include_last_offset=False,
        padding_idx=None,
        device=None,
        dtype=None,
    ):
        super().__init__()
        self._set_table(num_embeddings, embedding_dim, padding_idx, dtype, device)
        self.max_norm, self.norm_type, self.mode = max_norm, norm_type, mode
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        self.include_last_offset = include_last_offset

    def forward(self, input, offsets=None, per_sample_weights=None):
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self):
        usual = {"max_norm": None, "norm_type": 2, "scale_grad_by_freq": False}
        text = self._described(usual) + f", mode={self.mode!r}"
        return text if self.padding_idx is None else text + f", padding_idx={self.padding_idx}"

    @classmethod
    @typed
    def from_pretrained(
        cls,
        embeddings,
        freeze=True,
        max_norm=None,
        norm_type=2.0,
        scale_grad_by_freq=False,
        mode="mean",  # not an op: what becomes of a bag
        sparse=False,
        include_last_offset=False,
        padding_idx=None,
    ):
        """A layer whose table is this tensor; it is not trained unless freeze is False."""
        settings = {"padding_idx": padding_idx, "max_norm": max_norm, "norm_type": norm_type}
        settings["mode"] = mode
        settings |= {"scale_grad_by_freq": scale_grad_by_freq, "sparse": sparse}
        return cls._from_table(
            embeddings, freeze, include_last_offset=include_last_offset, **settings
        )
