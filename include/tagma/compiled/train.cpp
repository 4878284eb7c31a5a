// SPDX-License-Identifier: BSL-1.0
#include "tagma/train/save.ipp"
