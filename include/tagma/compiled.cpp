// SPDX-License-Identifier: BSL-1.0
// The compiled half of the library as one file, for programs that are built without CMake: they compile this file with
// the rest, define TAGMA_COMPILED=1 for all of them, and link what they would link otherwise. The files of
// tagma/compiled/ can be compiled side by side instead. Programs as data and late ones need tagma/compiled/programs.cpp as
// well, which knows all operations; servers of clusters tagma/compiled/service.cpp, and the registry.
#ifndef TAGMA_COMPILED
#error "tagma: all files of a program define TAGMA_COMPILED=1 (-DTAGMA_COMPILED=1), this one as well, or none does"
#endif

// First, since it changes what headers ask for.
#include "tagma/compiled/agreement.cpp"

#include "tagma/compiled/base.cpp"
#include "tagma/compiled/cluster.cpp"
#include "tagma/compiled/data.cpp"
#include "tagma/compiled/device.cpp"
#include "tagma/compiled/io.cpp"
#include "tagma/compiled/kernels.cpp"
#include "tagma/compiled/plan.cpp"
#include "tagma/compiled/runtime.cpp"
#include "tagma/compiled/train.cpp"
#include "tagma/compiled/transport.cpp"
