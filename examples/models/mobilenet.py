"""MobileNetV2 (Sandler and others 2018): inverted residuals around depthwise convolutions."""

import lathe as lt
from lathe import nn
from lathe.nn import functional as F


def convolution(inputs, outputs, side, stride=1, groups=1):
    """A convolution, batch norm and ReLU6."""
    return (
        nn.Conv2d(
            inputs, outputs, side, stride=stride, padding=side // 2, groups=groups, bias=False
        ),
        nn.BatchNorm2d(outputs),
        nn.ReLU6(inplace=True),
    )


class InvertedResidual(nn.Module):
    """Widens each place, convolves each channel alone, and narrows each place."""

    def __init__(self, inputs, outputs, stride, widening):
        super().__init__()
        inner = inputs * widening
        self.adds = stride == 1 and inputs == outputs
        self.conv = nn.Sequential(
            *(convolution(inputs, inner, 1) if widening != 1 else ()),
            *convolution(inner, inner, 3, stride, groups=inner),
            nn.Conv2d(inner, outputs, 1, bias=False),
            nn.BatchNorm2d(outputs),
        )

    def forward(self, x):
        return x + self.conv(x) if self.adds else self.conv(x)


class MobileNetV2(nn.Module):
    """stages: (widening, channels, blocks, stride of the first block) of each."""

    def __init__(self, stages, first=32, last=1280, classes=1000):
        super().__init__()
        layers, inputs = [*convolution(3, first, 3, stride=2)], first
        for widening, outputs, blocks, stride in stages:
            for i in range(blocks):
                layers.append(InvertedResidual(inputs, outputs, stride if i == 0 else 1, widening))
                inputs = outputs
        self.features = nn.Sequential(*layers, *convolution(inputs, last, 1))
        self.dropout = nn.Dropout(0.2)
        self.classifier = nn.Linear(last, classes)
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out")

    def forward(self, x):
        x = F.adaptive_avg_pool2d(self.features(x), (1, 1))
        return self.classifier(self.dropout(lt.flatten(x, 1)))


STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)
# name: (settings of the model, pictures of a batch, side of a picture)
SIZES = {
    "mobilenet_v2": ({"stages": STAGES}, 1, 224),
    "small_mobilenet_v2": (
        {"stages": ((1, 8, 1, 1), (3, 8, 2, 2)), "first": 8, "last": 16, "classes": 5},
        2,
        24,
    ),
}


def build(name="mobilenet_v2"):
    settings, _, _ = SIZES[name]
    return MobileNetV2(**settings)


def batch(random, name="mobilenet_v2"):
    """(pictures, their classes), drawn by a NumPy generator."""
    settings, size, side = SIZES[name]
    x = random.standard_normal((size, 3, side, side), dtype="float32")
    return lt.tensor(x), lt.tensor(random.integers(0, settings.get("classes", 1000), size))


def loss(model, x, kinds):
    return F.cross_entropy(model(x), kinds)
