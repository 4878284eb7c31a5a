# SPDX-License-Identifier: BSL-1.0
"""Training steps in PyTorch, eager, as its tutorials write them; `chain`: eight element-wise operations."""

import numpy
import torch

import worker

work, batch, threads, adam = worker.options()
torch.set_num_threads(threads)
torch.set_flush_denormal(True)  # see protocol.hpp; not the default
torch.manual_seed(42)


def chain():
    x = torch.linspace(-2, 2, 16 * 1024 * 1024)
    floor = torch.tensor(0.1)

    def step(_):
        with torch.no_grad():
            y = (torch.maximum(torch.abs(x * 1.5 + 0.25) - x, floor) * x + 0.75) * 0.5
        return lambda: float(y[-1])

    worker.serve(torch.__version__, step, 2)


def train():
    nn = torch.nn
    if work == "mlp":
        model = nn.Sequential(nn.Linear(784, 300), nn.ReLU(), nn.Linear(300, 100), nn.ReLU(), nn.Linear(100, 10))
    else:
        model = nn.Sequential(nn.Conv2d(1, 32, 5, padding="same"), nn.ReLU(), nn.MaxPool2d(2),
                              nn.Conv2d(32, 64, 5, padding="same"), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                              nn.Linear(3136, 1024), nn.ReLU(), nn.Linear(1024, 10))
    optimizer = (torch.optim.Adam(model.parameters(), lr=worker.ADAM_RATE) if adam else
                 torch.optim.SGD(model.parameters(), lr=worker.SGD_RATE))
    loss_of = nn.CrossEntropyLoss()
    shape = (batch, 784) if work == "mlp" else (batch, 1, 28, 28)
    data = [(torch.from_numpy(x).reshape(shape), torch.from_numpy(y)) for x, y in worker.make_batches(numpy, batch)]

    def step(i):
        x, y = data[i % worker.BATCHES]
        optimizer.zero_grad()
        loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.item

    worker.serve(torch.__version__, step, 20 if work == "mlp" else 3)


chain() if work == "chain" else train()
