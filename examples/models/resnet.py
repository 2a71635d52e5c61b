"""Residual networks (He and others 2016): ResNet-18 and ResNet-50, and ResNet-18 for CIFAR."""

import lathe as lt
from lathe import nn
from lathe.nn import functional as F


class Basic(nn.Module):
    """Two 3x3 convolutions; gives as many channels as it is wide."""

    growth = 1

    def __init__(self, inputs, width, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, width, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = shortcut(inputs, width, stride)

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += x if self.downsample is None else self.downsample(x)
        return self.relu(out)


class Bottleneck(nn.Module):
    """A 3x3 convolution between two 1x1; gives four times as many channels as it is wide."""

    growth = 4

    def __init__(self, inputs, width, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride=stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, 4 * width, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(4 * width)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = shortcut(inputs, 4 * width, stride)

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        out += x if self.downsample is None else self.downsample(x)
        return self.relu(out)


def shortcut(inputs, outputs, stride):
    """What a block's input goes through to be added to its result; None: nothing."""
    if stride == 1 and inputs == outputs:
        return None
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False), nn.BatchNorm2d(outputs)
    )


class ResNet(nn.Module):
    """depths: blocks of each stage, of which all but the first halve the picture. stem: of a
    "large" picture, which it makes four times smaller, or of a "small" one."""

    def __init__(self, block, depths, width=64, classes=1000, stem="large"):
        super().__init__()
        if stem == "large":
            self.conv1 = nn.Conv2d(3, width, 7, stride=2, padding=3, bias=False)
            self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        else:
            self.conv1 = nn.Conv2d(3, width, 3, padding=1, bias=False)
            self.maxpool = nn.Identity()
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)
        stages, inputs = [], width
        for i, depth in enumerate(depths):
            blocks = []
            for j in range(depth):
                blocks.append(block(inputs, width << i, 2 if i > 0 and j == 0 else 1))
                inputs = block.growth * width << i
            stages.append(nn.Sequential(*blocks))
        self.stages = nn.Sequential(*stages)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(inputs, classes)
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        return self.fc(lt.flatten(self.avgpool(self.stages(x)), 1))


# name: (settings of the model, pictures of a batch, side of a picture)
SIZES = {
    "resnet18": ({"block": Basic, "depths": (2, 2, 2, 2)}, 1, 224),
    "resnet50": ({"block": Bottleneck, "depths": (3, 4, 6, 3)}, 1, 224),
    "resnet18_cifar": (
        {"block": Basic, "depths": (2, 2, 2, 2), "classes": 10, "stem": "small"},
        32,
        32,
    ),
    "small_resnet18": ({"block": Basic, "depths": (1, 2), "width": 8, "classes": 5}, 2, 32),
    "small_resnet50": ({"block": Bottleneck, "depths": (1, 2), "width": 4, "classes": 5}, 2, 32),
    "small_resnet18_cifar": (
        {"block": Basic, "depths": (1, 1), "width": 8, "classes": 5, "stem": "small"},
        4,
        8,
    ),
}


def build(name="resnet50"):
    settings, _, _ = SIZES[name]
    return ResNet(**settings)


def batch(random, name="resnet50"):
    """(pictures, their classes), drawn by a NumPy generator."""
    settings, size, side = SIZES[name]
    x = random.standard_normal((size, 3, side, side), dtype="float32")
    return lt.tensor(x), lt.tensor(random.integers(0, settings.get("classes", 1000), size))


def loss(model, x, kinds):
    return F.cross_entropy(model(x), kinds)
