// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/service/facts.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "tagma/runtime/queue.hpp"
#include "tagma/runtime/stored_variable.hpp"
#include "tagma/tensor/half.hpp"

namespace {

namespace tg = tagma;
namespace service = tagma::service;
namespace runtime = tagma::runtime;
using tg::dtype;

template <class T>
service::element_norms norms(dtype type, const std::vector<T>& elements) {
  return service::norms_of({elements.data(), type, {static_cast<tg::extent>(elements.size())}});
}

TEMPLATE_TEST_CASE("norms are those of the numbers, whatever their type", "", float, double, std::int64_t, std::int32_t,
                   std::int16_t, std::int8_t, tg::float16, tg::bfloat16) {
  const std::vector<TestType> elements{static_cast<TestType>(3), static_cast<TestType>(-4), static_cast<TestType>(0)};
  const service::element_norms n = norms(tg::dtype_of<TestType>, elements);
  CHECK(n.least == -4);
  CHECK(n.most == 3);
  CHECK(n.mean == Approx(-1.0 / 3));
  CHECK(n.l1 == 7);
  CHECK(n.l2 == 5);
  CHECK(n.not_finite == 0);
}

TEST_CASE("what is not finite is counted, and nothing has no norms") {
  constexpr float inf = std::numeric_limits<float>::infinity();
  const service::element_norms n = norms<float>(dtype::float32, {inf, 2, NAN, -inf, 4});
  CHECK(n.not_finite == 3);
  CHECK(n.least == 2);
  CHECK(n.most == 4);
  CHECK(n.mean == 3);
  for (const service::element_norms none : {norms<float>(dtype::float32, {}), norms<float>(dtype::float32, {NAN})}) {
    CHECK(none.least == 0);
    CHECK(none.most == 0);
    CHECK(none.l2 == 0);
  }
  const bool flags[] = {true, false, true};
  CHECK(service::norms_of({flags, dtype::boolean, {3}}).l1 == 2);
  const tg::string_element texts[] = {"a"};
  CHECK(service::norms_of({texts, dtype::string, {1}}).l1 == 0);
}

TEST_CASE("a variable is described while somebody updates it") {
  runtime::stored_variable v("w", {dtype::float32, {3}}, runtime::on_host, {});
  CHECK(!service::entry_of(v).initialized);
  std::byte* const to = v.begin_update(false);
  CHECK(service::entry_of(v).size == 12);
  const float elements[] = {1, 2, 3};
  v.write(to, elements);
  v.end_update();
  CHECK(service::entry_of(v).initialized);
}

TEST_CASE("who waits at a queue is counted") {
  struct attempt final : runtime::queue_attempt {
    bool done = false;
    void ended(std::exception_ptr) noexcept override { done = true; }
  };
  const tg::tensor_spec components[] = {{dtype::int32, {}}, {dtype::float32, {tg::dyn, 2}}};
  runtime::queue q("q", {.capacity = 1}, {components, 2});
  attempt one, two;
  q.dequeue(one, 1);
  q.dequeue(two, 2);
  const service::resource_list::entry e = service::entry_of(q);
  CHECK(e.detail == "FIFO queue 'q' of int32 []; float32 [?, 2]");
  CHECK(e.taking == 2);
  CHECK(e.adding == 0);
  CHECK(e.capacity == 1);
  CHECK(!e.closed);
  q.close_now();
  CHECK(one.done);
  CHECK(two.done);
  CHECK(service::entry_of(q).closed);
  CHECK(service::entry_of(q).taking == 0);
}

TEST_CASE("a process has memory") { CHECK(service::resident_bytes() > 0); }

}  // namespace
