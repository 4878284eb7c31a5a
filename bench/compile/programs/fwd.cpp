// SPDX-License-Identifier: BSL-1.0
#include <tagma/fwd.hpp>

int main() {}
