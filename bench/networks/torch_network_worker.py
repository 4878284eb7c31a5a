# SPDX-License-Identifier: BSL-1.0
"""Training steps or inference of a network in PyTorch: NETWORK BATCH THREADS adam|sgd|infer, eager or, after
torch.compile, compiled. Optimizers are its fused ones, the fastest there."""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "peers"))

import torch_networks  # noqa: E402
import worker  # noqa: E402


def main(compiled=False):
    name, batch, threads, task = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    torch.set_num_threads(threads)
    torch.set_flush_denormal(True)
    torch.manual_seed(42)
    model = torch_networks.make(name)
    data = torch_networks.inputs(name, batch, worker.BATCHES)
    labels = torch.randint(0, 10, (worker.BATCHES, batch))
    if task == "infer":
        model.eval()
        run = torch.compile(model) if compiled else model

        def infer(i):
            with torch.inference_mode():
                out = run(data[i % worker.BATCHES])
            return lambda: float(out[0, 0])

        return worker.serve(torch.__version__, infer, 3)
    loss_of = torch.nn.CrossEntropyLoss()
    kind, rate = {"adam": (torch.optim.Adam, worker.ADAM_RATE), "sgd": (torch.optim.SGD, worker.SGD_RATE)}[task]
    optimizer = kind(model.parameters(), lr=rate, fused=True)
    forward = (lambda x, y: loss_of(model(x), y))
    forward = torch.compile(forward) if compiled else forward

    def step(i):
        optimizer.zero_grad()
        loss = forward(data[i % worker.BATCHES], labels[i % worker.BATCHES])
        loss.backward()
        optimizer.step()
        return loss.item

    return worker.serve(torch.__version__, step, 3)


if __name__ == "__main__":
    main()
