// SPDX-License-Identifier: BSL-1.0
// Bodies of messages of services, as strangers may send them. The first byte says of which message; what is read is
// written again as the same bytes.
#include <string>

#include "fuzz/fuzz.hpp"
#include "tagma/cluster/service/checkpoint_messages.hpp"
#include "tagma/cluster/service/master_messages.hpp"
#include "tagma/cluster/service/messages.hpp"
#include "tagma/cluster/service/reports.hpp"

namespace {

template <class Message>
void read(std::string_view body) {
  namespace fuzz = tagma::fuzz;
  try {
    const std::string again = Message::read(body).body();
    fuzz::expect(again == body, "a message is written as it was read");
  } catch (const tagma::error& e) {
    const bool named =
        e.code() == tagma::status_code::invalid_argument || e.code() == tagma::status_code::resource_exhausted;
    fuzz::expect(named, "what is wrong with a message is said");
  }
}

template <class... Messages>
void read_one(std::size_t which, std::string_view body) {
  std::size_t i = 0;
  (void)((i++ == which && (read<Messages>(body), true)) || ...);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace service = tagma::service;
  if (size == 0) return 0;
  read_one<service::add_part, service::run_part, service::part_results, service::edge_of_run, service::end_run,
           service::variable_list, service::task_list, service::server_status, service::container_list,
           service::resource_list, service::read_variable, service::variable_value, service::run_list,
           service::reset_result, service::probe, service::probe_result, service::added_part, service::hold_runs,
           service::open_runs, service::save_shard, service::saved_shard, service::commit_save, service::end_hold,
           service::restore_shard, service::name_list, service::restored_shard,
           service::open_session, service::node_devices, service::save_session, service::saved_session,
           service::restore_session, service::restored_session, service::begin_trace,
           service::end_trace, service::ended_trace, service::device_offers>(
      data[0], tagma::fuzz::text_of(data, size).substr(1));
  return 0;
}
