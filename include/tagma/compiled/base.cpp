// SPDX-License-Identifier: BSL-1.0
#include "tagma/base/control_group.ipp"
#include "tagma/base/error.ipp"
#include "tagma/base/file.ipp"
#include "tagma/base/file_folder.ipp"
#include "tagma/base/heap_array.ipp"
#include "tagma/base/json.ipp"
#include "tagma/base/no_memory.ipp"
#include "tagma/base/replace_file.ipp"
