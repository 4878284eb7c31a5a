// SPDX-License-Identifier: BSL-1.0
#include "tagma/base/shared_bytes.hpp"

#include <catch2/catch.hpp>
#include <utility>

using tagma::shared_bytes;

TEST_CASE("bytes are shared by copies and outlive the first owner") {
  shared_bytes copy;
  CHECK(copy.size() == 0);
  CHECK(copy.data() == nullptr);
  {
    const shared_bytes first(2 * sizeof(double));
    first.as<double>()[0] = 1;
    first.as<double>()[1] = 2;
    copy = first;
    CHECK(copy.data() == first.data());
  }
  CHECK(copy.as<const double>().size() == 2);
  CHECK(copy.as<const double>()[1] == 2);
  const shared_bytes moved = std::move(copy);
  CHECK(moved.as<const double>()[0] == 1);
}

TEST_CASE("equal content is equal, whoever owns it") {
  const shared_bytes a(1), b(1), longer(2);
  *a.data() = *b.data() = std::byte{7};
  CHECK(a == b);
  *b.data() = std::byte{8};
  CHECK_FALSE(a == b);
  CHECK_FALSE(a == longer);
  CHECK_FALSE(a == shared_bytes());
  CHECK(shared_bytes() == shared_bytes(0));
}
