# SPDX-License-Identifier: BSL-1.0
"""The networks of tagma_network.cpp in PyTorch; images are NCHW there, in memory with the channels last. The
GRU has another formula here: see docs/equal_to_pytorch.md."""

import torch
from torch import nn

SHAPES = {"mlp": (784,), "cnn": (1, 28, 28), "lstm": (32, 128), "gru": (32, 128), "transformer": (64, 128), "resnet": (64, 28, 28),
          "mobilenet": (32, 28, 28), "unet": (16, 32, 32)}


class Last(nn.Module):
    """The last step of a recurrent layer."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x)[0][:, -1]


class Attention(nn.Module):
    """Self-attention of 4 heads by PyTorch's fused function."""

    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(128, 384), nn.Linear(128, 128)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, 4, 32)).permute(2, 0, 3, 1, 4)
        return self.out(nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.Sequential(nn.LayerNorm(128), Attention())
        self.dense = nn.Sequential(nn.LayerNorm(128), nn.Linear(128, 512), nn.GELU(), nn.Linear(512, 128))

    def forward(self, x):
        h = x + self.attention(x)
        return (h + self.dense(h)).mean(1)


def conv(inputs, outputs, size, groups=1):
    return nn.Conv2d(inputs, outputs, size, padding="same", groups=groups)


class Residual(nn.Module):
    """x plus what layers make of it, pooled."""

    def __init__(self, after, *layers):
        super().__init__()
        self.after, self.layers = after, nn.Sequential(*layers)

    def forward(self, x):
        return self.after(self.layers(x) + x).mean((2, 3))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(conv(16, 32, 3), nn.ReLU(), conv(32, 32, 3), nn.ReLU())
        self.below = nn.Sequential(nn.MaxPool2d(2), conv(32, 64, 3), nn.ReLU(), nn.Upsample(scale_factor=2))
        self.up = nn.Sequential(conv(96, 32, 3), nn.ReLU())

    def forward(self, x):
        around = self.down(x)
        return self.up(torch.cat((around, self.below(around)), 1)).mean((2, 3))


def make(name):
    """A network, with its dense layer of 10 classes."""
    features, units = {
        "mlp": lambda: (nn.Sequential(nn.Linear(784, 300), nn.ReLU(), nn.Linear(300, 100), nn.ReLU()), 100),
        "cnn": lambda: (nn.Sequential(conv(1, 32, 5), nn.ReLU(), nn.MaxPool2d(2), conv(32, 64, 5), nn.ReLU(), nn.MaxPool2d(2),
                                      nn.Flatten(), nn.Linear(3136, 1024), nn.ReLU()), 1024),
        "lstm": lambda: (Last(nn.LSTM(128, 128, batch_first=True)), 128),
        "gru": lambda: (Last(nn.GRU(128, 128, batch_first=True)), 128),
        "transformer": lambda: (Transformer(), 128),
        "resnet": lambda: (Residual(nn.ReLU(), conv(64, 64, 3), nn.BatchNorm2d(64), nn.ReLU(), conv(64, 64, 3), nn.BatchNorm2d(64)), 64),
        "mobilenet": lambda: (Residual(nn.Identity(), conv(32, 192, 1), nn.BatchNorm2d(192), nn.ReLU6(), conv(192, 192, 3, 192),
                                       nn.BatchNorm2d(192), nn.ReLU6(), conv(192, 32, 1), nn.BatchNorm2d(32)), 32),
        "unet": lambda: (UNet(), 32),
    }[name]()
    model = nn.Sequential(features, nn.Linear(units, 10))
    return model.to(memory_format=torch.channels_last) if len(SHAPES[name]) == 3 else model


def inputs(name, batch, count):
    """Batches of random numbers from 0 to 1."""
    generator = torch.Generator().manual_seed(0)
    made = [torch.randint(0, 256, (batch, *SHAPES[name]), generator=generator) / 255 for _ in range(count)]
    return [x.contiguous(memory_format=torch.channels_last) for x in made] if len(SHAPES[name]) == 3 else made
