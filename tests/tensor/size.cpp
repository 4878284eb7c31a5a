// SPDX-License-Identifier: BSL-1.0
#include "tagma/tensor/size.hpp"

#include <catch2/catch.hpp>

#include "support/errors.hpp"

namespace {

using tagma::bounded_product, tagma::bounded_sum, tagma::dtype, tagma::extent, tagma::is_addressable, tagma::max_bytes,
    tagma::shape, tagma::tensor_spec, tagma::too_many;
using tagma::test::text_of;

constexpr extent large = extent{1} << 31;

static_assert(bounded_sum(3, 4) == 7);
static_assert(bounded_sum(INT64_MAX - 4, 4) == INT64_MAX);
static_assert(bounded_sum(INT64_MAX - 3, 4) == too_many);
static_assert(bounded_sum(too_many, too_many) == too_many);
static_assert(bounded_sum(too_many, -4) == INT64_MAX - 4 && bounded_sum(-4, too_many) == INT64_MAX - 4);
static_assert(bounded_product(3, 4) == 12);
static_assert(bounded_product(large, large) == large * large);
static_assert(bounded_product(large, 4 * large) == too_many);
static_assert(bounded_product(INT64_MAX / 7, 7) == INT64_MAX);
static_assert(bounded_product(INT64_MAX / 7 + 1, 7) == too_many);
static_assert(bounded_product(0, too_many) == 0 && bounded_product(too_many, 0) == 0);

static_assert(shape{2, 3}.elements() == 6);
static_assert(shape{}.elements() == 1);
static_assert(shape{large, large, large}.elements() == too_many);
static_assert(shape{large, large, large, 0}.elements() == 0);
static_assert(shape{2, 0}.is_known() && !shape{2, tagma::dyn}.is_known() && !shape{-7}.is_known());

static_assert(tagma::bytes_of({dtype::float32, {2, 3}}) == 24);
static_assert(tagma::bytes_of({dtype::float32, {large, large}}) == too_many);
static_assert(tagma::bytes_of({dtype::none, {}}) == 0);

static_assert(is_addressable({dtype::uint8, {max_bytes}}));
static_assert(!is_addressable({dtype::uint8, {max_bytes + 1}}));
static_assert(is_addressable({dtype::float64, {max_bytes / 64, 8}}));
static_assert(!is_addressable({dtype::float64, {max_bytes / 64, 9}}));
static_assert(!is_addressable({dtype::float32, {large, large, large}}));
static_assert(!is_addressable({dtype::float32, {large, 0, large}}), "its strides do not fit");
static_assert(!is_addressable({dtype::float32, {large, tagma::dyn, large}}), "whatever the other extent is");
static_assert(is_addressable({dtype::float32, {large, tagma::dyn}}));

constexpr bool passes(const tensor_spec& s) {
  tagma::check_size(s);
  return true;
}
static_assert(passes({dtype::float32, {2, 0, 3}}));

TEST_CASE("a size that is none is an error which says why") {
  CHECK(text_of([] {
          tagma::check_size({dtype::float32, {3, -3}});
        }) == "InvalidArgument: a tensor cannot have shape [3, -3]: every extent is a number that is not negative");
  CHECK(text_of([] {
          tagma::check_size({dtype::float32, {tagma::dyn}});
        }) == "InvalidArgument: a tensor cannot have shape [?]: every extent is a number that is not negative");
  CHECK(
      text_of([] {
        tagma::check_size({dtype::float32, {1 << 21, 1 << 21, 1 << 21}});
      }) ==
      "ResourceExhausted: a tensor of float32 [2097152, 2097152, 2097152] of about 2^65 bytes, more than a process can "
      "address");
}

}  // namespace
