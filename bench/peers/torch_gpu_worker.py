# SPDX-License-Identifier: BSL-1.0
"""Training steps in PyTorch on a GPU, eager."""

import torch_worker

torch_worker.train("cuda")
