// SPDX-License-Identifier: BSL-1.0
#include "tagma/base/bytes.hpp"

#include <catch2/catch.hpp>

namespace {

using namespace tagma::literals;

static_assert(3_KiB == 3072 && 64_MiB == 67'108'864 && 5_GiB == 5'368'709'120);

TEST_CASE("sizes are binary multiples of a byte") { CHECK(1_GiB == 1024 * 1_MiB); }

}  // namespace
