"""What is joined, padded, shifted or written into a slice is read where it comes from by the group
that reads it: programs at random, of all of these, with the bytes of eager code, and gradients."""

import random

import pytest
from compare import bits_of

import lathe as lt
from lathe.nn import functional as F

WORDS = ("read_in_pieces", "sum_to_most")


class Program:
    """A function of a tensor of some axes, made of steps that keep its shape."""

    def __init__(self, seed):
        rng = random.Random(seed)
        self.rank = rng.choice((1, 2, 2, 3))
        self.axes = [rng.randrange(self.rank) for _ in range(8)]
        self.numbers = [rng.choice((-3, -1, 0, 1, 2, 3)) for _ in range(8)]
        self.steps = [rng.choice(STEPS) for _ in range(rng.randrange(2, 6))]
        self.dtype = rng.choice((lt.float32, lt.float32, lt.float64, lt.float16, lt.int32))
        self.turned = self.rank > 1 and rng.random() < 0.2
        # What is decided by size is decided at the first call.
        large = {1: 9000, 2: 150, 3: 40}[self.rank]
        self.sizes = [[large + rng.randrange(9) for _ in range(self.rank)]]
        self.sizes += [[rng.randrange(1, 9) for _ in range(self.rank)] for _ in range(2)]
        self.sizes.append([rng.choice((1, 40, 70)) for _ in range(self.rank)])

    def inputs(self, size):
        shape = list(reversed(size)) if self.turned else size
        made = [lt.randn(*shape) * 3 for _ in range(2)]
        made = [x.permute(*reversed(range(self.rank))) for x in made] if self.turned else made
        return [x.to(self.dtype) for x in made]

    def __call__(self, x, y):
        for k, step in enumerate(self.steps):
            x = step(x, y, self.axes[k], self.numbers[k])
        return x


def rolled(x, y, axis, n):
    return lt.roll(x, n, axis) * 2 + x


def turned_round(x, y, axis, n):
    half = x.shape[axis] // 2
    a, b = x.narrow(axis, 0, half), x.narrow(axis, half, x.shape[axis] - half)
    return lt.cat((-b, a), axis) * y + x


def padded(x, y, axis, n):
    short = x.narrow(axis, 0, x.shape[axis] - 1)
    pads = [0] * (2 * (x.ndim - axis) - 2) + ([1, 0] if n > 0 else [0, 1])
    return F.pad(short, pads) + y


def written(x, y, axis, n):
    out = x * 2
    out.narrow(axis, 0, 1).copy_(y.narrow(axis, 0, 1) - 1)
    return out + y


def added(x, y, axis, n):
    out = x + 0
    length = x.shape[axis] - 1
    out.narrow(axis, 1 if n > 0 else 0, length).add_(y.narrow(axis, 0, length) * 3)
    return out * y


def differences(x, y, axis, n):
    length = x.shape[axis] - 1
    d = x.narrow(axis, 1, length) - x.narrow(axis, 0, length)
    out = lt.zeros_like(x)
    out.narrow(axis, 0, length).sub_(d)
    out.narrow(axis, 1, length).add_(d)
    return out + x


def joined(x, y, axis, n):
    return lt.cat((x, y, x), axis).narrow(axis, abs(n) % 3, x.shape[axis]) - y


def masked(x, y, axis, n):
    half = x.shape[axis] // 2
    a, b = x.narrow(axis, 0, half), y.narrow(axis, half, x.shape[axis] - half)
    return lt.where(lt.cat((~(a > 0), (b > 0) ^ (b < 2)), axis), x, y)


def counted(x, y, axis, n):
    length = x.shape[axis] - 1
    out = x.to(lt.int64)
    out.narrow(axis, 1, length).copy_((y.narrow(axis, 0, length).to(lt.int64) << 1) & 7)
    return (out + 1).to(x.dtype)


def surrounded(x, y, axis, n):
    """Slices of what has a border on all sides."""
    mode = ("constant", "replicate", "circular")[n % 3]
    wide = F.pad(x, [1] * (2 * x.ndim), mode=mode)
    for other in range(x.ndim):
        if other != axis:
            wide = wide.narrow(other, 1, x.shape[other])
    length = x.shape[axis]
    return wide.narrow(axis, 0, length) + wide.narrow(axis, 2, length) * y - x


def rolled_twice(x, y, axis, n):
    return lt.roll(x, (n, 1 - n), (axis, (axis + 1) % x.ndim)) * 2 - y


def joined_and_rolled(x, y, axis, n):
    length = x.shape[axis]
    both = lt.roll(lt.cat((x, F.pad(y, [1, 2]).narrow(-1, 1, y.shape[-1])), axis), n, axis)
    return both.narrow(axis, 1, length) * both.narrow(axis, length - 1, length)


def read_by_several(x, y, axis, n):
    """Groups that are not one: what is between them moves elements in another way."""
    moved = lt.roll(x, n, axis)
    first = moved + y
    return moved - first.flip(axis) * y


STEPS = [masked, counted, rolled, turned_round, padded, written, added, differences, joined]
STEPS += [surrounded, rolled_twice, joined_and_rolled, read_by_several]


@pytest.mark.parametrize("first", range(0, 120, 20))
def test_programs_at_random(first):
    for seed in range(first, first + 20):
        program = Program(seed)
        traced = lt.trace(program)
        lt.manual_seed(seed)
        for size in program.sizes:
            x, y = program.inputs(size)
            want = program(x, y)
            assert bits_of([traced(x, y)]) == bits_of([want]), (seed, size)


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_gradients_at_random(first):
    for seed in range(first, first + 20):
        program = Program(seed)
        if program.dtype == lt.int32:
            continue

        def gradients(x, y, program=program):
            x, y = x.detach().requires_grad_(), y.detach().requires_grad_()
            return lt.autograd.grad((program(x, y) + x + y).square().sum(), [x, y])

        traced, model = lt.trace(gradients), lt.trace(program)
        lt.manual_seed(seed)
        for size in program.sizes:
            x, y = program.inputs(size)
            want = bits_of(gradients(x, y))
            assert bits_of(traced(x, y)) == want, (seed, size)
            assert bits_of(gradients(x, y, model)) == want, (seed, size)


def fired(traced):
    lines = traced.explain(verbose=True).splitlines()
    return any(word in line and "unchanged" not in line for line in lines for word in WORDS)


def steps_of(function, *inputs):
    """How many the program has; its results are eager's."""
    traced = lt.trace(function)
    got = traced(*inputs)
    assert bits_of([got]) == bits_of([function(*inputs)])
    return int(traced.explain().split(" step")[0].split()[-1])


def test_a_rotation_is_one_kernel():
    def rotated(q, cos, sin):
        half = q.shape[-1] // 2
        return q * cos + lt.cat((-q[..., half:], q[..., :half]), -1) * sin

    q, cos, sin = lt.randn(2, 3, 50, 64), lt.randn(50, 64), lt.randn(50, 64)
    assert steps_of(rotated, q, cos, sin) == 1


def test_a_stencil_is_one_kernel():
    def laplacian(u):
        return sum(lt.roll(u, by, axis) for axis in (0, 1) for by in (1, -1)) - 4 * u

    assert steps_of(laplacian, lt.randn(50, 60)) == 1
    assert steps_of(laplacian, lt.randn(2, 2)) == 1
    assert steps_of(laplacian, lt.randn(5000, 3)) > 1  # rows of one element cost more than memory


def test_a_limit_of_a_part_has_its_gradient():
    def f(x):
        x = x.detach().requires_grad_()
        part = x[1:]
        return lt.autograd.grad((part.clamp(1, 5) * part).square().sum(), [x])

    x = lt.randn(400)
    assert bits_of(lt.trace(f)(x)) == bits_of(f(x))


def test_a_stencil_of_slices_is_one_kernel():
    """A border around two axes, of zeros or of what is at the ends, and slices of that."""

    def spread(x, mode):
        p = F.pad(x[None, None], (1, 1, 1, 1), mode=mode)[0, 0]
        return x + 0.1 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * x)

    for mode in ("constant", "replicate", "circular"):
        assert steps_of(lambda x, mode=mode: spread(x, mode), lt.randn(300, 400)) == 1


def test_a_shift_along_two_axes_is_one_kernel():
    def alive(g):
        n = sum(lt.roll(g, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
        return ((n == 3) | ((g == 1) & (n == 2))).long()

    assert steps_of(alive, lt.randint(0, 2, (256, 256))) == 1


def test_several_groups_read_the_pieces_of_one_shift():
    def f(x, y):
        moved = lt.roll(x, 1, 0)
        return (moved * y).flip(0) - moved

    x, y = lt.randn(300, 64), lt.randn(300, 64)
    assert steps_of(f, x, y) == 2


def test_what_is_read_in_another_way_is_made():
    def f(x, y):
        both = lt.cat((x, y))
        return (both * 2).sum() + both.max()

    x, y = lt.randn(5), lt.randn(6)
    assert bits_of([lt.trace(f)(x, y)]) == bits_of([f(x, y)])


def test_the_pass_is_switched_off(flag):
    x, y = lt.randn(5, 400), lt.randn(5, 400)
    on, off = (lt.trace(lambda x, y: lt.cat((x, y), 1) * 2) for _ in range(2))
    want = bits_of([on(x, y)])
    assert fired(on)
    flag("rewrites_off", "read_in_pieces")
    assert bits_of([off(x, y)]) == want
    assert not fired(off)


def diffused(u):
    u += 0.1 * (lt.roll(u, 1, 0) + lt.roll(u, -1, 0) - 2 * u)
    return u.sum()


def shifted_into_itself(u):
    u[1:] += u[:-1].clone() * 2
    u[:-1] -= u[1:] * 0.5
    return u * 1


def turned_over(u):
    u.copy_(lt.cat((u[3:], -u[:3])) + 1)
    return u * 2


@pytest.mark.parametrize("function", [diffused, shifted_into_itself, turned_over])
def test_a_tensor_that_is_read_in_pieces_and_written(function):
    """Its elements are read at other positions than they are written at."""
    traced = lt.trace(function)
    for n in (5000, 7, 300):
        ours = lt.randn(n, 3)
        theirs = ours.clone()
        for _ in range(3):
            got, want = traced(ours), function(theirs)
            assert bits_of([got, ours]) == bits_of([want, theirs])


def filled_as_data_says(x, t):
    y = x * 1
    y[: int(t) % 3] = 0.5
    return x + y


def rows_as_data_says(x, t):
    k = int(t)
    y = lt.cat((x[k:], x[:k] * 2))
    return y + x


@pytest.mark.parametrize("function", [filled_as_data_says, rows_as_data_says])
def test_a_place_that_data_decides(function):
    """No size says where it is: it is moved as before."""
    scripted = lt.script(function)
    for n in (2, 500, 7):
        x = lt.randn(n)
        for k in (2, 1, 0, 2):
            t = lt.tensor(k)
            assert bits_of([scripted(x, t)]) == bits_of([function(x, t)]), (n, k)


def compared(x, y, s):
    m = lt.cat((y[:500] > 0, x[500:] == s.expand(500)))
    return lt.where(m, y, -y)


def scaled(x, y, s):
    return lt.cat((y[:500] * 2, x[500:] * s.expand(500))) + y


@pytest.mark.parametrize("function", [compared, scaled])
def test_what_is_repeated_of_nothing_keeps_its_dtype(function):
    """0.1 of float32 is not 0.1 of float64, which a tensor without axes would be compared as."""
    x, y = lt.full((1000,), 0.1), lt.randn(1000, dtype=lt.float64)
    for dtype in (lt.float64, lt.float32):
        s = lt.tensor(0.1, dtype=dtype)
        assert bits_of([lt.trace(function)(x, y, s)]) == bits_of([function(x, y, s)])


def test_a_failure_names_the_element_of_the_whole(tmp_path):
    def f(a, b, c):
        return lt.cat([a, b]) // c

    a, c = lt.arange(1000), lt.ones(2000, dtype=lt.int64)
    lt.save(f, tmp_path / "f.lathe", inputs=(a, a, c))
    program = lt.load(tmp_path / "f.lathe")
    c[1700] = 0
    with pytest.raises(lt.ValueError, match=r"floor_divide: .*[\s\S]*1700"):
        program(a, a, c)


def test_a_sum_in_place_is_one_kernel():
    """Python writes what `+=` has written once more."""

    def f(u, d):
        u = u + 1
        u[1:] += d
        return u

    u, d = lt.randn(3000), lt.randn(2999)
    assert steps_of(f, u, d) == 1


def test_places_far_outside_are_nowhere():
    def f(x, v):
        y = x * 1
        y[2**61 :] = v
        return y + x

    x, v = lt.randn(4, 600), lt.randn(0, 600)
    assert bits_of([lt.trace(f)(x, v)]) == bits_of([f(x, v)])


def test_what_is_shifted_is_not_kept_for_the_gradient():
    """A loop would write a row of it each round; the gradient reads the pieces of what it had."""

    def f(h, w):
        h, w = h.detach().requires_grad_(), w.detach().requires_grad_()
        end = lt.fori_loop(0, 20, lambda i, h: h * w + lt.roll(h, 1) * w, h)
        return lt.autograd.grad(end.square().sum(), [h, w])

    h, w = lt.randn(60), lt.rand(60) / 2
    traced = lt.trace(f)
    assert bits_of(traced(h, w)) == bits_of(f(h, w))
    assert traced.explain().count("slice_put -> f32[20, ") == 1  # of h: a row a round
