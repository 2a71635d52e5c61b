"""What is measured: one Case a line of the table, with its inputs, its truth and its bar.

A case names a kind, "file.function"; every adapter in peers/ has that function in that file, which
takes the inputs as NumPy arrays and gives what is timed: a function without arguments, or a dict of
such functions where a library has several ways (the fastest counts). What these give is a result or
a tuple of results. The truth is computed in float64.
"""

from . import (
    attention,
    calls,
    fields,
    loops,
    networks,
    norms,
    pointwise,
    products,
    reductions,
    training,
    trees,
)

PARTS = (
    calls,
    pointwise,
    reductions,
    norms,
    products,
    attention,
    training,
    networks,
    loops,
    trees,
    fields,
)
CASES = tuple(case for part in PARTS for case in part.CASES)
