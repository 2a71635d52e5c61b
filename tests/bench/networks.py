"""ResNet-50 and BERT-base, written as their users write them, in evaluation mode."""

import math

import lathe as lt
from lathe import nn
from lathe.nn import functional as F


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride=stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, 4 * width, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(4 * width)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None
        if stride != 1 or inputs != 4 * width:
            self.downsample = nn.Sequential(
                nn.Conv2d(inputs, 4 * width, 1, stride=stride, bias=False),
                nn.BatchNorm2d(4 * width),
            )

    def forward(self, x):
        identity = x
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        if self.downsample is not None:
            identity = self.downsample(x)
        out += identity
        return self.relu(out)


class ResNet50(nn.Module):
    def __init__(self, classes=1000):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        self.inputs = 64
        self.layer1 = self.make_layer(64, 3, 1)
        self.layer2 = self.make_layer(128, 4, 2)
        self.layer3 = self.make_layer(256, 6, 2)
        self.layer4 = self.make_layer(512, 3, 2)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(2048, classes)

    def make_layer(self, width, blocks, stride):
        layers = []
        for i in range(blocks):
            layers.append(Bottleneck(self.inputs, width, stride if i == 0 else 1))
            self.inputs = 4 * width
        return nn.Sequential(*layers)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(lt.flatten(self.avgpool(x), 1))


class SelfAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.out = nn.Linear(width, width)
        self.dropout = nn.Dropout(0.1)

    def split(self, x):
        batch, length, width = x.shape
        return x.reshape(batch, length, self.heads, width // self.heads).transpose(1, 2)

    def forward(self, x, mask):
        q, k, v = (self.split(part(x)) for part in (self.query, self.key, self.value))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]) + mask
        context = self.dropout(F.softmax(scores, dim=-1)) @ v
        return self.out(context.transpose(1, 2).reshape(x.shape))


class Layer(nn.Module):
    def __init__(self, width, heads, inner):
        super().__init__()
        self.attention = SelfAttention(width, heads)
        self.norm1 = nn.LayerNorm(width, eps=1e-12)
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)
        self.norm2 = nn.LayerNorm(width, eps=1e-12)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x, mask):
        x = self.norm1(x + self.dropout(self.attention(x, mask)))
        return self.norm2(x + self.dropout(self.down(F.gelu(self.up(x)))))


class BertBase(nn.Module):
    def __init__(self, words=30522, width=768, layers=12, heads=12, inner=3072, length=512):
        super().__init__()
        self.words = nn.Embedding(words, width, padding_idx=0)
        self.positions = nn.Embedding(length, width)
        self.kinds = nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.dropout = nn.Dropout(0.1)
        self.layers = nn.ModuleList([Layer(width, heads, inner) for _ in range(layers)])
        self.pooler = nn.Linear(width, width)

    def forward(self, tokens, kinds, mask):
        places = lt.arange(tokens.shape[1]).unsqueeze(0)
        x = self.words(tokens) + self.positions(places) + self.kinds(kinds)
        x = self.dropout(self.norm(x))
        mask = (1.0 - mask[:, None, None, :]) * -10000.0
        for layer in self.layers:
            x = layer(x, mask)
        return x, lt.tanh(self.pooler(x[:, 0]))


def resnet50():
    """(model, inputs)"""
    return ResNet50().eval(), (lt.randn([1, 3, 224, 224]),)


def bert_base():
    """(model, inputs), of 128 words"""
    tokens = lt.randint(1, 30522, [1, 128])
    return BertBase().eval(), (tokens, lt.zeros([1, 128], dtype=lt.int64), lt.ones([1, 128]))
