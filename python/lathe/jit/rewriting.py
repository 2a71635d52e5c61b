"""rewrite: rules of the user's for the programs that are captured from then on."""

from .. import _lathe


class Rewrite:
    """A rule that lathe.rewrite added. It counts until remove()."""

    __slots__ = (
        "_number", "pattern", "replacement", "exact", "at",
        "where",  # not an op: an argument
    )  # fmt: skip

    def __init__(self, number, pattern, replacement, where, exact, at):
        self._number = number
        self.pattern, self.replacement, self.where = pattern, replacement, where
        self.exact, self.at = exact, at

    def remove(self):
        """Takes the rule away from what is captured from now on. A second time is an error."""
        if not _lathe._remove_rewrite(self._number):
            raise _lathe.ValueError(
                "this rule was removed before",
                op="rewrite",
                got=repr(self),
                expected="a rule that lathe.rewrites() lists",
                next="remove it once",
            )

    def __eq__(self, other):
        return type(other) is Rewrite and self._number == other._number

    def __hash__(self):
        return hash(self._number)

    def __repr__(self):
        where = f" where {self.where}" if self.where else ""
        kind = "exact" if self.exact else "approximate"
        at = f", {self.at}" if self.at else ""
        return f"<lathe.rewrite {self.pattern} -> {self.replacement}{where} ({kind}{at})>"


def rewrite(pattern, replacement, where="", exact=True):
    """Adds a rule: in what is captured from now on, `replacement` takes the place of `pattern`.

    Both are texts of ops as a captured graph has them (`print(f.graph)`): "log(exp(x))", "x". A
    bare name stands for any value or number, and the same name for the same one. Operands of add,
    mul and whatever else is commutative are tried either way round. where: what dtypes and ranks
    it holds for, as "rank(x) >= 2 and dtype(x) in [f32, f64]"; also dtype(x) == dtype(y) and
    floating(x), integer(x), complex(x). exact: says that every bit stays as it is; explain() and
    lathe.debug() call other rules approximate. Nothing checks it but lathe.debug().

    A rule is applied where the result has the dtype and shape of what it replaces. Programs that
    were captured before keep what they have. Gives a handle with remove(); lathe.rewrites() lists
    all. ValueError or NameError, with the column, for a text that is wrong.
    """
    for name, value, kind in (
        ("pattern", pattern, str),
        ("replacement", replacement, str),
        ("where", where, str),  # not an op: an argument
        ("exact", exact, bool),
    ):
        if type(value) is not kind:
            raise _lathe.TypeError(
                f"{name} is no {'text' if kind is str else 'bool'}",
                op="rewrite",
                got=type(value).__name__,
                expected=kind.__name__,
                next='write rules as text: lathe.rewrite("log(exp(x))", "x", exact=False)',
            )
    number = _lathe._add_rewrite(pattern, replacement, where, exact)
    return next(rule for rule in rewrites() if rule._number == number)


def rewrites():
    """The rules that lathe.rewrite added and nobody removed, in order."""
    return [Rewrite(*each) for each in _lathe._rewrites()]
