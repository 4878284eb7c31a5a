// SPDX-License-Identifier: BSL-1.0
#include "resnet.hpp"

int main() { return train_resnet<false, 2, 2, 2, 2>(x); }
