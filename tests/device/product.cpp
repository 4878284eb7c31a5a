// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/product.hpp"

#include <catch2/catch.hpp>

namespace {

using namespace tagma::device;
using tagma::dtype, tagma::shape;

product_extents extents_of(const shape& a, const shape& b, const shape& out, bool transpose_a, bool transpose_b) {
  operand in[] = {{nullptr, dtype::float32, a}, {nullptr, dtype::float32, b}};
  const std::int64_t attributes[] = {transpose_a, transpose_b};
  kernel_args args;
  args.in = in;
  args.out = {nullptr, dtype::float32, out};
  args.attributes = attributes;
  return product_extents(args);
}

void check(const product_extents& p, bool one, std::int64_t m, std::int64_t n, std::int64_t k) {
  CHECK(p.one == one);
  CHECK(p.m == m);
  CHECK(p.n == n);
  CHECK(p.k == k);
}

TEST_CASE("the extents of products, by how their matrices are in memory") {
  check(extents_of({2, 3}, {3, 5}, {2, 5}, false, false), true, 2, 5, 3);
  check(extents_of({3, 2}, {3, 5}, {2, 5}, true, false), true, 2, 5, 3);
  check(extents_of({2, 3}, {5, 3}, {2, 5}, false, true), true, 2, 5, 3);
}

TEST_CASE("a batch of the first matrix is more rows, unless it is transposed or the second has one, too") {
  check(extents_of({7, 4, 2, 3}, {3, 5}, {7, 4, 2, 5}, false, false), true, 56, 5, 3);
  check(extents_of({7, 3, 2}, {3, 5}, {7, 2, 5}, true, false), false, 2, 5, 3);
  check(extents_of({2, 3}, {7, 3, 5}, {7, 2, 5}, false, false), false, 2, 5, 3);
  check(extents_of({7, 2, 3}, {1, 3, 5}, {7, 2, 5}, false, false), false, 2, 5, 3);
}

}  // namespace
