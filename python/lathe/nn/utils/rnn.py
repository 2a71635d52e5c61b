"""Sequences of different lengths in one tensor: padded, or packed step by step.

Packed data holds the first elements of all sequences, then the second ones, and so on, the longest
sequence first; `batch_sizes` says how many sequences reach each step.
"""

from collections import namedtuple

from ... import _lathe, ops
from ..._errors import typed
from ..._lathe import Tensor

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence",
    "pad_packed_sequence", "pad_sequence", "unpack_sequence", "unpad_sequence",
]  # fmt: skip


class PackedSequence(
    namedtuple("PackedSequence", ("data", "batch_sizes", "sorted_indices", "unsorted_indices"))
):
    """Packed sequences: data[elements, ...], batch_sizes (int64, on the cpu), and the order in
    which the sequences stand, with the way back; None: as they were."""

    __slots__ = ()

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if sorted_indices is not None and unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args, **kwargs):
        """Its data converted or moved, as by Tensor.to."""
        return self._replace(data=self.data.to(*args, **kwargs))

    def float(self):
        return self.to(_lathe.float32)

    def double(self):
        return self.to(_lathe.float64)

    def half(self):
        return self.to(_lathe.float16)

    def cpu(self):
        return self.to(device="cpu")

    @property
    def is_cuda(self):
        return False


@typed
def invert_permutation(permutation):
    """Where each number stands in a permutation; None for None."""
    if permutation is None:
        return None
    places = ops.arange(0, permutation.numel(), device=permutation.device)
    return ops.scatter(ops.zeros_like(permutation), 0, permutation, places)


def _lengths(lengths, batch):
    if isinstance(lengths, Tensor) and _lathe._symbolic(lengths):
        raise _lathe.TraceError(
            "how many sequences are left at each step is a size, which no data of a trace can say",
            op="pack_padded_sequence", got="lengths that are a tensor of the trace",
            expected="a list of lengths, which the program then holds for",
            next="pass lengths.tolist(), made outside of the traced function",
        )  # fmt: skip
    counts = lengths.tolist() if isinstance(lengths, Tensor) else [int(n) for n in lengths]
    if len(counts) != batch or not counts or min(counts) < 1:
        raise _lathe.ValueError(
            "the lengths do not fit the batch", op="pack_padded_sequence", got=counts,
            expected=f"{batch} lengths of 1 or more", next="leave empty sequences out",
        )  # fmt: skip
    return counts


@typed
def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """Packs sequences that are padded: input[time, batch, ...], or [batch, time, ...].

    enforce_sorted=True: the longest stands first, the rest in descending order of length.
    """
    if batch_first:
        input = ops.transpose(input, 0, 1)
    counts = _lengths(lengths, int(input.shape[1]))
    order = None
    if not enforce_sorted:
        places = sorted(range(len(counts)), key=lambda i: -counts[i])
        counts = [counts[i] for i in places]
        order = _lathe.tensor(places, dtype=_lathe.int64, device=input.device)
        input = ops.index_select(input, 1, order)
    if counts != sorted(counts, reverse=True):
        raise _lathe.ValueError(
            "the sequences are not in descending order of length", op="pack_padded_sequence",
            got=counts, expected="the longest first", next="pass enforce_sorted=False",
        )  # fmt: skip
    if counts[0] > int(input.shape[0]):
        raise _lathe.ValueError(
            "a sequence is longer than the padded input", op="pack_padded_sequence", got=counts[0],
            expected=f"at most {int(input.shape[0])}", next="check the lengths, and batch_first",
        )  # fmt: skip
    sizes = [sum(n > t for n in counts) for t in range(counts[0])]
    data = ops.cat([input[t, :n] for t, n in enumerate(sizes)])
    return PackedSequence(data, _lathe.tensor(sizes, dtype=_lathe.int64), order)


@typed
def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """(padded sequences [time, batch, ...] or [batch, time, ...], their lengths)."""
    sizes = sequence.batch_sizes.tolist()
    longest = len(sizes) if total_length is None else total_length
    if longest < len(sizes):
        raise _lathe.ValueError(
            "the sequences do not fit into total_length", op="pad_packed_sequence",
            got=total_length, expected=f"at least {len(sizes)}", next="leave total_length out",
        )  # fmt: skip
    steps = []
    for piece in ops.split(sequence.data, sizes):
        missing = sizes[0] - piece.shape[0]
        if missing:
            rest = ops.full(
                (missing, *piece.shape[1:]), padding_value, dtype=piece.dtype, device=piece.device
            )
            piece = ops.cat([piece, rest])
        steps.append(piece)
    for _ in range(longest - len(sizes)):
        steps.append(ops.full_like(steps[0], padding_value))
    padded = ops.stack(steps)
    if batch_first:
        padded = ops.transpose(padded, 0, 1)
    lengths = _lathe.tensor([sum(n > i for n in sizes) for i in range(sizes[0])])
    if sequence.unsorted_indices is not None:
        padded = ops.index_select(padded, 0 if batch_first else 1, sequence.unsorted_indices)
        lengths = ops.index_select(lengths, 0, sequence.unsorted_indices.cpu())
    return padded, lengths


@typed
def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """Sequences [time, ...] of different lengths as one tensor, filled up at one side."""
    sequences = list(ops.unbind(sequences)) if isinstance(sequences, Tensor) else list(sequences)
    longest = max(int(s.shape[0]) for s in sequences)
    padded = []
    for s in sequences:
        missing = longest - int(s.shape[0])
        if missing:
            rest = ops.full((missing, *s.shape[1:]), padding_value, dtype=s.dtype, device=s.device)
            s = ops.cat([s, rest] if padding_side == "right" else [rest, s])
        padded.append(s)
    return ops.stack(padded, 0 if batch_first else 1)


@typed
def unpad_sequence(padded_sequences, lengths, batch_first=False):
    """The sequences of a padded tensor, each without its padding: copies, as in PyTorch."""
    if not batch_first:
        padded_sequences = ops.transpose(padded_sequences, 0, 1)
    counts = lengths.tolist() if isinstance(lengths, Tensor) else list(lengths)
    return [ops.clone(row[:n]) for row, n in zip(ops.unbind(padded_sequences), counts)]


@typed
def pack_sequence(sequences, enforce_sorted=True):
    """Packs a list of sequences [time, ...]."""
    lengths = [int(s.shape[0]) for s in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


@typed
def unpack_sequence(packed_sequences):
    """The list of sequences that were packed."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
