"""Pruning: a parameter is the one that it was times a mask of zeros and ones.

The parameter becomes `<name>_orig`, and `<name>_mask` a buffer beside it; a hook sets <name> to
their product before each call of the module. What is pruned again keeps its zeros.
"""

import numbers

from ... import _lathe, linalg, ops
from ..._errors import typed
from .vectors import parameters_to_vector

__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured",
    "PruningContainer", "RandomStructured", "RandomUnstructured", "custom_from_mask",
    "global_unstructured", "identity", "is_pruned", "l1_unstructured", "ln_structured",
    "random_structured", "random_unstructured", "remove",
]  # fmt: skip


def _hooks(module, name=None):
    """(key, method) of what prunes a module's parameter, or any of them."""
    for key, hook in tuple(module._forward_pre_hooks.items()):
        method = hook.function
        if isinstance(method, BasePruningMethod) and name in (None, method._tensor_name):
            yield key, method


def _scores(tensor, importance_scores):
    if importance_scores is None:
        return tensor
    if tuple(importance_scores.shape) != tuple(tensor.shape):
        raise _lathe.ShapeError(
            "there is not one importance for each element", op="prune",
            got=f"{list(importance_scores.shape)}", expected=f"{list(tensor.shape)}",
            next="give importance_scores of the parameter's shape",
        )  # fmt: skip
    return importance_scores


class BasePruningMethod:
    """A way to prune. A subclass defines compute_mask(t, default_mask), and as PRUNING_TYPE what of
    t it is given where a mask is there already: "unstructured" (the elements that are left),
    "structured" (the slices along its `dim` that are left) or "global" (all)."""

    PRUNING_TYPE = "unstructured"
    _tensor_name = None

    def __call__(self, module, inputs):
        module.__dict__[self._tensor_name] = self.apply_mask(module)

    def compute_mask(self, t, default_mask):
        """The mask for elements of these importances; default_mask is the one so far."""
        raise NotImplementedError(f"{type(self).__name__} has no compute_mask()")

    def apply_mask(self, module):
        """The parameter's value: its original times the mask."""
        mask = getattr(module, self._tensor_name + "_mask")
        original = getattr(module, self._tensor_name + "_orig")
        return mask.to(original.dtype) * original

    @classmethod
    def apply(cls, module, name, *args, importance_scores=None, **kwargs):
        """Prunes module.<name> by cls(*args, **kwargs), which it gives; where it was pruned before,
        a PruningContainer of both."""
        now = getattr(module, name)
        scores = _scores(now, importance_scores)
        method = cls(*args, **kwargs)
        method._tensor_name = name
        before = list(_hooks(module, name))
        if before:
            (key, old), *_ = before
            added = method
            method = PruningContainer(*(old if isinstance(old, PruningContainer) else (old,)))
            method.add_pruning_method(added)
            mask = method.compute_mask(scores, getattr(module, name + "_mask").detach().clone())
            del module._forward_pre_hooks[key]
        else:
            mask = method.compute_mask(scores, ops.ones_like(now))
            module.register_parameter(name + "_orig", now)
            del module.__dict__[name]
        module.register_buffer(name + "_mask", mask.detach())
        method(module, ())
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t, default_mask=None, importance_scores=None):
        """t with zeros where this method would prune it."""
        mask = ops.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(_scores(t, importance_scores), mask)

    def remove(self, module):
        """Makes the pruned value the parameter's own: the original, which an optimizer may hold."""
        value = self.apply_mask(module).detach()
        original = getattr(module, self._tensor_name + "_orig")
        for part in ("", "_orig", "_mask"):
            delattr(module, self._tensor_name + part)
        original.data = value
        module.register_parameter(self._tensor_name, original)


class PruningContainer(BasePruningMethod):
    """Several methods, one after the other, each on what those before it left."""

    def __init__(self, *args):
        self._pruning_methods = ()
        self._tensor_name = args[0]._tensor_name if args else None
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method):
        """The next one; it prunes the same parameter."""
        if not isinstance(method, BasePruningMethod):
            raise _lathe.TypeError(
                "this does not say how to prune", op="add_pruning_method", got=type(method),
                expected="a BasePruningMethod", next="derive its class from BasePruningMethod",
            )  # fmt: skip
        if method._tensor_name != self._tensor_name:
            raise _lathe.ValueError(
                "the methods of a container prune one parameter", op="add_pruning_method",
                got=repr(method._tensor_name), expected=repr(self._tensor_name),
                next="make a container for each parameter",
            )  # fmt: skip
        self._pruning_methods += (method,)

    def __len__(self):
        return len(self._pruning_methods)

    def __iter__(self):
        return iter(self._pruning_methods)

    def __getitem__(self, idx):
        return self._pruning_methods[idx]

    def compute_mask(self, t, default_mask):
        """That of the last method, computed for what default_mask leaves."""
        method, mask = self._pruning_methods[-1], default_mask.to(t.dtype, copy=True)
        if method.PRUNING_TYPE == "unstructured":
            left = default_mask == 1
            mask[left] = method.compute_mask(t[left], mask[left]).to(mask.dtype)
        elif method.PRUNING_TYPE == "structured":
            others = _other_axes(t, method.dim)
            left = ops.nonzero(ops.sum(default_mask, others))[:, 0]
            parts = (ops.index_select(x, method.dim, left) for x in (t, mask))
            found = method.compute_mask(*parts).to(mask.dtype)
            mask = ops.index_copy(mask, method.dim, left, found)
        elif method.PRUNING_TYPE == "global":
            mask = method.compute_mask(t, mask).to(mask.dtype)
        else:
            raise _lathe.ValueError(
                "there is no such way to prune", op="compute_mask", got=repr(method.PRUNING_TYPE),
                expected="'unstructured', 'structured' or 'global'",
                next=f"set PRUNING_TYPE of {type(method).__name__} to one of them",
            )  # fmt: skip
        return mask


def _other_axes(t, dim):
    """All axes but one, which there is, beside others."""
    if t.ndim <= 1:
        raise _lathe.ValueError(
            "a tensor of one axis has no slices to prune", op="prune", got=f"{list(t.shape)}",
            expected="2 axes or more", next="prune its elements: l1_unstructured()",
        )  # fmt: skip
    if not -t.ndim <= dim < t.ndim:
        raise _lathe.IndexError(
            "there is no such axis", op="prune", got=f"dim={dim}",
            expected=f"-{t.ndim} to {t.ndim - 1}", next=f"the shape is {list(t.shape)}",
        )  # fmt: skip
    return [k for k in range(t.ndim) if k != dim % t.ndim]


class _Amount(BasePruningMethod):
    """Those that prune so many, an int, or such a share, a float, of what is left."""

    def __init__(self, amount):
        whole = isinstance(amount, numbers.Integral)
        if not isinstance(amount, numbers.Real):
            raise _lathe.TypeError(
                "how much to prune is a number", op="prune", got=type(amount).__name__,
                expected="an int or a float", next="give a share of 0 to 1, or how many",
            )  # fmt: skip
        if amount < 0 or (not whole and not amount <= 1):
            raise _lathe.ValueError(
                "this is no amount to prune", op="prune", got=amount,
                expected="a float of 0 to 1, or an int of 0 or more",
                next="give a share, or how many as an int",
            )  # fmt: skip
        self.amount = amount

    def _count(self, size):
        if not isinstance(self.amount, numbers.Integral):
            return round(self.amount * size)
        if self.amount > size:
            raise _lathe.ValueError(
                "there is less left than is to be pruned", op="prune", got=self.amount,
                expected=f"{size} or less", next="give a smaller amount, or a share",
            )  # fmt: skip
        return int(self.amount)


class _Elements(_Amount):
    """Elements of the smallest importance."""

    def compute_mask(self, t, default_mask):
        mask = default_mask.clone()
        count = self._count(int(t.numel()))
        if count:
            scores = ops.reshape(self._importance(t.detach()), [-1])
            _, lowest = ops.topk(scores, count, 0, False)
            mask.view(-1)[lowest] = 0
        return mask


class _Slices(_Amount):
    """Slices along `dim` of the smallest importance."""

    PRUNING_TYPE = "structured"

    def compute_mask(self, t, default_mask):
        others, size = _other_axes(t, self.dim), int(t.shape[self.dim])
        count = self._count(size)
        if not count:
            return default_mask
        _, kept = ops.topk(self._importance(t.detach(), others), size - count, 0)
        slices = ops.index_fill(ops.zeros(size, dtype=t.dtype, device=t.device), 0, kept, 1)
        shape = [1 if k in others else size for k in range(t.ndim)]
        return default_mask.to(t.dtype) * ops.reshape(slices, shape)


class Identity(BasePruningMethod):
    """Prunes nothing: the mask is of ones."""

    def compute_mask(self, t, default_mask):
        return default_mask


class RandomUnstructured(_Elements):
    """Elements at random: so many, or such a share."""

    def _importance(self, t):
        return ops.rand_like(t)


class L1Unstructured(_Elements):
    """The elements that are nearest to 0: so many, or such a share."""

    def _importance(self, t):
        return ops.abs(t)

    @classmethod
    def apply(cls, module, name, amount, importance_scores=None):
        """Prunes module.<name> by importance_scores, or by its own elements."""
        return super().apply(module, name, amount, importance_scores=importance_scores)


class RandomStructured(_Slices):
    """Slices along an axis at random: so many, or such a share."""

    def __init__(self, amount, dim=-1):
        super().__init__(amount)
        self.dim = dim

    def _importance(self, t, others):
        return ops.rand(t.shape[self.dim], device=t.device)


class LnStructured(_Slices):
    """The slices along an axis whose n-norms are the smallest: so many, or such a share."""

    def __init__(self, amount, n, dim=-1):
        super().__init__(amount)
        self.n, self.dim = n, dim

    def _importance(self, t, others):
        if self.n == "nuc" or (self.n == "fro" and len(others) == 2):
            return linalg.matrix_norm(t, self.n, others)
        return linalg.vector_norm(t, 2 if self.n == "fro" else self.n, others)

    @classmethod
    def apply(cls, module, name, amount, n, dim, importance_scores=None):
        """Prunes module.<name> by importance_scores, or by its own elements."""
        return super().apply(module, name, amount, n, dim, importance_scores=importance_scores)


class CustomFromMask(BasePruningMethod):
    """What is 0 in a mask that is given."""

    PRUNING_TYPE = "global"

    def __init__(self, mask):
        self.mask = mask

    def compute_mask(self, t, default_mask):
        if tuple(self.mask.shape) != tuple(default_mask.shape):
            raise _lathe.ShapeError(
                "the mask is of another shape than the parameter", op="custom_from_mask",
                got=f"{list(self.mask.shape)}", expected=f"{list(default_mask.shape)}",
                next="give a 0 or 1 for each element",
            )  # fmt: skip
        return default_mask * self.mask.to(default_mask.dtype)


@typed
def identity(module, name):
    """Makes module.<name> a pruned parameter from which nothing is pruned."""
    Identity.apply(module, name)
    return module


@typed
def random_unstructured(module, name, amount):
    """Prunes elements of module.<name> at random; amount is how many, or as a float a share."""
    RandomUnstructured.apply(module, name, amount)
    return module


@typed
def l1_unstructured(module, name, amount, importance_scores=None):
    """Prunes the elements of module.<name> that are nearest to 0, or of the smallest importance."""
    L1Unstructured.apply(module, name, amount, importance_scores)
    return module


@typed
def random_structured(module, name, amount, dim):
    """Prunes slices of module.<name> along dim at random."""
    RandomStructured.apply(module, name, amount, dim)
    return module


@typed
def ln_structured(module, name, amount, n, dim, importance_scores=None):
    """Prunes the slices of module.<name> along dim whose n-norms are the smallest."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores)
    return module


@typed
def custom_from_mask(module, name, mask):
    """Prunes the elements of module.<name> where mask is 0."""
    CustomFromMask.apply(module, name, mask)
    return module


@typed
def global_unstructured(parameters, pruning_method, importance_scores=None, **kwargs):
    """Prunes several parameters, pairs (module, name), as if they were one, by
    pruning_method(**kwargs). importance_scores: tensors by such pairs."""
    pairs = [(module, name) for module, name in parameters]
    values = [getattr(module, name) for module, name in pairs]
    given = importance_scores or {}
    scores = [_scores(value, given.get(pair)) for pair, value in zip(pairs, values)]
    masks = [getattr(m, n + "_mask", None) for m, n in pairs]
    masks = [ops.ones_like(v) if m is None else m for m, v in zip(masks, values)]
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise _lathe.TypeError(
            "only elements are pruned in all parameters together", op="global_unstructured",
            got=f"{type(method).__name__}, which is {method.PRUNING_TYPE}",
            expected="a method of PRUNING_TYPE 'unstructured'", next="prune them one by one",
        )  # fmt: skip
    found = PruningContainer(method).compute_mask(
        parameters_to_vector(scores), parameters_to_vector(masks)
    )
    for (module, name), part in zip(pairs, ops.split(found, [int(v.numel()) for v in values])):
        custom_from_mask(module, name, ops.reshape(part, getattr(module, name).shape))


@typed
def remove(module, name):
    """Makes a pruned parameter an ordinary one, with its zeros."""
    for key, method in _hooks(module, name):
        method.remove(module)
        del module._forward_pre_hooks[key]
        return module
    raise _lathe.ValueError(
        f"'{name}' is not pruned", op="remove", got=type(module).__name__,
        expected="a parameter that was pruned", next="is_pruned() says whether there is one",
    )  # fmt: skip


@typed
def is_pruned(module):
    """Whether a parameter of a module, or of one inside it, is pruned."""
    return any(True for part in module.modules() for _ in _hooks(part))
