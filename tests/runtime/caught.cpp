// SPDX-License-Identifier: BSL-1.0
#include "tagma/runtime/caught.hpp"

#include <catch2/catch.hpp>
#include <stdexcept>

namespace {

namespace tg = tagma;
using tg::runtime::caught, tg::runtime::without_code;

TEST_CASE("what an exception says is told by its kind") {
  const std::exception_ptr own =
      std::make_exception_ptr(tg::error(tg::status_code::not_found, "no file 'a: b' is there"));
  const caught error(own);
  CHECK(error.is_error);
  CHECK(error.is_known);
  CHECK(error.code == tg::status_code::not_found);
  CHECK(error.what == "NotFound: no file 'a: b' is there");
  CHECK(without_code(error.what) == "no file 'a: b' is there");

  CHECK(!error.never_fits);
  const std::exception_ptr large =
      std::make_exception_ptr(tg::never_fits(tg::status_code::resource_exhausted, "too large"));
  const caught hopeless(large);
  CHECK((hopeless.never_fits && hopeless.is_error && hopeless.is_known));
  CHECK(hopeless.code == tg::status_code::resource_exhausted);
  CHECK(hopeless.what == "ResourceExhausted: too large");

  const std::exception_ptr standard = std::make_exception_ptr(std::runtime_error("it went wrong"));
  const caught other(standard);
  CHECK(!other.is_error);
  CHECK(other.is_known);
  CHECK(other.code == tg::status_code::internal);
  CHECK(other.what == "it went wrong");
  CHECK(without_code(other.what) == "it went wrong");

  const caught unknown(std::make_exception_ptr(42));
  CHECK(!unknown.is_error);
  CHECK(!unknown.is_known);
  CHECK(unknown.what.empty());
}

TEST_CASE("words without a code are left as they are") {
  CHECK(without_code("") == "");
  CHECK(without_code("a:b") == "a:b");
  CHECK(without_code(": ") == "");
}

}  // namespace
