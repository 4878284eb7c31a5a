# SPDX-License-Identifier: BSL-1.0
"""Training steps in PyTorch on a GPU, compiled, replayed as CUDA graphs."""

import torch_worker

torch_worker.train("cuda", compiled=True)
