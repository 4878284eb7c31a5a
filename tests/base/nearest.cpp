// SPDX-License-Identifier: BSL-1.0
#include "tagma/base/nearest.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

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

TEST_CASE("of very many names those that can be nearest are compared first") {
  std::vector<std::string> names;
  for (int i = 0; i < 50'000; ++i) names.push_back("model/layers/" + std::to_string(i) + "/attention/kernel");
  names.push_back("model/embedding/tabel");
  std::vector<std::string_view> known(names.begin(), names.end());
  CHECK(nearest_text("model/embedding/table", known).starts_with("; the nearest are 'model/embedding/tabel', '"));
  CHECK(nearest_text("model/layers/49999/attention/kernal", known)
            .starts_with("; the nearest are 'model/layers/49999/attention/kernel', '"));
  // Nothing tells these apart but a comparison letter by letter, of which there are not so many.
  const std::string b(60, 'b'), c(60, 'c');
  for (std::string& name : names) name = b + c;
  names[7] = b + "c" + c;
  known.assign(names.begin(), names.end());
  CHECK(nearest_text(c + b, known) == "; the nearest are '" + b + c + "', '" + b + c + "' and '" + b + c + "'");
}
