// SPDX-License-Identifier: BSL-1.0
#include <tagma/tagma.hpp>

int main() {}
