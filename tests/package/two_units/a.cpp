// SPDX-License-Identifier: BSL-1.0
#include "forwards.hpp"

const char* version_of_b();

int main() { return version_of_b() == nullptr ? 1 : 0; }
