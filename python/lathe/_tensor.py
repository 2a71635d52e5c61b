"""Methods of lathe.Tensor that are made of other methods: PyTorch's spellings and conversions."""

from . import _functions, _lathe, _names, ops
from ._errors import typed
from ._lathe import _Tensor as Tensor


def _method(function):
    setattr(Tensor, function.__name__, function)
    return function


def _named(name, function, doc):
    function.__name__ = name
    function.__qualname__ = f"Tensor.{name}"
    function.__doc__ = doc
    setattr(Tensor, name, function)


@_method
def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None) -> None:
    """Adds the gradients of this tensor to the .grad of every leaf it depends on, or of `inputs`.

    gradient: what it is multiplied by, of this tensor's shape; may be left out for one element.
    AutogradError where there is no history, or a value it needs was written to since.
    """
    if inputs is None:
        _lathe.backward(self, gradient, retain_graph, create_graph)
    else:
        from .autograd import backward

        backward(self, gradient, retain_graph, create_graph, inputs=inputs)


@_method
def register_post_accumulate_grad_hook(self, hook):
    """Calls hook(tensor) whenever a backward() has added to this leaf's .grad."""
    from weakref import ref

    leaf = ref(self)  # or the leaf would hold itself

    def call():
        if (tensor := leaf()) is not None:
            hook(tensor)

    return _lathe._add_grown_hook(self, call)


@_method
def register_hook(self, hook):
    """Calls hook(gradient) in backward(); what it gives, if not None, replaces the gradient."""
    return _lathe._add_hook(self, hook)


@_method
def retain_grad(self) -> None:
    """Keeps the gradient of a computed tensor in .grad, too."""
    _lathe._retain_grad(self)


@_method
def detach_(self) -> Tensor:
    """Takes this tensor out of history."""
    _lathe._detach_here(self)
    return self


@_method
def type_as(self, other) -> Tensor:
    return self.to(other.dtype)


def _type(self, dtype=None, non_blocking=False):
    """The name of the class for this dtype ('lathe.FloatTensor'), or, given a dtype, a class or its
    name, this tensor converted to it."""
    from . import _dtypes

    if dtype is None:
        return _dtypes.type_name(self.dtype)
    return self.to(_dtypes.dtype_of_type(dtype), non_blocking)


_named("type", _type, _type.__doc__)


@_method
def is_signed(self) -> bool:
    return self.dtype.is_signed


@_method
def is_nonzero(self) -> bool:
    """Whether the only element is not zero. ValueError if there is not one."""
    return bool(self)


@_method
def get_device(self) -> int:
    """The index of the device, -1 for the host."""
    return -1 if self.device.type == "cpu" else self.device.index


@_method
def nelement(self) -> int:
    """Number of elements."""
    return self.numel()


@_method
def is_same_size(self, other) -> bool:
    return self.shape == other.shape


@_method
def is_set_to(self, tensor) -> bool:
    """Whether both are the same elements of the same memory in the same order."""
    mine, other = ((t.data_ptr(), t.shape, t.stride(), t.dtype, t.device) for t in (self, tensor))
    return mine == other


@_method
def dim_order(self) -> tuple[int, ...]:
    """The axes from the one with the longest steps to the one with the shortest."""
    steps = self.stride()
    return tuple(sorted(range(self.ndim), key=lambda axis: -steps[axis]))


@_method
def new_empty(self, *size, **options) -> Tensor:
    """A tensor of these sizes, its elements not set; options as in new_zeros."""
    return ops.empty(*size, **_like(self, options))


@_method
def cpu(self, *, memory_format=None) -> Tensor:
    return self.to(device="cpu", memory_format=memory_format)


@_method
def is_floating_point(self) -> bool:
    return self.dtype.is_floating_point


@_method
def is_complex(self) -> bool:
    return self.dtype.is_complex


@_method
def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False) -> Tensor:
    """data as a tensor of this one's dtype and device, or of those given."""
    return _lathe.tensor(
        data,
        dtype=self.dtype if dtype is None else dtype,
        device=self.device if device is None else device,
        requires_grad=requires_grad,
    )


def _like(tensor, options) -> dict:
    """Options of a creator: the dtype and device of a tensor where they say nothing."""
    given = {name: value for name, value in options.items() if value is not None}
    return {"dtype": tensor.dtype, "device": tensor.device} | given


@_method
def new_zeros(self, *size, **options) -> Tensor:
    """Zeros of these sizes; options as in lathe.zeros, by default this one's dtype and device."""
    return ops.zeros(*size, **_like(self, options))


@_method
def new_ones(self, *size, **options) -> Tensor:
    """Ones of these sizes; options as in new_zeros."""
    return ops.ones(*size, **_like(self, options))


def _add_reshaping():
    """x.<name>_(...): x.<name>(...), a view, in place of x itself."""
    names = "squeeze unsqueeze t transpose swapaxes swapdims as_strided"
    for name in names.split():
        _named(name + "_", _reshaping(name), f"As {name}, but x itself becomes the view.")


def _reshaping(name):
    def reshape(self, *args, **kwargs) -> Tensor:
        _lathe._become(name + "_", self, lambda x: getattr(x, name)(*args, **kwargs))
        return self

    return reshape


@_method
def resize_(self, *sizes, size=None, memory_format=None) -> Tensor:
    """Takes other sizes: the first elements stay, in the order of the memory, and new ones are
    zeros. AutogradError where it requires grad."""
    if sizes:
        size = sizes[0] if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes
    _lathe._resize(self, size)
    return self


@_method
def resize_as_(self, the_template, *, memory_format=None) -> Tensor:
    """As resize_, to the sizes of another tensor."""
    return self.resize_(the_template.shape)


Tensor.__rdiv__ = Tensor.__rtruediv__


@_method
def new_full(self, size, fill_value, **options) -> Tensor:
    """fill_value in these sizes; options as in new_zeros."""
    return ops.full(size, fill_value, **_like(self, options))


@_method
def new(self, *shape) -> Tensor:
    """A tensor of this one's dtype and device: of zeros if sizes are given, else of the data."""
    data = shape[0] if len(shape) == 1 else shape
    if len(shape) == 1 and isinstance(data, list):
        return _lathe.tensor(data, dtype=self.dtype, device=self.device)
    return ops.zeros(*shape, dtype=self.dtype, device=self.device)


@_method
def __reversed__(self) -> Tensor:
    """Its slices along the first axis from the last to the first."""
    return ops.flip(self, [0]) if self.ndim else self


@_method
def __format__(self, spec) -> str:
    if self.ndim == 0 and type(self) is Tensor:  # as in PyTorch the number, also without a format
        return format(self.item(), spec)
    return object.__format__(self, spec)


@_method
def __array__(self, dtype=None, copy=None):
    array = self.numpy()
    if dtype is not None and array.dtype != dtype:
        return array.astype(dtype)
    return array.copy() if copy else array


@_method
def __array_wrap__(self, array, context=None, return_scalar=False):
    """What NumPy's functions make of a tensor is one, where there is such a dtype."""
    try:
        return _lathe.from_numpy(array)
    except _lathe.DTypeError:
        return array


@_method
def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
    return _lathe._to_dlpack(self, max_version is not None and max_version[0] >= 1, bool(copy))


@_method
def __dlpack_device__(self) -> tuple[int, int]:
    return (1, 0)  # other devices are copied to the cpu


@_method
def __array_namespace__(self, *, api_version=None):
    """The array-API standard over tensors: lathe.array_api."""
    from . import array_api

    if api_version not in (None, "2021.12", "2022.12", "2023.12", array_api.__array_api_version__):
        raise _lathe.ValueError(
            "no such version of the standard",
            op="__array_namespace__",
            got=repr(api_version),
            expected=f"at most {array_api.__array_api_version__}",
        )
    return array_api


@_method
def to_device(self, device, /, *, stream=None) -> Tensor:
    """On that device; the array-API standard's name of to()."""
    return self.to(device=device)


@_method
def __complex__(self) -> complex:
    """The number of a tensor of one element."""
    return (
        complex(self.real.item(), self.imag.item()) if self.is_complex() else complex(self.item())
    )


@_method
def __copy__(self) -> Tensor:
    if type(self) is Tensor:
        return self.data.requires_grad_() if self.requires_grad else self.data
    return _copied(self, self.data, dict)


@_method
def __deepcopy__(self, memo) -> Tensor:
    return deep_copied(self, memo, alone=False)


def deep_copied(tensor, memo, alone):
    """What deepcopy gives. alone: in memory of its own, and without .grad."""
    if id(tensor) in memo:
        return memo[id(tensor)]
    if not tensor.is_leaf:
        raise _lathe.AutogradError(
            "only leaves can be copied with what they belong to",
            op="deepcopy",
            next="detach() the tensor, or clone() it to stay in history",
        )
    from copy import deepcopy

    data = tensor.data.clone() if alone else _in_copied_memory(tensor.data, memo)
    copy = _copied(tensor, data, lambda d: deepcopy(d, memo))
    memo[id(tensor)] = copy
    if tensor.grad is not None and not alone:
        copy.grad = deepcopy(tensor.grad.detach(), memo)
    return copy


def _in_copied_memory(data, memo):
    """The same elements in a copy of the memory that they lie in, one for all tensors that lie
    there and are copied together."""
    if _lathe._tracing() or data.device.type != "cpu":
        return data.clone()
    whole = _lathe._storage(data)
    copies = memo.setdefault(_in_copied_memory, {})
    if whole.data_ptr() not in copies:
        size = data.untyped_storage().nbytes()
        memory = _lathe._over_storage(whole, _lathe.uint8, 0, (size,), (1,)).clone()
        copies[whole.data_ptr()] = memory, whole  # which holds the address
    memory, _ = copies[whole.data_ptr()]
    place = int(data.storage_offset()), tuple(data.shape), data.stride()
    return _lathe._over_storage(memory, data.dtype, *place)


def _copied(tensor, data, copy_dict):
    if type(tensor) is Tensor:
        return data.requires_grad_() if tensor.requires_grad else data
    copy = _lathe._make_subclass(type(tensor), data, tensor.requires_grad)
    copy.__dict__.update(copy_dict(tensor.__dict__))
    return copy


def _restore(cls, data, dtype, shape, requires_grad):
    tensor = _lathe._from_bytes(data, dtype, shape)
    if cls is Tensor:
        return tensor.requires_grad_() if requires_grad else tensor
    return _lathe._make_subclass(cls, tensor, requires_grad)


@_method
def __reduce_ex__(self, protocol):
    if not self.is_leaf:
        raise _lathe.AutogradError(
            "history cannot be written", op="pickle", next="detach() the tensor first"
        )
    data = _lathe._to_bytes(self)
    arguments = (type(self), data, self.dtype.name, tuple(self.shape), self.requires_grad)
    return (_restore, arguments)


def _add_conversions():
    kinds = {
        "bool": _lathe.bool, "byte": _lathe.uint8, "char": _lathe.int8, "short": _lathe.int16,
        "int": _lathe.int32, "long": _lathe.int64, "half": _lathe.float16,
        "bfloat16": _lathe.bfloat16, "float": _lathe.float32, "double": _lathe.float64,
        "cfloat": _lathe.complex64, "cdouble": _lathe.complex128,
    }  # fmt: skip
    for name, dtype in kinds.items():
        _named(name, _conversion(dtype), f"Converted to {dtype}.")


def _conversion(dtype):
    def convert(self, memory_format=None) -> Tensor:
        return self.to(dtype, memory_format=memory_format)

    return convert


def _add_functions():
    for function in (_functions.allclose, _functions.equal):
        setattr(Tensor, function.__name__, typed(function))


@_method
def cuda(self, device=None, non_blocking=False, memory_format=None) -> Tensor:
    """On a CUDA device. DeviceError, which names the devices there are, if there is none."""
    if device is None:
        device = "cuda"
    elif isinstance(device, int) and not isinstance(device, bool):
        device = f"cuda:{device}"
    return self.to(device=device, non_blocking=non_blocking, memory_format=memory_format)


@_method
def untyped_storage(self):
    """The memory that the tensor lies in, as bytes."""
    from ._storages import UntypedStorage

    return UntypedStorage(self)


@_method
def storage(self):
    """The memory that the tensor lies in, as elements of its dtype."""
    from ._storages import TypedStorage

    return TypedStorage(self)


def _add_questions():
    """What PyTorch asks of tensors and has one answer here."""
    for name in ("is_conj", "is_neg", "is_inference", "is_pinned", "is_shared", "is_distributed"):
        _named(name, _never(), "False: there is no such tensor here.")
    for kind in (
        "cuda",
        "ipu",
        "maia",
        "meta",
        "mkldnn",
        "mps",
        "mtia",
        "nested",
        "quantized",
        "sparse",
        "sparse_csr",
        "vulkan",
        "xla",
        "xpu",
    ):
        setattr(Tensor, f"is_{kind}", False)
    Tensor.is_cpu = property(
        lambda self: self.device.type == "cpu", doc="Whether it is on the host."
    )
    Tensor.layout = _names.strided


def _never():
    def no(self) -> bool:
        return False

    return no


_add_conversions()
_add_functions()
_add_questions()
_add_reshaping()
_lathe._attribute_ops(real="The real part.", imag="The imaginary part.")
Tensor.__array_priority__ = 1000  # NumPy's operators leave mixed operands to ours
