// SPDX-License-Identifier: BSL-1.0
#include "tagma/base/no_memory.hpp"

#include <catch2/catch.hpp>

#include "support/errors.hpp"
#include "tagma/base/heap_array.hpp"
#include "tagma/base/shared_bytes.hpp"

using tagma::bytes_text, tagma::no_memory;
using tagma::test::text_of;

TEST_CASE("bytes are told in the largest unit that has one of them") {
  CHECK(bytes_text(0) == "0 bytes");
  CHECK(bytes_text(2047) == "2047 bytes");
  CHECK(bytes_text(2048) == "2.0 KiB (2048 bytes)");
  CHECK(bytes_text(1610612736) == "1.5 GiB (1610612736 bytes)");
  CHECK(bytes_text(INT64_MAX) == "7.9 EiB (9223372036854775807 bytes)");
}

TEST_CASE("an error for lack of memory says who asked for how much, where, and who has it") {
  const no_memory e(4096, "a table");
  CHECK(e.code() == tagma::status_code::resource_exhausted);
  CHECK(e.what() == std::string("ResourceExhausted: the host has no room for 4.0 KiB (4096 bytes), which a table asks "
                                "for"));
  CHECK(no_memory(e, "step 3", "; others have it").what() ==
        std::string("ResourceExhausted: step 3: the host has no room for 4.0 KiB (4096 bytes), which a table asks for; "
                    "others have it"));
  CHECK(no_memory(e, {}, "; others have it").what() ==
        std::string("ResourceExhausted: the host has no room for 4.0 KiB (4096 bytes), which a table asks for; others "
                    "have it"));
}

TEST_CASE("what never fits is a lack of memory for callers") {
  CHECK(text_of([] { tagma::fail_never_fits({"feed of ", "x"}); }) == "ResourceExhausted: feed of x");
}

TEST_CASE("an array on the heap that finds no memory says how much it asked for") {
  // Compilers leave out an allocation that nobody looks at.
  const auto make = [](std::size_t size) {
    const tagma::heap_array<double> array(size);
    asm volatile("" : : "r"(array.data()) : "memory");
  };
  CHECK(text_of([&] { make(std::size_t{1} << 47); }) ==
        "ResourceExhausted: the host has no room for 1.0 PiB (1125899906842624 bytes), which a table asks for");
  CHECK(text_of([&] { make(~std::size_t{0}); }) ==
        "ResourceExhausted: the host has no room for 7.9 EiB (9223372036854775807 bytes), which a table asks for");
}

TEST_CASE("a program that finds no memory for a value that it carries says how much that is") {
  CHECK(text_of([] { tagma::shared_bytes(std::size_t{1} << 50); }) ==
        "ResourceExhausted: the host has no room for 1.0 PiB (1125899906842624 bytes), which a value that a program "
        "carries asks for");
}
