"""Python's operators, by the names of their syntax nodes."""

import _operator as operator  # without Python's half of it: a first trace waits for imports

from ... import _lathe

OPERATE = {
    "Add": operator.add, "Sub": operator.sub, "Mult": operator.mul, "Div": operator.truediv,
    "Mod": operator.mod, "FloorDiv": operator.floordiv, "Pow": operator.pow,
    "MatMult": operator.matmul, "BitOr": operator.or_, "BitAnd": operator.and_,
    "BitXor": operator.xor, "LShift": operator.lshift, "RShift": operator.rshift,
    "Eq": operator.eq, "NotEq": operator.ne, "Lt": operator.lt, "LtE": operator.le,
    "Gt": operator.gt, "GtE": operator.ge,
    "In": lambda a, b: a in b, "NotIn": lambda a, b: a not in b,
}  # fmt: skip
AUGMENT = {
    "Add": operator.iadd, "Sub": operator.isub, "Mult": operator.imul, "Div": operator.itruediv,
    "Mod": operator.imod, "FloorDiv": operator.ifloordiv, "Pow": operator.ipow,
    "MatMult": operator.imatmul, "BitOr": operator.ior, "BitAnd": operator.iand,
    "BitXor": operator.ixor, "LShift": operator.ilshift, "RShift": operator.irshift,
}  # fmt: skip


def number_of(value):
    """The number that a SymInt or SymFloat is at this call: the program then holds for it only."""
    return int(value) if type(value) is _lathe.SymInt else value.__float__()
