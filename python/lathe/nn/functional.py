"""Functions of networks under PyTorch's names and signatures: op definitions, and conv2d."""

from .. import _lathe, ops


def __getattr__(name):
    function = _lathe._find(name, "functional")
    if function is None:
        raise AttributeError(f"module 'lathe.nn.functional' has no attribute '{name}'")
    globals()[name] = function
    return function


def __dir__():
    return sorted({*globals(), *_lathe._names("functional")})


def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Cross-correlation of input[n, c, h, w] with weight[o, c / groups, kh, kw], plus bias[o].

    padding: a number, a pair (rows, columns), "valid" or (for stride 1) "same".
    """
    padding, input = _padding(input, weight, padding, stride, dilation)
    y = ops.conv2d(input, weight, stride, padding, dilation, groups)
    return y if bias is None else y + bias.reshape(bias.shape[0], 1, 1)


def _padding(input, weight, padding, stride, dilation):
    if not isinstance(padding, str):
        return padding, input
    if padding == "valid":
        return 0, input
    if padding != "same" or stride not in (1, (1, 1)):
        raise _lathe.ValueError(
            "a padding this stride cannot have",
            op="conv2d",  # not an op: the function of this name
            got=f"{padding!r}, stride {stride}",
            expected="numbers, 'valid', or 'same' at stride 1",
        )
    rows, columns = (dilation, dilation) if isinstance(dilation, int) else dilation
    tall, wide = rows * (weight.shape[-2] - 1), columns * (weight.shape[-1] - 1)
    if tall % 2 == 0 and wide % 2 == 0:
        return (tall // 2, wide // 2), input
    border = [wide // 2, wide - wide // 2, tall // 2, tall - tall // 2]
    return 0, ops.constant_pad_nd(input, border)
