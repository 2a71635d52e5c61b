"""The named tuples that ops with several results give: sort(values=..., indices=...)."""

from . import _lathe

globals().update({n: t for n, t in vars(_lathe.return_types).items() if isinstance(t, type)})
