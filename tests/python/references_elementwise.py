"""What elementwise ops compute, in NumPy and SciPy: arithmetic, special functions, activations."""

import numpy as np
from scipy import special


def sgn(z):
    if not np.iscomplexobj(z):
        return np.sign(z)
    return np.divide(z, np.abs(z), out=np.zeros_like(z), where=z != 0)


def nan_to_num(x, nan=0.0, posinf=None, neginf=None):
    return np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


def logit(x, eps=None):
    return special.logit(x if eps is None else np.clip(x, eps, 1 - eps))


def erfcx(x):
    return special.erfcx(x)


def elu(x, alpha=1.0, scale=1.0, width=1.0):
    return scale * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0) / width))


def celu(x, alpha=1.0):
    return elu(x, alpha, 1.0, alpha)


def hard_limits(x, low, high):
    return np.clip(x, low, high)


def hardshrink(x, lambd=0.5):
    return np.where(np.abs(x) <= lambd, 0, x)


def softshrink(x, lambd=0.5):
    return np.sign(x) * np.maximum(np.abs(x) - lambd, 0)


def prelu(x, weight):
    w = weight.reshape(-1, *(1,) * (x.ndim - 2)) if x.ndim > 1 else weight
    return np.where(x > 0, x, w * x)


def glu(x, dim=-1):
    value, gate = np.split(x, 2, dim)
    return value * special.expit(gate)


def softmin(x, dim):
    return special.softmax(-x, dim)


def softplus(x, beta=1.0, threshold=20.0):
    return np.where(x * beta > threshold, x, np.logaddexp(x * beta, 0) / beta)


def mvlgamma(x, p):
    return np.vectorize(lambda v: special.multigammaln(v, p))(x)


def sigmoid(x):
    return 1 / (1 + np.exp(-x)) if np.iscomplexobj(x) else special.expit(x)


def logaddexp(x, y):
    return np.log(np.exp(x) + np.exp(y)) if np.iscomplexobj(x) else np.logaddexp(x, y)


def addc(f):
    return lambda x, a, b, value=1: x + value * f(a, b)


# Ops that NumPy or SciPy has under the same name.
NUMPY = """
    copysign signbit positive heaviside hypot logaddexp2 frexp rad2deg deg2rad
    float_power gcd lcm angle sinc logical_xor isposinf isneginf isreal nextafter
"""
SCIPY = "erfcx ndtr log_ndtr ndtri entr xlog1py i0e i1 i1e"
BESSEL = {
    "bessel_j0": special.j0, "bessel_j1": special.j1, "bessel_y0": special.y0,
    "bessel_y1": special.y1, "modified_bessel_k0": special.k0, "modified_bessel_k1": special.k1,
    "scaled_modified_bessel_k0": special.k0e, "scaled_modified_bessel_k1": special.k1e,
    "spherical_bessel_j0": lambda x: np.sinc(x / np.pi), "airy_ai": lambda x: special.airy(x)[0],
}  # fmt: skip
CHEBYSHEV = {
    "t": special.eval_chebyt,
    "u": special.eval_chebyu,
    "v": lambda n, x: special.eval_chebyu(n, x) - np.where(n > 0, special.eval_chebyu(n - 1, x), 0),
    "w": lambda n, x: special.eval_chebyu(n, x) + np.where(n > 0, special.eval_chebyu(n - 1, x), 0),
}
POLYNOMIALS = {
    "hermite_polynomial_h": special.eval_hermite, "hermite_polynomial_he": special.eval_hermitenorm,
    "laguerre_polynomial_l": special.eval_laguerre,
    "legendre_polynomial_p": special.eval_legendre,
    **{f"chebyshev_polynomial_{k}": f for k, f in CHEBYSHEV.items()},
    **{f"shifted_chebyshev_polynomial_{k}": lambda n, x, f=f: f(n, 2 * x - 1)
       for k, f in CHEBYSHEV.items()},
}  # fmt: skip

REFERENCES = {
    **{name: getattr(np, name) for name in NUMPY.split()},
    **{f"special_{name}": getattr(special, name) for name in SCIPY.split()},
    **{f"special_{name}": f for name, f in BESSEL.items()},
    **{f"special_{name}": lambda x, n, f=f: f(n, x) for name, f in POLYNOMIALS.items()},
    **{"i0": special.i0, "igamma": special.gammainc, "igammac": special.gammaincc},
    **{
        "sgn": sgn, "sgn_complex": sgn, "angle_float": np.angle, "nextafter_wide": np.nextafter,
        "ldexp": lambda x, n: x * np.exp2(n), "frexp_exponent": lambda x: np.frexp(x)[1],
        "frac": lambda x: x - np.trunc(x), "replace_nonfinite": lambda x, *values: x,
        "nan_to_num": nan_to_num, "bitwise_left_shift": np.left_shift,
        "bitwise_right_shift": np.right_shift, "addcmul": addc(np.multiply),
        "addcdiv": addc(np.divide), "polar": lambda r, phi: r * np.exp(1j * phi),
        "rsub": lambda x, y, alpha: y - alpha * x,
        "rsub.scalar": lambda x, y, alpha: y - alpha * x,
        "rsub.scaled": lambda x, y, alpha: y - alpha * x,
        "subtract.scalar": lambda x, y, alpha: x - alpha * y,
        "xlogy": special.xlogy, "logit_open": special.logit, "logit": logit,
        "special_zeta": special.zeta, "polygamma": special.polygamma,
        "polygamma.method": lambda x, n: special.polygamma(n, x), "mvlgamma": mvlgamma,
        "elu": elu, "selu": lambda x: elu(x, 1.6732632423543772, 1.0507009873554805),
        "sigmoid": sigmoid, "silu": lambda x: x * sigmoid(x), "logaddexp": logaddexp,
        "celu": celu, "celu_width": celu, "mish": lambda x: x * np.tanh(np.logaddexp(x, 0)),
        "logsigmoid": lambda x: -np.logaddexp(-x, 0), "hard_limits": hard_limits,
        "hardtanh": lambda x, min_val: np.clip(x, min_val, 1),
        "relu6": lambda x: np.clip(x, 0, 6),
        "hardsigmoid": lambda x: np.clip(x / 6 + 0.5, 0, 1),
        "hardswish": lambda x: x * np.clip(x / 6 + 0.5, 0, 1), "hardshrink": hardshrink,
        "softshrink": softshrink, "shrink_by": softshrink,
        "threshold": lambda x, threshold, value: np.where(x > threshold, x, value),
        "softsign": lambda x: x / (1 + np.abs(x)), "tanhshrink": lambda x: x - np.tanh(x),
        "slope_below": lambda x, w: np.where(x > 0, x, w * x), "prelu": prelu, "glu": glu,
        "softmin": softmin, "softplus": softplus,
    },
}  # fmt: skip
