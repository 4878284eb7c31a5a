// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What programs that are compiled late ask of the registry: the graph compiler, and sessions.

#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/graph/heap_records.hpp"
#include "tagma/plan/heap_program.hpp"
#include "tagma/plan/late_program.hpp"
#include "tagma/plan/print_any.hpp"
#include "tagma/runtime/any_session.hpp"
#include "tagma/runtime/data_runs.hpp"
#include "tagma/runtime/mutex.hpp"

namespace tagma::runtime {

/// Finds the rules of an operation that a file names by its key. Defined by the registry, which has all operations.
/// Throws Unimplemented that names it if there is none.
[[nodiscard]] const ir::op_rules& find_rules(const ir::table_operation& named);

}  // namespace tagma::runtime

namespace tagma::detail {

class built_late_program final : public shared_late_program {
 public:
  built_late_program(owned<ir::heap_records> records, const ir::heap_build& built, const carried& values, bool soft)
      : records_(static_cast<owned<ir::heap_records>&&>(records)),
        data_(built.view(), gather_values(built.places(), values), soft),
        nodes_(built.records().begin(), built.records().end()) {}

  [[nodiscard]] const any_program& data() const override { return data_; }
  [[nodiscard]] const carried& values() const override { return data_.values(); }
  [[nodiscard]] std::size_t node_count() const override { return data_.node_count(); }
  [[nodiscard]] std::int64_t peak_bytes(extent batch) const override { return data_.peak_bytes(batch); }
  [[nodiscard]] std::uint64_t fingerprint() const override { return data_.fingerprint(); }
  [[nodiscard]] std::string explain(extent batch, const plan::site_kind* others) const override {
    return tagma::explain(data_, batch, others);
  }
  [[nodiscard]] std::string explain(array_view<const int> outputs, extent batch,
                                    const plan::site_kind* others) const override {
    return explain_outputs(data_, outputs, batch, others);
  }
  [[nodiscard]] std::string to_dot(const plan::site_kind* others) const override {
    return tagma::to_dot(data_, others);
  }
  [[nodiscard]] int resource_position(std::string_view kind, std::string_view name) const override {
    int position = 0;
    for (const ir::node& n : data_.graph().nodes) {
      if (!n.op->info->is(ir::op_kind::resource)) continue;
      if (n.op->info->name == kind && n.name == name) return position;
      ++position;
    }
    return -1;
  }
  /// The nodes that a record became; none if that is no part of the program.
  [[nodiscard]] TAGMA_COLD std::vector<ir::node_id> nodes_of(std::int32_t position) const {
    const ir::graph_view g = data_.graph();
    std::vector<ir::node_id> found(g.nodes.size() + 1);
    found.resize(position < 0 ? 0 : static_cast<std::size_t>(find_nodes(g, nodes_, (*records_)[position], found)));
    return found;
  }

 private:
  owned<ir::heap_records> records_;
  any_program data_;
  std::vector<ir::node_of_record> nodes_;
};

/// Weak, as all of these functions: several files may include this header, of which the registry is one.
[[gnu::weak]] counted<shared_late_program> build_late_program(const ir::record_table& table, const carried& values,
                                                              bool soft,
                                                              array_view<void (*const)(ir::rewriter&)> passes) {
  auto records = make_owned<ir::heap_records>(table, &runtime::find_rules);
  const auto built = build_sound_graph(records->roots(), records->named(), passes);
  return counted<shared_late_program>(
      new built_late_program(static_cast<owned<ir::heap_records>&&>(records), *built, values, soft));
}

}  // namespace tagma::detail

namespace tagma::runtime {

class late_runs final : public data_runs {
 public:
  late_runs(const tagma::detail::built_late_program& program, const session_options& options, const device_kind* others)
      : program_(program), session_(program.data(), options, others) {}
  [[nodiscard]] session_core& core() override { return session_.core(); }

 private:
  void run_to(array_view<const int> outputs, array_view<const record_feed> feeds, array_view<run_limits> limits,
              const source_line& at, const void* to, taker take) override {
    scratch_array<node_feed, 8> by_nodes(feeds.size());
    for (std::size_t i = 0; i < feeds.size(); ++i) by_nodes[i] = {nodes_of(feeds[i]), feeds[i].value};
    session_.run_nodes(outputs, by_nodes.view(), limits, at,
                       [to, take](std::size_t f, const raw_view& value) { take(to, f, value); });
  }
  /// They are looked for once.
  [[nodiscard]] array_view<const ir::node_id> nodes_of(const record_feed& fed) {
    const mutex_lock lock(mutex_);
    for (const owned<known_record>& k : known_)
      if (k->position == fed.position) return k->nodes;
    auto found = make_owned<known_record>();
    found->position = fed.position;
    found->nodes = program_.nodes_of(fed.position);
    if (found->nodes.empty())
      fail(status_code::invalid_argument,
           {"TAGMA-E054 run: what is fed is no part of this program: ", fed.operation, " ", fed.name});
    known_.push_back(static_cast<owned<known_record>&&>(found));
    return known_.back()->nodes;
  }

  struct known_record {
    std::int32_t position = -1;
    std::vector<ir::node_id> nodes;
  };
  const tagma::detail::built_late_program& program_;
  session<any_program> session_;
  mutex mutex_;
  std::vector<owned<known_record>> known_;
};

[[gnu::weak]] owned<data_runs> begin_session(const tagma::detail::shared_late_program& program,
                                             const session_options& options, const device_kind* others) {
  return make_owned<late_runs>(static_cast<const tagma::detail::built_late_program&>(program), options, others);
}

}  // namespace tagma::runtime
