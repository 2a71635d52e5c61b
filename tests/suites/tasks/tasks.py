"""Six tasks over scikit-learn's bundled data: model, step, and what is measured at the end.

A task is a function of a seed that gives a Task. Splits, seeds and bars are fixed here, before any
run; features are standardised by the training split alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn import datasets, linear_model

import lathe as lt
from lathe import nn, optim
from lathe.nn import functional as F


@dataclass
class Task:
    parameters: list
    loss: Callable  # of a batch's tensors
    batches: list  # tuples of tensors, in the order of the steps
    score: Callable[[], float]
    bar: float
    most: bool = True  # the score is to be at least the bar, else at most
    optimiser: Callable = partial(optim.Adam, lr=2e-3)  # of the parameters


def split(count, seed=0, part=0.25):
    """(indices to train on, to test on): the same for every seed of a task."""
    order = np.random.default_rng(seed).permutation(count)
    held = int(count * part)
    return order[held:], order[:held]


def standardised(train, test):
    mean, scale = train.mean(0), train.std(0)
    scale[scale == 0] = 1
    return [((x - mean) / scale).astype("float32") for x in (train, test)]


def tensors(*arrays):
    return tuple(lt.from_numpy(np.ascontiguousarray(a)) for a in arrays)


def in_batches(arrays, epochs, size, seed):
    """Batches of every epoch in turn, all of one size."""
    rng, found = np.random.default_rng(seed), []
    count = len(arrays[0])
    for _ in range(epochs):
        order = rng.permutation(count)
        for at in range(0, count - size + 1, size):
            found.append(tensors(*(a[order[at : at + size]] for a in arrays)))
    return found


def digits():
    images, labels = datasets.load_digits(return_X_y=True)
    train, test = split(len(images))
    images = (images / 16).astype("float32")
    return images[train], labels[train], images[test], labels[test]


def accuracy(model, images, labels):
    model.eval()
    with lt.no_grad():
        found = model(*tensors(images)).argmax(1).numpy()
    return float((found == labels).mean())


def digits_network(model, epochs, bar, seed, shape):
    images, labels, test, wanted = digits()
    images, test = images.reshape(-1, *shape), test.reshape(-1, *shape)

    def loss(x, y):
        return F.cross_entropy(model(x), y)

    batches = in_batches((images, labels), epochs, 64, seed)
    return Task(list(model.parameters()), loss, batches,
                lambda: accuracy(model, test, wanted), bar)  # fmt: skip


def digits_cnn(seed):
    lt.manual_seed(seed)
    model = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(512, 10),
    )  # fmt: skip
    return digits_network(model, 20, 0.97, seed, (1, 8, 8))


def digits_mlp(seed):
    lt.manual_seed(seed)
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    return digits_network(model, 25, 0.955, seed, (64,))


def cancer_logistic(seed):
    """The loss of a regularised regression, over scikit-learn's optimum."""
    features, labels = datasets.load_breast_cancer(return_X_y=True)
    train, test = split(len(features))
    x, _ = standardised(features[train], features[test])
    x, y = x.astype("float64"), labels[train].astype("float64")
    best = linear_model.LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000).fit(x, labels[train])

    count = len(train)

    def objective(weight, bias, x, y):
        signs = 2 * y - 1
        z = (x @ weight + bias) * signs
        return F.softplus(-z).mean() + 0.5 * (weight * weight).sum() / count

    optimum = objective(*tensors(best.coef_[0], best.intercept_), *tensors(x, y)).item()
    lt.manual_seed(seed)
    weight = (0.01 * lt.randn(x.shape[1], dtype=lt.float64)).requires_grad_()
    bias = lt.zeros(1, dtype=lt.float64, requires_grad=True)
    data = tensors(x, y)
    return Task(
        [weight, bias], lambda x, y: objective(weight, bias, x, y), [data] * 600,
        lambda: objective(weight, bias, *data).item() / optimum, 1.005, most=False,
        optimiser=partial(optim.Adam, lr=2e-2),
    )  # fmt: skip


def diabetes_ridge(seed):
    """Distance of the weights from the closed form."""
    features, target = datasets.load_diabetes(return_X_y=True)
    x = (features - features.mean(0)) / features.std(0)
    y = (target - target.mean()) / target.std()
    strength = 1.0
    wanted = np.linalg.solve(x.T @ x + strength * np.eye(x.shape[1]), x.T @ y)
    lt.manual_seed(seed)
    weight = lt.randn(x.shape[1], dtype=lt.float64).requires_grad_()

    def loss(x, y):
        off = x @ weight - y
        return 0.5 * (off * off).sum() + 0.5 * strength * (weight * weight).sum()

    # Descent with momentum, at the rates that its least and its largest curvature make best.
    curvatures = np.sqrt(np.linalg.eigvalsh(x.T @ x)[[0, -1]] + strength)
    rate = 4 / curvatures.sum() ** 2
    momentum = ((curvatures[1] - curvatures[0]) / curvatures.sum()) ** 2
    return Task(
        [weight], loss, [tensors(x, y)] * 1000,
        lambda: float(np.abs(weight.detach().numpy() - wanted).max()), 1e-6, most=False,
        optimiser=partial(optim.SGD, lr=float(rate), momentum=float(momentum)),
    )  # fmt: skip


def digits_autoencoder(seed):
    """Mean squared error of the test images, through 12 numbers each."""
    images, _, test, _ = digits()
    lt.manual_seed(seed)
    model = nn.Sequential(
        nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 12),
        nn.Linear(12, 48), nn.ReLU(), nn.Linear(48, 64), nn.Sigmoid(),
    )  # fmt: skip

    def loss(x):
        return F.mse_loss(model(x), x)

    def score():
        with lt.no_grad():
            return loss(*tensors(test)).item()

    batches = in_batches((images,), 60, 64, seed)
    return Task(list(model.parameters()), loss, batches, score, 0.025, most=False)


def photo_denoise(seed):
    """Decibels of a photo after noise of 0.1 has been taken off; the noisy one has 20."""
    photo = (datasets.load_sample_image("china.jpg").mean(2) / 255).astype("float32")
    rng = np.random.default_rng(1)
    noisy = photo + 0.1 * rng.standard_normal(photo.shape).astype("float32")
    place = np.random.default_rng(seed)
    lt.manual_seed(seed)
    model = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(),
        nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 1, 3, padding=1),
    )  # fmt: skip

    def loss(given, wanted):  # the net says what the noise is
        return F.mse_loss(given - model(given), wanted)

    def patches():
        """From the left half; the right half is the test."""
        corners = [(place.integers(0, 395), place.integers(0, 288)) for _ in range(16)]
        return tensors(*(np.stack([p[r : r + 32, c : c + 32] for r, c in corners])[:, None]
                         for p in (noisy, photo)))  # fmt: skip

    def score():
        with lt.no_grad():
            error = loss(*tensors(noisy[None, None, :, 320:], photo[None, None, :, 320:])).item()
        return float(-10 * np.log10(error))

    return Task(list(model.parameters()), loss, [patches() for _ in range(1000)], score, 26.0)


TASKS = {f.__name__: f for f in (digits_cnn, digits_mlp, cancer_logistic, diabetes_ridge,
                                 digits_autoencoder, photo_denoise)}  # fmt: skip
