// SPDX-License-Identifier: BSL-1.0
#include "backwards.hpp"

const char* version_of_b();

const char* version_of_b() { return TAGMA_VERSION; }
