// SPDX-License-Identifier: BSL-1.0
#include "tagma/io/record.hpp"

#include <catch2/catch.hpp>

#include "support/sources.hpp"

namespace io = tagma::io;
using tagma::test::all_of;
using records = std::vector<io::record>;

TEST_CASE("a whole file is one record, an empty one too") {
  CHECK(all_of(io::whole_file_reader(io::memory_source("a\nb", "f"))) == records{{"f", "a\nb"}});
  CHECK(all_of(io::whole_file_reader(io::memory_source("", "f"))) == records{{"f", ""}});
  const std::string large(1'000'000, 'x');
  CHECK(all_of(io::whole_file_reader(tagma::test::trickle(large, 1000, "f"))) == records{{"f", large}});
}

TEST_CASE("a text is its own record") {
  CHECK(all_of(io::identity_reader("some/file")) == records{{"some/file", "some/file"}});
}
