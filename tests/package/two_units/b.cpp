// SPDX-License-Identifier: BSL-1.0
#include "umbrellas.hpp"

const char* version_of_b();

const char* version_of_b() { return TAGMA_VERSION; }
