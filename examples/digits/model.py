"""A small convolutional network for 8x8 images of handwritten digits."""

import lathe as lt
from lathe import nn


class DigitNet(nn.Module):
    """Two convolutions with batch norm and pooling, then two linear layers.

    x[n, 1, 8, 8], float32 in [0, 1] -> scores[n, 10].
    """

    def __init__(self, width=16, hidden=64):
        super().__init__()
        self.conv1 = nn.Conv2d(1, width, 3, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, 2 * width, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(2 * width)
        self.pool = nn.MaxPool2d(2)
        self.fc1 = nn.Linear(2 * width * 2 * 2, hidden)
        self.dropout = nn.Dropout(0.25)
        self.fc2 = nn.Linear(hidden, 10)

    def forward(self, x):
        x = self.pool(lt.relu(self.norm1(self.conv1(x))))
        x = self.pool(lt.relu(self.norm2(self.conv2(x))))
        x = lt.relu(self.fc1(x.flatten(1)))
        return self.fc2(self.dropout(x))


def load_digits(seed=0, test_share=0.2, images=None):
    """The digits that ship with scikit-learn, split by a fixed seed.

    images: keep only the first so many of those to train on.

    Gives (train images, train labels, test images, test labels): float32[n, 1, 8, 8] in [0, 1] and
    int64[n].
    """
    from sklearn.datasets import load_digits as read
    from sklearn.model_selection import train_test_split

    digits = read()
    pixels = (digits.images / 16.0).astype("float32")[:, None]
    split = train_test_split(
        pixels, digits.target, test_size=test_share, random_state=seed, stratify=digits.target
    )
    train_x, test_x, train_y, test_y = (lt.tensor(part) for part in split)
    return train_x[:images], train_y[:images], test_x, test_y
