// SPDX-License-Identifier: BSL-1.0
// The same over two steps.
#define STEPS 2
#include "lstm.cpp"
