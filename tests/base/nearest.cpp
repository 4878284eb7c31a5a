// SPDX-License-Identifier: BSL-1.0
#include "tagma/base/nearest.hpp"

#include <catch2/catch.hpp>

using tagma::detail::edits_between, tagma::detail::nearest_text;

TEST_CASE("edits are counted as by hand") {
  CHECK(edits_between("", "") == 0);
  CHECK(edits_between("", "abc") == 3);
  CHECK(edits_between("abc", "") == 3);
  CHECK(edits_between("kitten", "sitting") == 3);
  CHECK(edits_between("kernel", "kernel") == 0);
  CHECK(edits_between("kernel", "kernal") == 1);
  CHECK(edits_between("ab", "ba") == 2);
}

TEST_CASE("the nearest names come first, and no more than three") {
  CHECK(nearest_text("a", {}) == "; there are none");
  CHECK(nearest_text("layer/kernal", {"layer/kernel"}) == "; the nearest is 'layer/kernel'");
  CHECK(nearest_text("bais", {"kernel", "bias"}) == "; the nearest are 'bias' and 'kernel'");
  CHECK(nearest_text("kernel", {"kernels_of_all", "other", "kornal", "a/very/long/name/kernel"}) ==
        "; the nearest are 'kernels_of_all', 'a/very/long/name/kernel' and 'kornal'");
  CHECK(nearest_text("", {"b", "a"}) == "; the nearest are 'a' and 'b'");
  const std::string endless(1 << 20, 'x');
  CHECK(nearest_text(endless, {"y"}) == "; the nearest is 'y'");
}
