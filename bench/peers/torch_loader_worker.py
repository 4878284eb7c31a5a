# SPDX-License-Identifier: BSL-1.0
"""Input by PyTorch's DataLoader with two workers, one batch a step."""

import torch

from worker import options, serve

work, batch, threads, _ = options()
if work != "images":
    raise SystemExit(f"the loader has no {work}")
torch.set_num_threads(threads)
images = (torch.arange(60_000 * 784) % 256).to(torch.float32).reshape(60_000, 784) / 255
labels = (torch.arange(60_000) % 10).to(torch.uint8)
data = torch.utils.data.TensorDataset(images, labels)


def batches():
    while True:
        yield from torch.utils.data.DataLoader(data, batch_size=batch, shuffle=True, drop_last=True, num_workers=2)


elements = batches()


def step(_):
    element = next(elements)
    return lambda: float(element[0][0, 7])


if __name__ == "__main__":
    serve(torch.__version__, step)
