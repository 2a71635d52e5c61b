"""Networks that several tests train or compile."""

from lathe import nn
from lathe.nn import functional as F  # noqa: N812


class SmallCNN(nn.Module):
    """Everything the digits need, small: convolution, batch norm, pooling, dropout, linear."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.drop = nn.Dropout(0.3)
        self.out = nn.Linear(4 * 16, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm(self.conv(x))), 2)
        return self.out(self.drop(x.flatten(1)))
