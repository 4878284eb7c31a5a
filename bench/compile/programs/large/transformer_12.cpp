// SPDX-License-Identifier: BSL-1.0
#include "transformer.hpp"

int main() { return train_transformer<12>(); }
