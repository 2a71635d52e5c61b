"""What PyTorch does and programs rely on: copies, masks, indexes, divergences, settings."""

import copy
import math

import numpy as np
import pytest

import lathe as lt
from lathe import distributions as d


@pytest.mark.parametrize("shape, counts", [((2, 2), (1, 1)), ((2,), (1, 1, 1)), ((1,), (3,))])
def test_repeat_and_tile_have_memory_of_their_own(shape, counts):
    for repeat in (lt.Tensor.repeat, lt.tile):
        x = lt.ones(shape)
        y = repeat(x, counts)
        x.add_(5)
        assert y.eq(1).all()
        y[(0,) * y.ndim] = 7
        assert y.sum() == y.numel() + 6


def test_a_range_indexes():
    x = lt.arange(12.0).reshape(4, 3)
    np.testing.assert_array_equal(x[range(4), [0, 1, 2, 0]], x.numpy()[range(4), [0, 1, 2, 0]])
    assert x[range(0)].shape == (0, 3)
    x[range(1, 3)] = 0
    assert x[1:3].eq(0).all() and x[3].ne(0).all()
    with pytest.raises(lt.TypeError, match=r"with list\(\)"):
        x[{1}]


@pytest.mark.parametrize("mask", [True, [False, True], [[True, False]] * 3 + [[True, True]]])
def test_a_mask_of_another_size_is_refused_by_index_put(mask):
    with pytest.raises(lt.IndexError, match="sizes of the axes it picks from"):
        lt.zeros(3, 2).index_put_((lt.tensor(mask),), lt.tensor(1.0))


def test_the_products_of_vjp_are_a_tuple_also_for_one_primal():
    _, pull = lt.func.vjp(lt.sin, lt.zeros(2))
    (found,) = pull(lt.ones(2))
    assert found.tolist() == [1, 1]


def test_the_divergence_of_transformed_distributions_asks_for_equal_transforms():
    def pareto(scale, alpha):
        return d.Pareto(lt.tensor(scale), lt.tensor(alpha))

    wanted = math.log(1.3 / 1.0) * 2.0
    assert abs(d.kl_divergence(pareto(1.3, 2.0), pareto(1.0, 2.0)) - wanted) < 1e-6
    assert d.kl_divergence(pareto(1.0, 2.0), pareto(1.3, 2.0)) == math.inf

    def scaled(by):
        return d.TransformedDistribution(d.Normal(0.0, 1.0), [d.AffineTransform(0.0, by)])

    assert d.kl_divergence(scaled(2.0), scaled(2.0)) == 0
    for q in (scaled(5.0), scaled(lt.tensor(5.0))):
        with pytest.raises(lt.UnsupportedError, match="the transforms differ"):
            d.kl_divergence(scaled(2.0), q)


@pytest.mark.parametrize("q", [0.0, 1.0])
def test_what_q_excludes_is_infinitely_far(q):
    p = d.Bernoulli(lt.tensor(0.5))
    assert d.kl_divergence(p, d.Bernoulli(lt.tensor(q))) == math.inf


def test_the_variance_of_student_t_has_a_derivative():
    df = lt.tensor([3.0, 1.5], requires_grad=True)
    d.StudentT(df).variance[0].backward()
    assert df.grad.tolist() == [-2, 0]


def test_settings_of_printing():
    x = lt.tensor([1e-6, 1.0])
    try:
        lt.set_printoptions(sci_mode=False)
        assert "1.0000" in str(x) and "e" not in str(x)[6:]
        lt.set_printoptions(sci_mode=True)
        assert "1.0000e+00" in str(lt.ones(1))
        lt.set_printoptions(profile="short")
        assert str(lt.tensor([0.125])) == "tensor([0.12])"
        lt.set_printoptions(profile="full")
        assert "..." not in str(lt.zeros(2000))
        lt.set_printoptions(profile="default", threshold=math.inf)
        assert "..." not in str(lt.zeros(2000))
        with pytest.raises(lt.ValueError, match="'default', 'short' or 'full'"):
            lt.set_printoptions(profile="wide")
    finally:
        lt.set_printoptions(profile="default")


def test_a_device_by_its_kind_and_index():
    assert lt.device("cpu", 0) == lt.device(type="cpu") == lt.device("cpu")
    assert repr(lt.device("cuda", 1)) == "device(type='cuda', index=1)"


def test_only_inputs_as_programs_give_it():
    w = lt.ones(2, requires_grad=True)
    (g,) = lt.autograd.grad((w * w).sum(), w, only_inputs=True)
    assert g.tolist() == [2, 2]
    with pytest.raises(lt.ValueError, match="only_inputs=True"):
        lt.autograd.grad((w * w).sum(), w, only_inputs=False)


def test_a_device_that_is_not_there_is_no_damaged_file(tmp_path):
    lt.serialization.save({"w": lt.ones(2)}, tmp_path / "w.pt")
    with pytest.raises(lt.DeviceError, match="no such device"):
        lt.serialization.load(tmp_path / "w.pt", map_location="cuda:0")
    with pytest.raises(lt.DeviceError, match="no such device"):
        lt.nn.Linear(2, 2).cuda()


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_numbers_are_drawn_with_variance_one(dtype):
    lt.manual_seed(0)
    z = lt.randn(20000, dtype=getattr(lt, dtype)).numpy()
    for part in (z.real, z.imag):
        assert abs(part.var() - 0.5) < 0.02 and abs(part.mean()) < 0.02
    assert abs((z.real * z.imag).mean()) < 0.02
    u = lt.rand(1000, dtype=getattr(lt, dtype)).numpy()
    assert u.real.min() >= 0 and u.imag.max() < 1 and abs(u.real - u.imag).max() > 0.5
    x = lt.zeros(20000, dtype=getattr(lt, dtype)).normal_(3.0, 2.0).numpy()
    assert abs(x.mean() - 3) < 0.06 and abs(x.imag.var() - 2) < 0.1


def test_a_complex_border_and_complex_ends():
    x = lt.ones(2, dtype=lt.complex64)
    assert lt.constant_pad_nd(x, [1, 0], 2j).tolist() == [2j, 1, 1]
    with pytest.raises(lt.DTypeError, match="the value is complex"):
        lt.constant_pad_nd(lt.ones(2), [1, 0], 2j)
    assert lt.linspace(1j, 2, 3).tolist() == [1j, 1 + 0.5j, 2]
    assert lt.linspace(0, 1, 3, dtype=lt.complex64).tolist() == [0, 0.5, 1]
    close = lt.logspace(0, 1j, 2).numpy() - np.array([1, 10**1j])
    assert abs(close).max() < 1e-6


@pytest.mark.parametrize("mode", ["eager", "traced"])
def test_parts_of_complex_numbers_are_written_through(mode):
    def write(z):
        z = z * 1
        z.real[0] = 5
        z.imag.mul_(2)
        lt.real(z)[1] += 1
        return z, z.real + z.imag

    step = write if mode == "eager" else lt.trace(write)
    whole, sums = step(lt.tensor([1 + 2j, 3 - 1j]))
    assert whole.tolist() == [5 + 4j, 4 - 2j] and sums.tolist() == [9, 2]
    z = lt.zeros(2, dtype=lt.complex64)
    z.real, z.imag = lt.tensor([1.0, 2.0]), lt.tensor([3.0, 4.0])
    assert z.tolist() == [1 + 3j, 2 + 4j]
    x = lt.ones(2)
    x.real.add_(1)
    assert x.tolist() == [2, 2]
    with pytest.raises(lt.DTypeError, match="imag: the elements are of another sort"):
        lt.imag(lt.ones(2))


def test_the_gradient_of_what_was_written_to_a_part():
    w = lt.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    v = w * 1
    v.real.mul_(3)
    (v.real + 2 * v.imag).sum().backward()
    assert w.grad.tolist() == [3 + 2j, 3 + 2j]


def test_truth_as_an_index_gives_a_copy():
    x = lt.ones(2)
    y = x[True]
    y.zero_()
    assert y.shape == (1, 2) and x.tolist() == [1, 1] and x[False].shape == (0, 2)
    x[True] = 4
    assert x.tolist() == [4, 4]


@pytest.mark.parametrize("mode", ["eager", "traced"])
def test_backward_adds_to_the_gradient_that_is_there(mode):
    def step(w, x):
        (w * x).sum().backward()
        return w.grad * 1

    run = step if mode == "eager" else lt.trace(step)
    w = lt.ones(3, requires_grad=True)
    run(w, lt.ones(3))
    kept = w.grad
    assert run(w, lt.full((3,), 2.0)).tolist() == [3, 3, 3] == kept.tolist()
    w.grad = None
    run(w, lt.ones(3))
    assert w.grad.tolist() == [1, 1, 1] and kept.tolist() == [3, 3, 3]


@pytest.mark.parametrize("mode", ["eager", "traced"])
def test_pieces_of_one_buffer_as_gradients(mode):
    def step(flat, a, b):
        a.grad, b.grad = flat[:2], flat[2:]
        ((a * 2).sum() + (b * b).sum()).backward()

    run = step if mode == "eager" else lt.trace(step)
    flat = lt.zeros(5)
    a, b = (lt.ones(n, requires_grad=True) for n in (2, 3))
    run(flat, a, b)
    (a * 3).sum().backward()
    assert flat.tolist() == [5, 5, 2, 2, 2] and a.grad.tolist() == [5, 5]


def test_gradients_that_are_one_tensor_are_not_added_to_twice():
    p, q = (lt.ones(2, requires_grad=True) for _ in range(2))
    (p + q).sum().backward(create_graph=True)
    (p + q).sum().backward()
    assert p.grad.tolist() == q.grad.tolist() == [2, 2]
    p.grad = lt.zeros(1).expand(2)  # shows one element twice: replaced
    (p * 2).sum().backward()
    assert p.grad.tolist() == [2, 2]


def test_formats_in_strings_are_those_of_the_number():
    x = lt.tensor(1.5, requires_grad=True)
    assert f"{x:.2f} {x * 2:>5} {x}" == "1.50   3.0 1.5"
    assert f"{lt.tensor(3):03d} {lt.tensor(True)}" == "003 True"
    assert f"{lt.ones(2)}" == "tensor([1., 1.])"
    with pytest.raises(TypeError, match="unsupported format string"):
        format(lt.ones(2), ".2f")


def test_a_copied_module_begins_without_gradients():
    layer = lt.nn.Linear(2, 1)
    layer(lt.ones(1, 2)).sum().backward()
    twin = copy.deepcopy(layer)
    assert twin.weight.grad is None and layer.weight.grad is not None
    assert twin.weight.tolist() == layer.weight.tolist() and type(twin.weight) is lt.nn.Parameter
    leaf = lt.ones(2, requires_grad=True)
    leaf.sum().backward()
    other = copy.deepcopy(leaf)
    assert other.grad.tolist() == [1, 1]
    other.grad.zero_()
    assert leaf.grad.tolist() == [1, 1]


def test_convolutions_of_integers():
    x, w = lt.arange(5).reshape(1, 1, 5), lt.tensor([[[1, -2]]])
    assert lt.nn.functional.conv1d(x, w, lt.tensor([10])).tolist() == [[[8, 7, 6, 5]]]
    for bias in (lt.ones(1), lt.ones(1, dtype=lt.complex64)):
        with pytest.raises(lt.DTypeError, match="the bias does not fit"):
            lt.nn.functional.conv1d(x, w, bias)
    big = lt.full((3, 3), 2**61)
    assert (big @ big).tolist() == [[0] * 3] * 3  # wraps, as everywhere


def test_cube_roots():
    for dtype in (lt.float32, lt.float64):
        x = lt.tensor([-27.0, -0.0, 8.0, math.inf, math.nan], dtype=dtype)
        y = lt.cbrt(x)
        assert y.tolist()[:4] == [-3, 0, 2, math.inf] and math.isnan(y[4].item())
        assert math.copysign(1, y[1].item()) == -1
    tiny = lt.cbrt(lt.tensor([5e-324, 1e-310], dtype=lt.float64)).tolist()
    assert tiny == pytest.approx(np.cbrt([5e-324, 1e-310]).tolist(), rel=4e-16)


def test_a_device_as_a_scope():
    with lt.device("cpu") as where:
        assert lt.ones(2).device == where == lt.device("cpu")
    with pytest.raises(lt.Error, match="set_default_device"), lt.device("sim"):
        pass


def test_a_slope_does_not_read_the_value_at_its_point():
    """Where steps are even: infinities count for their neighbours alone, as in NumPy."""
    inf, nan = math.inf, math.nan
    x = [2.0, -2, inf, inf, -inf, -inf, inf, 3, -inf, 2, nan, nan, 3, inf, nan]
    for order in (1, 2):
        (got,) = lt.gradient(lt.tensor(x, dtype=lt.float64), edge_order=order)
        with np.errstate(invalid="ignore"):
            want = np.gradient(np.array(x), edge_order=order)
        np.testing.assert_array_equal(got.numpy(), want)


@pytest.mark.parametrize("make", [
    lambda x, o: lt.positive(x, out=o), lambda x, o: lt.broadcast_to(x, (2, 2, 2), out=o),
    lambda x, o: lt.swapaxes(x, 0, 1, out=o), lambda x, o: lt.add(x, x, out=o),
])  # fmt: skip
@pytest.mark.parametrize("shape", [(0,), (3, 0)])
def test_an_out_without_elements_becomes_the_result(make, shape):
    """In its own dtype, and with memory of its own."""
    x = lt.ones(2, 2)
    out = lt.empty(shape, dtype=lt.float64)
    assert make(x, out) is out and out.dtype == lt.float64
    assert out.numel() >= 4
    out.add_(1)
    assert x.eq(1).all()
    same = lt.empty(shape)
    make(x, same).add_(1)
    assert x.eq(1).all()


def test_a_range_of_no_width_is_no_range_of_the_elements():
    """histogram() and histogramdd() widen it; histc() takes equal bounds for none."""
    x = lt.tensor([0.3, -7.2, 4.4])
    hist, edges = lt.histogram(x, bins=2, range=(2.0, 2.0))
    assert hist.tolist() == [0, 0] and edges.tolist() == [1.5, 2, 2.5]
    hist, edges = lt.histogramdd(lt.tensor([[0.0, 1], [2, 3]]), [1, 1], range=[0.0, 0, 1, 1])
    assert hist.tolist() == [[1]] and [e.tolist() for e in edges] == [[-0.5, 0.5], [0.5, 1.5]]
    assert lt.histc(x, 2, 2, 2).tolist() == lt.histc(x, 2).tolist() == [1, 2]
    assert lt.histogram(lt.empty(0), bins=2).bin_edges.tolist() == [0, 0.5, 1]


def test_numbers_alone_have_dtypes():
    assert lt.result_type(1j, 1j) is lt.complex64 and lt.result_type(2, 1j) is lt.complex64
    assert lt.result_type(lt.ones((), dtype=lt.float64), 1j) is lt.complex128
    assert lt.arange(False, True).dtype is lt.int64 and lt.arange(True).tolist() == [0]


def test_a_tensor_reversed():
    x = lt.arange(6).reshape(3, 2)
    assert [row.tolist() for row in reversed(x)] == [[4, 5], [2, 3], [0, 1]]
    assert reversed(lt.tensor(4)).item() == 4


@pytest.mark.parametrize("dtype", [lt.bfloat16, lt.float16, lt.float32])
@pytest.mark.parametrize("columns", [1, 2, 3, 31])
def test_a_product_reads_no_element_beside_its_operands(dtype, columns):
    """What lay behind an odd number of terms of bf16 met a zero, which made NaN of an infinity."""
    for rows in (1, 4, 16, 40):
        z = lt.ones(rows, columns, dtype=dtype)
        wide = lt.full((2 * rows, 2 * columns + 1), -float("inf"), dtype=dtype)
        for left in (
            wide[::2, : 2 * columns : 2],
            wide[::2, :columns],
            wide[:rows, 1 : columns + 1],
        ):
            left[1:] = 1
            want = [[-float("inf")] * rows] + [[columns] * rows] * (rows - 1)
            assert (left @ z.T).tolist() == want
            assert (z @ left.T).T.tolist() == want


def test_manual_seed_gives_what_stands_for_the_stream():
    """`generator=manual_seed(0)` is how much code names it."""
    data, lengths = lt.utils.data.TensorDataset(lt.arange(10)), [7, 3]
    split = lt.utils.data.random_split(data, lengths, generator=lt.manual_seed(42))
    again = lt.utils.data.random_split(data, lengths, generator=lt.manual_seed(42))
    assert split[0].indices == again[0].indices
    g = lt.manual_seed(7)
    assert g is lt.default_generator and g.initial_seed() == 7
    x = lt.randn(3, generator=g)
    lt.manual_seed(7)
    assert lt.equal(lt.randn(3), x)


def test_the_default_generator_stands_for_none():
    lt.manual_seed(3)
    plain = lt.randn(4), lt.randperm(5), lt.zeros(3).uniform_()
    lt.manual_seed(3)
    g = lt.default_generator
    given = lt.randn(4, generator=g), lt.randperm(5, generator=g), lt.zeros(3).uniform_(generator=g)
    assert all(lt.equal(a, b) for a, b in zip(plain, given))


def test_switches_decorate_without_parentheses():
    @lt.enable_grad
    def grown(x):
        return x * 2

    with lt.no_grad():
        assert grown(lt.ones(1, requires_grad=True)).requires_grad


def test_a_sum_of_bools_is_bool_whatever_alpha():
    b = lt.tensor([True, False])
    for alpha, want in ((True, [True, False]), (2, [True, False]), (0, [True, False])):
        assert lt.equal(lt.add(b, b, alpha=alpha), lt.tensor(want))
    assert lt.add(~b, b, alpha=0).tolist() == [False, True]
    assert lt.add(lt.tensor([1, 2]), b, alpha=3).tolist() == [4, 2]
