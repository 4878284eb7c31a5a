// SPDX-License-Identifier: BSL-1.0
#include "tagma/train/fit.ipp"
#include "tagma/train/history.ipp"
#include "tagma/train/position.ipp"
#include "tagma/train/restore.ipp"
#include "tagma/train/save.ipp"
