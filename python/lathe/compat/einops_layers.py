"""einops' layers as modules of lathe.nn: what `backend.layers()` gives."""

from einops.layers import RearrangeMixin, ReduceMixin
from einops.layers._einmix import _EinmixMixin

import lathe as lt
from lathe import nn


class Rearrange(RearrangeMixin, nn.Module):
    def forward(self, x):
        return self._apply_recipe(x)


class Reduce(ReduceMixin, nn.Module):
    def forward(self, x):
        return self._apply_recipe(x)


def parameter(shape, bound):
    return nn.Parameter(lt.zeros(tuple(shape)).uniform_(-bound, bound))


def rearrangement(pattern, lengths):
    return None if pattern is None else Rearrange(pattern, **(lengths or {}))


class EinMix(_EinmixMixin, nn.Module):
    """A linear layer whose axes are named; einops works out its shapes."""

    def _create_parameters(self, weight_shape, weight_bound, bias_shape, bias_bound):
        self.weight = parameter(weight_shape, weight_bound)
        self.bias = None if bias_shape is None else parameter(bias_shape, bias_bound)

    def _create_rearrange_layers(self, before, before_lengths, after, after_lengths):
        self.before = rearrangement(before, before_lengths)
        self.after = rearrangement(after, after_lengths)

    def forward(self, x):
        x = x if self.before is None else self.before(x)
        x = lt.einsum(self.einsum_pattern, x, self.weight)
        x = x if self.bias is None else x + self.bias
        return x if self.after is None else self.after(x)
