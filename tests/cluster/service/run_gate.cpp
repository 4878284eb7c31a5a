// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/service/run_gate.hpp"

#include <catch2/catch.hpp>
#include <vector>

namespace {

using tagma::service::run_gate;
using runs = std::vector<tagma::service::run_number>;

/// Which runs went in.
struct entered {
  run_gate gate{};
  runs in{}, away{};
  void enter(std::uint64_t step) {
    gate.enter({1, step}, {[this, step] { in.push_back({1, step}); }, [this, step] { away.push_back({1, step}); }});
  }
  static void call(const std::vector<run_gate::visitor>& all) {
    for (const auto& one : all) one.go();
  }
};

TEST_CASE("runs go in at once unless somebody holds the gate, then those who are admitted, then all") {
  entered e;
  e.enter(1);
  CHECK(e.in == runs{{1, 1}});
  CHECK(e.gate.hold(7, {}).first);
  CHECK(e.gate.is_held_by(7));
  CHECK(e.gate.inside() == runs{{1, 1}});
  e.enter(2), e.enter(3), e.enter(3);
  CHECK(e.in.size() == 1);
  auto [held, go] = e.gate.hold(7, {{1, 3}, {1, 4}});
  CHECK(held);
  CHECK(go.size() == 2);
  e.call(go);
  e.enter(4);  // admitted before it came
  CHECK(e.in == runs{{1, 1}, {1, 3}, {1, 3}, {1, 4}});
  e.gate.leave({1, 3});
  CHECK(e.gate.inside() == runs{{1, 1}, {1, 3}, {1, 4}});
  CHECK_FALSE(e.gate.hold(8, {}).first);
  CHECK(e.gate.open(8).empty());
  CHECK(e.gate.is_held_by(7));
  e.call(e.gate.open(7));
  CHECK(e.in.back() == tagma::service::run_number{1, 2});
  CHECK_FALSE(e.gate.is_held_by(7));
  e.enter(9);
  CHECK(e.in.size() == 6);
  CHECK(e.gate.times_held() == 2);
  CHECK(e.gate.hold(8, {}).first);
  e.enter(10);
  CHECK(e.away.empty());
  e.gate.end();
  CHECK(e.away == runs{{1, 10}});
  e.enter(11);
  CHECK(e.away == runs{{1, 10}, {1, 11}});
  CHECK(e.gate.open(8).empty());
  CHECK(e.in.size() == 6);
}

}  // namespace
