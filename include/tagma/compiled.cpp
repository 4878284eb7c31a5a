// SPDX-License-Identifier: BSL-1.0
// The compiled half of the library as one file, for programs that are built without CMake. They define TAGMA_COMPILED=1
// for this file and for all others; see docs/guide.md.
#include "tagma/compiled/base.cpp"
#include "tagma/compiled/data.cpp"
#include "tagma/compiled/device.cpp"
#include "tagma/compiled/io.cpp"
#include "tagma/compiled/plan.cpp"
#include "tagma/compiled/runtime.cpp"
#include "tagma/compiled/train.cpp"
