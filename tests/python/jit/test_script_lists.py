"""Lists of a script that grow and shrink as data decides: equal to eager's, one program for all
lengths, or refused where a row could be told from the tensor that was appended."""

import functools
import heapq
import itertools
from typing import NamedTuple

import pytest
from script_checks import check, f32, same

import lathe as lt
from lathe import nn

# No round, one, several; the last of them positive everywhere.
CALLS = [(f32(*v),) for v in ((0.3, 0.2, -0.1), (1, 1, -0.5), (5, -2, 3), (-1, -2, -3), (9, 8, 7))]


class Step(NamedTuple):
    size: float
    x: lt.Tensor


class Log:
    def __init__(self, x=None):
        self.kept = []
        if x is not None:
            self.first = x if x.sum() > 0 else -x


def halves(x):
    found = []
    while x.sum() > 1:
        x = x * 0.5
        found.append(x)
    return found


def sums(x):
    found = []
    while x.sum() > 1:
        x = x * 0.5
        found.append(x.sum().item())
    return found


def tokens(x):
    found = []
    while True:
        x = lt.tanh(x * 1.3 + 0.1).roll(1)
        found.append(x.argmax().item())
        if found[-1] == 2 or len(found) >= 9:
            break
    return found, len(found)


def stacked(x):
    found = [x]
    while found[-1].abs().sum() > 1:
        found.append(found[-1] * 0.5)
    return lt.stack(found), lt.stack(found, dim=1), lt.cat(found, -1), len(found)


def joined(x):
    found = halves(lt.stack([x, x]))
    return lt.cat(found, 1) if found else lt.stack([x, x])


def under_an_if(x):
    found = []
    for i in range(len(x)):
        if x[i] > 0:
            found.append(x[i] * 2)
    return found


def comprehended(x):
    big = [v * 2 for v in x if v > 0]
    return big, [v + 1 for v in big], [(a, b) for a in big for b in x if b < a]


def tuples(x):
    found = []
    while x.sum() > 0.5:
        x = x * 0.7
        found.append(Step(x.max().item(), x))
    sizes = [size for size, _ in found]
    return found, sizes


def depth_first(x):
    stack, order = [2], []
    while stack:
        k = stack.pop()
        order.append(k)
        if k > 0:
            stack.append(k - 1)
            if x[k] > 0:
                stack.append(k - 2 if k > 1 else 0)
    return order


def breadth_first(x):
    queue, n = [0], 0
    while len(queue) > 0 and n < 20:
        k = queue.pop(0)
        n += 1
        if x[k % 3] > 0 and k < 12:
            queue += [k * 2 + 1, k * 2 + 2]
    return queue, n


def by_name(x):
    found = []
    while x.sum() > 1:
        x = x * 0.5
        found = [x.sum(), *found[:0]] + found if len(x) == 0 else found + [x.sum()]
    return found


def changed(x):
    found = sums(x)
    found.reverse()
    found.insert(0, 7.5)
    tail = found[1:]
    del found[0]
    found[0:0]
    if tail:
        tail[0] = 0.5
    return found, tail, found[::-1], found[:-1], found.copy(), list(found), found + [1.0]


def asked(x):
    found = [int(v) for v in sums(x)]
    found.append(3)
    return max(found), min(found), sum(found), any(found), all(found), 3 in found, not found


def gone_through(x):
    total, counted = lt.zeros(3), 0
    found = halves(x)
    for i, v in enumerate(found, 1):
        total = total + v * i
    for v, w in zip(found, [w + 1 for w in found]):
        total = total - v * w
    for v in reversed(found):
        total = total * 0.5 + v
        if v.sum() > 2:
            break
        counted += 1
    return total, counted


def added(x):
    found = halves(x)
    found.append(x)
    return sum(found), sum([v.sum() for v in found], 1)


def as_tensors(x):
    found = sums(x)
    found.append(1.0)
    return lt.tensor(found), lt.tensor([int(v) for v in found]), lt.tensor([v > 1 for v in found])


def in_objects(x):
    log, d = Log(x), {"l": []}
    log.found = []
    while x.sum() > 1:
        x = x * 0.5
        log.found.append(x)
        if x[0] > 0.5:
            log.kept.append(x[0].item())
        d["l"].append(len(log.found))
    return log, d


def by_reference(x):
    def fill(into, y):
        while y.sum() > 1:
            y = y * 0.5
            into.append(y)
        return into

    mine = []
    given = fill(mine, x)
    return len(mine), given is mine, given


def by_data(x):
    found = [x, x * 2, x * 3]
    k = x.argmax()
    counts = [0, 0, 0]
    for v in x:
        counts[int(v.abs()) % 3] += 1
    return found[k], found[int(k) - 3], found[: int(k)], counts


def returned(x):
    found = []
    for _ in range(8):
        x = x * 0.6
        found.append(x)
        if x.sum() < 1:
            return found, 1
    return found, 2


def emptied(x):
    found = halves(x)
    n = len(found)
    found.clear()
    found.extend([x, x + 1])
    found.extend(found)
    return n, found


ALL = [halves, sums, tokens, stacked, joined, under_an_if, comprehended, tuples, depth_first,
       breadth_first, by_name, changed, asked, gone_through, added, as_tensors, in_objects,
       by_reference, returned, emptied]  # fmt: skip


@pytest.mark.parametrize("f", ALL, ids=lambda f: f.__name__)
def test_lists_that_data_makes_longer(f):
    scripted = check(f, *CALLS)
    assert scripted.counts["traces"] == 1 and "ran as they are" not in scripted.explain()


def test_lists_are_read_by_data():
    calls = [c for c in CALLS if c[0].argmax() < 3]
    assert check(by_data, *calls).counts["traces"] == 1


@pytest.mark.parametrize(
    "f, error",
    [
        (lambda x: halves(x)[0], IndexError),
        (lambda x: halves(x)[int(x[0])], IndexError),
        (lambda x: halves(x).pop(), IndexError),
        (lambda x: halves(x).pop(1), IndexError),
        (lambda x: max(sums(x)), ValueError),
        (lambda x: lt.stack(halves(x)), Exception),
        (lambda x: [x, x][int(x[0])], IndexError),
    ],
)
def test_errors_of_lists_are_those_of_eager_code(f, error):
    scripted = lt.script(f)
    scripted(f32(1, 1, 1))
    for _ in range(2):
        with pytest.raises(error) as theirs:
            f(f32(-9, 0, 0))
        with pytest.raises(type(theirs.value)) as mine:
            scripted(f32(-9, 0, 0))
        assert str(mine.value) == str(theirs.value)


def test_gradients_through_lists():
    def f(x, w):
        found = []
        while x.abs().sum() > 1:
            x = lt.tanh(x @ w) * 0.9
            found.append(x)
        return lt.stack(found).sum() if found else (x * w).sum()

    scripted = lt.script(f)
    for k in (1, 3, 0.01):
        grads = []
        for g in (f, scripted):
            x = (f32(1, 2) * k).requires_grad_()
            w = lt.tensor([[0.5, -0.25], [0.125, 0.5]]).requires_grad_()
            g(x, w).backward()
            grads.append([x.grad, w.grad])
        same(*grads)


def test_what_is_appended_keeps_its_history():
    """Also where nothing is recorded."""

    def f(x, w):
        found, h = [], x * w
        with lt.no_grad():
            while len(found) < 3 and x.sum() > 0:
                found.append(h)
            last = found[-1] if found else h
        return last.sum()

    scripted = lt.script(f)
    for k in (1, -1, 2):
        grads = []
        for g in (f, scripted):
            w = lt.ones(2).requires_grad_()
            g(lt.ones(2) * k, w).backward()
            grads.append(w.grad)
        same(*grads)


def test_a_list_with_a_history_does_not_grow_in_a_loop_without():
    def f(x):
        found = [x * 2]
        with lt.no_grad():
            while x.sum() > 1:
                x = x * 0.5
                found.append(x)
        return found[0]

    with pytest.raises(lt.ScriptError, match="grows in a loop under no_grad"):
        lt.script(f)(f32(1, 2, 3).requires_grad_())
    check(f, *CALLS)


class Outside:
    numbers, tensors = [1, 2], []


def takes_from_outside(x):
    found, sizes = halves(x), []
    found.extend(Outside.tensors)
    while x.sum() > 1:
        x = x * 0.5
        sizes.append(int(x.sum()))
    sizes += Outside.numbers
    total = 0
    for a, b in zip(sizes, Outside.numbers):
        total = total + a * b
    return found, Outside.numbers + sizes, 2 in sizes, total


def test_lists_from_outside_are_read_as_they_are_at_each_call():
    scripted = lt.script(takes_from_outside)
    for k, call in enumerate(CALLS):
        Outside.numbers, Outside.tensors = [k, 2], [f32(k, k, k)] * (k % 3)
        same(scripted(*call), takes_from_outside(*call))


def test_modules_keep_what_they_find():
    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = nn.GRUCell(3, 3)

        def forward(self, x):
            h, tokens, states = lt.zeros(1, 3), [], []
            with lt.no_grad():
                while len(tokens) < 6:
                    h = self.cell(x, h)
                    token = h.argmax(-1)
                    tokens.append(token.item())
                    states.append(h)
                    if token == 0:
                        break
            self.last = tokens
            return tokens, lt.cat(states)

    lt.manual_seed(3)
    model = Decoder()
    scripted = lt.script(model)
    for x in (f32(1, 2, 3), f32(-1, 5, 0), f32(0, -3, 4)):
        mine = scripted(x.reshape(1, 3)), model.last
        same(mine, (model(x.reshape(1, 3)), model.last))
    assert scripted.counts["traces"] == 1


def test_calls_inside_of_loops_that_carry_lists():
    """Two lists that a loop names anew are two: neither is taken for the other."""

    def f(x):
        a, b = [x], [x + 1]
        n = 0
        while x.sum() > 1:
            x = x * 0.5
            a = a + [x]
            if n > 1:
                b = b + [x * 2]
            n += 1
        return a, b, n

    check(f, *CALLS)


def kept_while_it_grows(x):
    found, n, kept, taken = [x], 0, [x], x
    while n < 40 and x.sum() > 0:
        x = x * 1.01
        found.append(x)
        if n % 7 == 3:
            kept = found.copy()
        if n % 5 == 4:
            taken = found.pop() + found.pop(0)
            found.append(taken * 2)
        if n % 11 == 10:
            found = found[2:]
        n += 1
    return found, kept, taken


def test_a_list_grows_where_it_lies():
    scripted = check(kept_while_it_grows, *CALLS)
    assert "own.extend" in scripted.explain(verbose=True)


def test_a_tensor_grows_where_it_lies():
    def f(x, n):
        y, z = x[:0], lt.zeros(0, dtype=lt.int64)
        while y.shape[0] < n:
            y = lt.cat([y, x + y.shape[0]])
            if y.shape[0] % 2 == 0:
                z = lt.cat([z, (y[-3:] * 2).long()])
        return y, z

    scripted = check(f, *[(f32(1, 2, 3), lt.tensor(n)) for n in (5, 0, 1, 30, 300)])
    assert scripted.explain(verbose=True).count("own.extend") == 2


class Holder:
    def __init__(self, items):
        self.items = items

    @property
    def is_list(self):
        return isinstance(self.items, list) and len(self.items) > 1


class Pair(NamedTuple):
    items: list
    n: int


def handed_on(x):
    found, every, d = [], [], {}
    held, pair = Holder(found), Pair(found, 1)
    every.append(found)
    d.update(k=found)
    add = functools.partial(lambda into, v: into.append(v), found)
    while x.sum() > 1:
        x = x * 0.5
        add(x.sum())
    return held.items, pair, every, d, held.items is found, held.is_list


def by_iterators(x):
    found, total = [], 0.0
    for v in x:
        if v > 0:
            found.append(v.item())
    for v in reversed(found):
        found[0] = 100.0
        total = total * 0.5 + v
    grows = found.copy()
    for v, i in zip(grows, range(100)):
        total = total + v * i
        if len(grows) < 8 and total > 3:
            grows.append(total)
    z = [v for v in found if v in grows]
    return total, z, grows, lt.tensor([1, 2, 3, 4, 5, 6])[[int(v) % 6 for v in found]]


def of_levels(x):
    level, n, seen = [0], 0, []
    while level and n < 5:
        following = []
        for k in level:
            if k in seen:
                continue
            seen.append(k)
            if x[k % 3] > 0:
                following += [k + 1, k + 2]
        level = following
        n += 1
    return seen, n


def generated(x):
    return sum(v for v in x if v > 0), any(v > 2 for v in x if v > 0), [*x][0]


def quickselect(x):
    left, k = [v.item() for v in x], 1
    while len(left) > 1:
        low = [v for v in left if v < left[0]]
        equal = [v for v in left if v == left[0]]
        high = [v for v in left if v > left[0]]
        if k < len(low):
            left = low
        elif k < len(low) + len(equal):
            left = equal[:1]
        else:
            k = k - len(low) - len(equal)
            left = high
    return left[0]


def best_of(x):
    best, most = [], -1.0
    for v in x:
        found, w = [v], v
        while w > 1:
            w = w * 0.5
            found.append(w)
        if v > most:
            most, best = v.item(), found
    return best


def names_that_end(x):
    n, scale = 0, [lt.sin, lt.cos]
    for _ in range(3):
        for f in scale:
            x = f(x)
            last = f  # noqa: F841
            if x.sum() < 1:
                break
        n = n + 1
        if x[0] > 0.9:
            y = 1  # noqa: F841
        else:
            y = x  # noqa: F841
    return x, n


@pytest.mark.parametrize(
    "f",
    [handed_on, by_iterators, of_levels, generated, quickselect, best_of, names_that_end],
    ids=lambda f: f.__name__,
)
def test_lists_that_are_handed_on(f):
    check(f, *[c for c in CALLS if f is not generated or c[0].max() > 0])


def test_max_and_in_of_floats():
    def f(x):
        found = [v.item() for v in x if v < 1]
        return max(found), min(found), found[0] in found

    scripted = lt.script(f)
    for v in ((-0.0, 0.0, 5), (0.0, -0.0, -1), (float("nan"), 0.5, 2)):
        assert repr(scripted(f32(*v))) == repr(f(f32(*v)))


def chosen_by_data(x):
    a, b = [], []
    for v in x:
        (a if v > 0 else b).append(v)
    return a, b


def chosen_by_name(x):
    now, best = [], []
    for v in x:
        if v > 4:
            best = now
        now.append(v)
    return best


def chosen_dict(x):
    a, b = {"v": x}, {"v": x + 1}
    c = a if x.sum() > 1 else b
    c["v"] = x * 2
    return a, b


def chosen_and_read(x):
    best, found = [], []
    for v in x:
        part = [v, v * 2]
        if v > 1:
            best = part
        part.append(v * 3)
        found.append(best)
    return best


def chosen_in_a_loop(x):
    a, b, n = [x], [x + 1], 0
    while n < x.sum():
        b = a
        n += 2
    b[0] = x * 2
    return a, b


@pytest.mark.parametrize(
    "f",
    [chosen_by_data, chosen_by_name, chosen_dict, chosen_and_read, chosen_in_a_loop],
    ids=lambda f: f.__name__,
)
def test_one_of_two_lists_is_that_list(f):
    with pytest.raises(lt.ScriptError, match="copy it"):
        lt.script(f)(f32(5, -2, 3))


def writes_after_a_loop(x):
    h = x.clone()
    found = [h]
    while x.sum() > 1:
        x = x * 0.5
        found.append(x)
    h += 1
    return found


def writes_an_argument(x):
    found = [x[:2]]
    for _ in range(int(x[0])):
        found.append(x[:2] * 2)
    x[0] = 77
    return found[0]


def writes_what_a_loop_may_hand_on(x):
    y, h = x, x.clone()
    if x[0] > 100:
        y = h
    while y.sum() < 1:
        y = y + 1
    h += 1
    return y


def writes_what_it_appended(x):
    found = []
    h = x.clone()
    while h.sum() > 1:
        h = h * 0.5
        found.append(h)
        h += 0.01
    return found


def writes_each_round(x):
    found, h, n = [], x.clone(), 0
    while n < 3 and x.sum() > 0:
        h += 1
        found.append(h)
        n += 1
    return found


def writes_an_item(x):
    found = halves(x)
    if len(found) > 0:
        found[-1].mul_(2)
    return found


def writes_what_is_in_it(x):
    h = x.clone()
    found = [h] + halves(x)
    h += 1
    return found


@pytest.mark.parametrize(
    "f",
    [
        writes_what_it_appended,
        writes_each_round,
        writes_an_item,
        writes_what_is_in_it,
        writes_after_a_loop,
        writes_an_argument,
        writes_what_a_loop_may_hand_on,
    ],
)
def test_writes_that_would_tell_a_row_from_its_tensor(f):
    with pytest.raises((lt.TraceError, lt.ScriptError), match="clone"):
        lt.script(f)(f32(5, 2, 3))


def quicksort(x):
    def sorted_list(a):
        if len(a) <= 1:
            return a
        low, high = [v for v in a[1:] if v < a[0]], [v for v in a[1:] if v >= a[0]]
        return sorted_list(low) + [a[0]] + sorted_list(high)

    return sorted_list([v * 1 for v in x])


class Operators:
    def __add__(self, other):
        return isinstance(other, list)


outside = []


def grows_outside(x):
    for v in x:
        if v > 0:
            outside.append(v)


@pytest.mark.parametrize(
    "f, said",
    [
        (grows_outside, "another structure"),
        (quicksort, "calls itself as data decides, with a list"),
        (lambda x: print(halves(x)), r"print\(\) of a list whose length data decides"),
        (lambda x: f"{sums(x)}", "list whose length data decides"),
        (lambda x: halves(x) == [], "list whose length data decides"),
        (lambda x: x in halves(x), "'in' of a list of tensors"),
        (lambda x: halves(x) * 2, "list whose length data decides"),
        (lambda x: sums(x).index(1.0), r"index\(\) of a list"),
        (lambda x: [1, x][int(x[0])], r"holds numbers \(int\) and tensors"),
        (lambda x: [x, x[:2]][int(x[0])], r"float32\[.*\] and float32\[2\]"),
        (lambda x: [None, x][int(x[0])], "class NoneType"),
        (lambda x: halves(x)[::2], "a slice with a step"),
        (lambda x: lt.stack(sums(x)), "tensors are asked for"),
        (lambda x: lt.tensor(halves(x)), "of a list of tensors"),
        (lambda x: sorted(sums(x)), r"sorted\(\) of a list"),
        (lambda x: {v for v in x if v > 0}, "a comprehension whose length data decides"),
        (lambda x: [v for v, _ in zip(halves(x), itertools.count())], "zip"),
        (lambda x: max(sums(x), default=0.0), r"max\(\) of a list"),
        (lambda x: next(iter(halves(x))), "an iterator over a list .* is kept"),
        (lambda x: halves(x).__class__, "__class__ of a list"),
        (lambda x: x if halves(x)[0].requires_grad else -x, "requires_grad of a tensor"),
        (lambda x: heapq.heappush(sums(x), 1.0), r"heappush\(\) of a list"),
        (lambda x: Operators() + halves(x), "whose operators are code"),
    ],
)
def test_what_such_lists_do_not(f, said):
    with pytest.raises((lt.TraceError, lt.ScriptError), match=said) as caught:
        lt.script(f)(f32(1, 2, 3))
    assert "test_script_lists.py" in str(caught.value) and "next:" in str(caught.value)


def test_a_file_has_no_place_for_such_a_list(tmp_path):
    with pytest.raises(lt.Error, match="list"):
        lt.save(lt.script(halves), str(tmp_path / "halves.lathe"), inputs=[f32(1, 2, 3)])
    path = str(tmp_path / "n.lathe")
    lt.save(lt.script(lambda x: lt.tensor(len(halves(x)))), path, inputs=[f32(1, 2, 3)])
    assert lt.load(path)(f32(5, 5, 5)).item() == 4
