// SPDX-License-Identifier: BSL-1.0
#include <cstddef>
#include <cstdint>

int main() {}
