"""Row 11: reductions, a scan and a transpose of 4096 rows of 1024."""

import numpy as np

from .case import EVERYBODY, Case, normal

ROWS, COLUMNS = 4096, 1024
FIRST = 5  # column of the slice at an odd place


def logsumexp(x):
    most = x.max(1, keepdims=True)
    return np.log(np.exp(x - most).sum(1)) + most[:, 0]


def case(name, kind, truth, tolerance=2e-6, columns=COLUMNS):
    return Case(
        row="11",
        name=f"{name} 4096x1024",
        kind=f"reductions.{kind}",
        group="reductions",
        peers=EVERYBODY,
        inputs=normal((ROWS, columns)),
        truth=truth,
        tolerance=tolerance,
    )


CASES = (
    case("sum inner", "sum_inner", lambda x: x.sum(1)),
    case("sum axis 0", "sum_outer", lambda x: x.sum(0), 1e-5),
    case("sum all", "sum_all", lambda x: x.sum(), 1e-4),  # of both signs: most of it cancels
    case("max inner", "max_inner", lambda x: x.max(1)),
    case("argmax inner", "argmax_inner", lambda x: x.argmax(1), 0.0),
    case("argmax axis 0", "argmax_outer", lambda x: x.argmax(0), 0.0),
    case("var inner", "var_inner", lambda x: x.var(1, ddof=1)),
    case("logsumexp inner", "logsumexp", logsumexp),
    case("cumsum inner", "cumsum", lambda x: x.cumsum(1), 1e-5),
    case("transpose copy", "transpose", lambda x: x.T, 0.0),
    case(
        "sum odd slice",
        "sum_slice",
        lambda x: x[:, FIRST : FIRST + COLUMNS].sum(1),
        columns=COLUMNS + 7,
    ),
)
