// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/stream/local_devices.hpp"

#include <catch2/catch.hpp>

#include "support/errors.hpp"
#include "tagma/device/fake/driver.hpp"

using tagma::test::text_of;

namespace {

namespace tg = tagma;
using namespace tg::device::stream;
namespace fake = tg::device::fake;

constexpr tg::gpu_options half{.memory_fraction = 0.5, .allow_growth = true};

TEST_CASE("devices have the numbers of the list of visible ones, and pools named after their own") {
  fake::driver driver({.devices = 3});
  tg::gpu_options options = half;
  CHECK(local_devices(driver, "GPU", options).count() == 3);
  options.visible_devices = {2, 0};
  local_devices devices(driver, "GPU", options);
  REQUIRE(devices.count() == 2);
  CHECK(devices.number(0) == 2);
  CHECK(devices.number(1) == 0);
  CHECK(devices.number(tg::runtime::on_host) == tg::runtime::on_host);
  CHECK(devices.pool(0).device() == 2);
  CHECK_THAT(text_of([&] { static_cast<void>(devices.pool(1).allocate(std::int64_t{1} << 40, "a test")); }),
             Catch::Contains("/device:GPU:1 has no room"));
  options.visible_devices = {1, 1};
  CHECK_THAT(text_of([&] { local_devices(driver, "GPU", options); }), Catch::Contains("has 1 twice"));
  options.visible_devices = {3};
  CHECK_THAT(text_of([&] { local_devices(driver, "GPU", options); }), Catch::Contains("there are 3 devices"));
}

TEST_CASE("sessions that live together share memory and agree about it; the last one gives it back") {
  fake::driver driver;
  shared_devices shared(driver, "GPU");
  {
    const shared_devices::lease first(shared, half);
    const auto block = (*first).pool(0).allocate(1000, "a test");
    {
      tg::gpu_options same = half;
      same.streams = 1;  // of a session alone
      const shared_devices::lease second(shared, same);
      CHECK(&*second == &*first);
      CHECK((*second).pool(0).use().used == 1024);
    }
    CHECK(driver.counts().blocks == 1);
    for (int i = 0; i < 4; ++i) {
      tg::gpu_options other = half;
      if (i == 0) other.memory_fraction = 0.25;
      if (i == 1) other.memory_cap = 1 << 20;
      if (i == 2) other.allow_growth = false;
      if (i == 3) other.visible_devices = {0};
      CHECK_THAT(text_of([&] { const shared_devices::lease none(shared, other); }),
                 Catch::Contains("FailedPrecondition") && Catch::Contains("share the memory of its GPU devices"));
    }
  }
  CHECK(driver.counts().blocks == 0);
  const shared_devices::lease other(shared, {.memory_fraction = 0.25});
  CHECK((*other).pool(0).use().limit == 0);  // nothing is asked of the driver before the first use
}

}  // namespace
