# SPDX-License-Identifier: BSL-1.0
"""Training steps in PyTorch, eager, as its tutorials write them; `chain`: eight element-wise operations."""

import functools
import pathlib
import sys

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


def tiny_scan():
    """A loop in Python, as eager programs have it."""
    x, begin = torch.zeros(1000, 4), torch.zeros(4)

    def step(_):
        h = begin
        with torch.no_grad():
            for t in range(1000):
                h = torch.tanh(h + x[t])
        return lambda: float(h[0])

    worker.serve(torch.__version__, step, 3)


def train(device="cpu", compiled=False):
    """Batches begin on the host, as with our worker; on a GPU in pinned memory, so that copies of them can overlap."""
    nn = torch.nn
    if work == "lstm":
        class Last(nn.Module):
            def forward(self, outputs):
                return outputs[0][:, -1]

        model = nn.Sequential(nn.LSTM(128, 128, batch_first=True), Last(), nn.Linear(128, 10))
    elif work == "transformer":
        sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "networks"))
        import torch_networks

        model = torch_networks.make(work)
    elif work == "mlp":
        model = nn.Sequential(nn.Linear(784, 300), nn.ReLU(), nn.Linear(300, 100), nn.ReLU(), nn.Linear(100, 10))
    else:
        model = nn.Sequential(nn.Conv2d(1, 32, 5, padding="same"), nn.ReLU(), nn.MaxPool2d(2),
                              nn.Conv2d(32, 64, 5, padding="same"), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                              nn.Linear(3136, 1024), nn.ReLU(), nn.Linear(1024, 10))
    model = model.to(device)
    optimizer = (torch.optim.Adam(model.parameters(), lr=worker.ADAM_RATE, **({"fused": True} if compiled else {})) if adam else
                 torch.optim.SGD(model.parameters(), lr=worker.SGD_RATE))
    loss_of = nn.CrossEntropyLoss()
    shape = (batch, 784) if work == "mlp" else (batch, 1, 28, 28)
    batches = worker.make_batches(numpy, batch)
    if work == "lstm":
        shape, batches = (batch, 32, 128), worker.make_sequences(numpy, batch)
    elif work == "transformer":
        shape, batches = (batch, 64, 128), worker.make_sequences(numpy, batch, 64)
    data = [(torch.from_numpy(x).reshape(shape), torch.from_numpy(y)) for x, y in batches]
    if device != "cpu":
        data = [(x.pin_memory(), y.pin_memory()) for x, y in data]
    forward = torch.compile(lambda x, y: loss_of(model(x), y), mode="reduce-overhead") if compiled else (
        lambda x, y: loss_of(model(x), y))

    def step(i):
        x, y = (t.to(device, non_blocking=True) for t in data[i % worker.BATCHES])
        optimizer.zero_grad()
        loss = forward(x, y)
        loss.backward()
        optimizer.step()
        if device != "cpu":
            return functools.partial(float, loss.item())  # ours hands out the loss of each step
        return loss.item

    worker.serve(torch.__version__, step, 20 if work == "mlp" else 10 if work in ("lstm", "transformer") else 3)


def main():
    {"chain": chain, "tiny_scan": tiny_scan}.get(work, train)()


if __name__ == "__main__":
    main()
