# SPDX-License-Identifier: BSL-1.0
"""The same after torch.compile."""

import torch_network_worker

torch_network_worker.main(compiled=True)
