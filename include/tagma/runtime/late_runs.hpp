// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What programs that are compiled late ask of the registry: the graph compiler, and sessions.

#include "tagma/base/config.hpp"
#include "tagma/graph/heap_records.hpp"
#include "tagma/plan/heap_program.hpp"
#include "tagma/plan/late_program.hpp"
#include "tagma/runtime/any_session.hpp"
#include "tagma/runtime/data_runs.hpp"

namespace tagma::runtime {

/// Finds the rules of an operation that a file names by its key. Defined by the registry, which has all operations.
/// Throws Unimplemented that names it if there is none.
[[nodiscard]] const ir::op_rules& find_rules(const ir::table_operation& named);

class any_session_runs final : public data_runs {
 public:
  any_session_runs(const any_program& program, const session_options& options) : session_(program, options) {}
  [[nodiscard]] session_core& core() override { return session_.core(); }

 private:
  void run_to(array_view<const int> outputs, array_view<const node_feed> feeds, array_view<run_limits> limits,
              const source_line& at, const void* to, taker take) override {
    session_.run_nodes(outputs, feeds, limits, at,
                       [to, take](std::size_t f, const raw_view& value) { take(to, f, value); });
  }

  session<any_program> session_;
};

/// Weak, as all of these functions: several files may include this header, of which the registry is one.
[[gnu::weak]] owned<data_runs> begin_session(const any_program& program, const session_options& options) {
  return make_owned<any_session_runs>(program, options);
}

}  // namespace tagma::runtime

namespace tagma::detail {

[[gnu::weak]] counted<shared_late_program> build_late_program(const ir::record_table& table, const carried& values,
                                                              bool soft,
                                                              array_view<void (*const)(ir::rewriter&)> passes) {
  auto records = make_owned<ir::heap_records>(table, &runtime::find_rules);
  const auto built = build_sound_graph(records->roots(), records->named(), passes);
  const any_program program(built->view(), gather_values(built->places(), values), soft);
  return counted<shared_late_program>(
      new shared_late_program(static_cast<owned<ir::heap_records>&&>(records), program, built->records()));
}
[[gnu::weak]] std::int64_t peak_bytes_of(const any_program& program, extent batch) { return program.peak_bytes(batch); }

}  // namespace tagma::detail
