// SPDX-License-Identifier: BSL-1.0
#include "resnet.hpp"

int main() { return train_resnet<true, 3, 4, 6, 3>(x); }
