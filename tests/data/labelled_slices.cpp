// SPDX-License-Identifier: BSL-1.0
#include "tagma/datasets.hpp"

#include <catch2/catch.hpp>
#include <cstdint>
#include <tuple>

#include "support/errors.hpp"
#include "tagma/data.hpp"

namespace {

namespace tg = tagma;

TEST_CASE("slices of images and labels are batched as their own passes are") {
  tg::labelled<float, std::int32_t> data{tg::tensor<float>({50, 2}), tg::tensor<std::int32_t>({50})};
  for (int i = 0; i < 50; ++i) {
    data.images(i, 0) = data.images(i, 1) = static_cast<float>(i);
    data.labels[i] = i;
  }
  auto same = tg::datasets::slices(data).shuffle(20, 3).epoch(2).batch(8).prefetch(2).iterator();
  for (const auto& [images, labels] : data.shuffle(20, 3).epoch(2).batch(8)) {
    const auto [x, y] = same.next();
    CHECK(x == tg::tensor<float>(images));
    CHECK(y == tg::tensor<std::int32_t>(labels));
  }
  CHECK(tg::test::code_of([&] { (void)same.next(); }) == tg::status_code::out_of_range);
  data.labels = tg::tensor<std::int32_t>({49});
  CHECK(tg::test::code_of([&] { (void)tg::datasets::slices(data); }) == tg::status_code::invalid_argument);
}

}  // namespace
