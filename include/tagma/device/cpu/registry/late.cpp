// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/executor.hpp"
#include "tagma/runtime/late_runs.hpp"
