# SPDX-License-Identifier: BSL-1.0
"""The same in PyTorch with its fused Adam, which is not the default."""

import functools

import torch

torch.optim.Adam = functools.partial(torch.optim.Adam, fused=True)

import torch_worker  # noqa: E402

torch_worker.main()
