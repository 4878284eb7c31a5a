// SPDX-License-Identifier: BSL-1.0
#include "tagma/data/batches.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <map>
#include <numeric>
#include <thread>
#include <vector>

#include "support/errors.hpp"
#include "support/sanitizers.hpp"

#if !HAS_ADDRESS_SANITIZER && !HAS_THREAD_SANITIZER
#define COUNTS_THREADS
namespace {
/// How many threads the system starts from now on; below 0: any number.
std::atomic<int> threads_left{-1};
std::atomic<int> refused{0};
}  // namespace

// Stands before the system's own in this program.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                              void* argument) {
  using function = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto system = reinterpret_cast<function>(::dlsym(RTLD_NEXT, "pthread_create"));
  if (threads_left == 0) return ++refused, EAGAIN;
  if (threads_left > 0) --threads_left;
  return system(thread, attributes, run, argument);
}
#endif

using tagma::extent;
using tagma::shape;
using tagma::shuffled_order;
using tagma::status_code;
using tagma::tensor;
using tagma::test::code_of;

namespace {

using data_set = tagma::labelled<float, std::uint8_t>;

/// Image i is [2, 2] and holds i in every element; its label is i.
data_set numbered(extent n) {
  data_set data{tensor<float>(shape{n, 2, 2}), tensor<std::uint8_t>(shape{n})};
  for (extent i = 0; i < n; ++i) {
    for (float& x : data.images.rows(i, i + 1)) x = static_cast<float>(i);
    data.labels[i] = static_cast<std::uint8_t>(i);
  }
  return data;
}

/// The rows of one pass in their order; every image is compared with its label.
template <class Batches>
std::vector<extent> rows_of(const Batches& range, std::vector<extent>* sizes = nullptr) {
  std::vector<extent> rows;
  for (auto& [images, labels] : range) {
    REQUIRE(images.dims() == shape{labels.dims()[0], 2, 2});
    if (sizes != nullptr) sizes->push_back(labels.dims()[0]);
    for (extent i = 0; i < labels.dims()[0]; ++i) {
      for (const float x : images.rows(i, i + 1)) REQUIRE(x == static_cast<float>(labels[i]));
      rows.push_back(labels[i]);
    }
  }
  return rows;
}

std::vector<extent> counted(extent n) {
  std::vector<extent> rows(static_cast<std::size_t>(n));
  std::iota(rows.begin(), rows.end(), extent{0});
  return rows;
}

std::vector<extent> sorted(std::vector<extent> rows) {
  std::sort(rows.begin(), rows.end());
  return rows;
}

}  // namespace

TEST_CASE("a shuffled order has every row once and is a function of seed and epoch") {
  CHECK(sorted(shuffled_order(1000, 1000, 42, 0)) == counted(1000));
  CHECK(shuffled_order(1000, 1000, 42, 0) == shuffled_order(1000, 1000, 42, 0));
  CHECK(shuffled_order(1000, 1000, 42, 0) == shuffled_order(1000, 5000, 42, 0));
  CHECK(shuffled_order(1000, 1000, 42, 0) != shuffled_order(1000, 1000, 42, 1));
  CHECK(shuffled_order(1000, 1000, 42, 0) != shuffled_order(1000, 1000, 43, 0));
  CHECK(shuffled_order(0, 10, 42, 0).empty());
  CHECK(shuffled_order(5, 1, 42, 0) == counted(5));
}

TEST_CASE("a buffer smaller than the data only moves rows forward within it") {
  const std::vector<extent> order = shuffled_order(500, 20, 7, 0);
  CHECK(sorted(order) == counted(500));
  CHECK(order != counted(500));
  for (std::size_t i = 0; i < order.size(); ++i) CHECK(order[i] < static_cast<extent>(i) + 20);
}

TEST_CASE("every permutation comes about as often as the others") {
  std::map<std::vector<extent>, int> seen;
  for (std::uint64_t epoch = 0; epoch < 2400; ++epoch) ++seen[shuffled_order(4, 4, 1, epoch)];
  CHECK(seen.size() == 24);
  double chi_square = 0;
  for (const auto& [order, times] : seen) chi_square += (times - 100.0) * (times - 100.0) / 100.0;
  CHECK(chi_square < 49.7);  // 23 degrees of freedom, p = 0.001
}

TEST_CASE("batches come in order with a smaller one at the end") {
  const data_set data = numbered(10);
  for (const extent ahead : {0, 1, 2, 100}) {
    std::vector<extent> sizes;
    CHECK(rows_of(data.batch(4).prefetch(ahead), &sizes) == counted(10));
    CHECK(sizes == std::vector<extent>{4, 4, 2});
    sizes.clear();
    CHECK(rows_of(data.batch(4, true).prefetch(ahead), &sizes) == counted(8));
    CHECK(sizes == std::vector<extent>{4, 4});
    CHECK(rows_of(data.batch(5).prefetch(ahead)) == counted(10));
    CHECK(rows_of(data.batch(100).prefetch(ahead)) == counted(10));
    CHECK(rows_of(data.batch(100, true).prefetch(ahead)).empty());
    CHECK(rows_of(data.batch(INT64_MAX).prefetch(ahead)) == counted(10));
  }
  CHECK(data.batch(4).size() == 3);
  CHECK(data.batch(4, true).size() == 2);
  CHECK(data.batch(100).size() == 1);
  CHECK(data.batch(100, true).size() == 0);
  const data_set none = numbered(0);
  CHECK(rows_of(none.batch(4).prefetch(2)).empty());
  CHECK(none.batch(INT64_MAX).size() == 0);
  CHECK(rows_of(none.shuffle(4).batch(4)).empty());
}

TEST_CASE("every shuffled pass has its own order, the same one in each run of a program") {
  const data_set data = numbered(200);
  const auto range = data.shuffle(200, 42).batch(32).prefetch(2);
  const auto first = rows_of(range), second = rows_of(range);
  CHECK(first == shuffled_order(200, 200, 42, 0));
  CHECK(second == shuffled_order(200, 200, 42, 1));
  CHECK(rows_of(data.shuffle(200, 42).batch(7)) == shuffled_order(200, 200, 42, 2));
  CHECK(rows_of(data.batch(32)) == counted(200));
  CHECK(rows_of(range.epoch(1)) == second);
  CHECK(rows_of(range.epoch(1)) == second);
  CHECK(rows_of(range) == shuffled_order(200, 200, 42, 3));
}

TEST_CASE("the views of a batch stay as they are until the loop goes on") {
  const data_set data = numbered(64);
  for (const auto& [images, labels] : data.batch(4).prefetch(3)) {
    const tensor<float> before(images);
    for (int i = 0; i < 200; ++i) std::this_thread::yield();
    CHECK(before == tensor<float>(images));
  }
}

TEST_CASE("a loop may be left early, and two passes may run at once") {
  const data_set data = numbered(100);
  for (auto& [images, labels] : data.shuffle(100).batch(3).prefetch(2))
    if (labels.size() == 3) break;
  const auto range = data.batch(10).prefetch(1);
  auto a = range.begin(), b = range.begin();
  ++a;
  CHECK((*a).labels[0] == 10);
  CHECK((*b).labels[0] == 0);
}

TEST_CASE("the buffers of a pass are used again and again") {
  const data_set data = numbered(40);
  std::vector<const float*> places;
  for (auto& [images, labels] : data.batch(4).prefetch(2))
    if (std::find(places.begin(), places.end(), images.data()) == places.end()) places.push_back(images.data());
  CHECK(places.size() == 3);
  places.clear();
  for (auto& [images, labels] : data.batch(4))
    if (std::find(places.begin(), places.end(), images.data()) == places.end()) places.push_back(images.data());
  CHECK(places.size() == 1);
}

#if defined(COUNTS_THREADS)
TEST_CASE("where no thread can be started, batches are copied when the loop asks for them") {
  const data_set data = numbered(100);
  for (const int left : {0, 1}) {
    threads_left = left;
    refused = 0;
    const auto range = data.shuffle(100, 7).batch(8).prefetch(3);
    std::vector<extent> first;
    {
      auto other = range.begin();  // has the only thread, if there is one
      first = rows_of(range.epoch(0));
      CHECK((*other).labels.size() == 8);
    }
    CHECK(refused == 2 - left);
    threads_left = -1;
    CHECK(first == rows_of(range.epoch(0)));
    CHECK(sorted(first) == counted(100));
  }
}
#endif

TEST_CASE("wrong sizes are errors") {
  const data_set data = numbered(4);
  CHECK(code_of([&] { (void)data.batch(0); }) == status_code::invalid_argument);
  CHECK(code_of([&] { (void)data.shuffle(0); }) == status_code::invalid_argument);
  CHECK(code_of([&] { (void)data.batch(1).prefetch(-1); }) == status_code::invalid_argument);
  const data_set unequal{tensor<float>(shape{3, 2, 2}), tensor<std::uint8_t>(shape{4})};
  CHECK_THROWS_WITH(unequal.batch(1), "InvalidArgument: images [3, 2, 2] and labels [4] do not have as many rows");
}
