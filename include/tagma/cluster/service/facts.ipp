// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of facts.hpp: in the compiled half, or else in each file that includes it.

#include <unistd.h>

#include <cstdio>

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/facts.hpp"
#include "tagma/runtime/queue.hpp"
#include "tagma/runtime/serving.hpp"
#include "tagma/runtime/stored_variable.hpp"

namespace tagma::service {

TAGMA_COLD TAGMA_DECL element_norms norms_of(const raw_view& elements) {
  return detail::norms_of_any(elements, static_cast<std::size_t>(elements.dims.elements()),
                              std::make_index_sequence<tagma::detail::dtype_count>{});
}

TAGMA_COLD TAGMA_DECL std::uint64_t resident_bytes() {
  std::FILE* const file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  unsigned long long all = 0, resident = 0;
  const bool read = std::fscanf(file, "%llu %llu", &all, &resident) == 2;
  (void)std::fclose(file);
  return read ? resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

TAGMA_COLD TAGMA_DECL resource_list::entry entry_of(runtime::resource& r) {
  resource_list::entry e;
  e.kind = r.kind(), e.name = r.name();
  if (e.kind == "variable") {
    const auto& v = static_cast<const runtime::stored_variable&>(r);
    e.spec = v.spec(), e.detail = v.text(), e.initialized = v.initialized(),
    e.size = static_cast<std::int64_t>(v.bytes());
    e.device = sentence({"/device:", v.device_type(), ":", v.device() < 0 ? 0 : v.device()});
  } else if (e.kind == "queue") {
    auto& q = static_cast<runtime::queue&>(r);
    e.detail = q.text();
    for (std::size_t i = 0; i < q.components().size(); ++i)
      append_parts(e.detail, {i == 0 ? " of " : "; ", to_string(q.components()[i])});
    const runtime::queue::waiting_attempts waiting = q.waiting();
    e.adding = static_cast<std::uint32_t>(waiting.adding), e.taking = static_cast<std::uint32_t>(waiting.taking);
    e.size = q.size(), e.capacity = q.options().capacity < 0 ? -1 : q.options().capacity, e.closed = q.is_closed();
  } else if (e.kind == "reader" || e.kind == "iterator") {
    auto& s = static_cast<runtime::serving&>(r);
    e.detail = s.text(), e.taking = static_cast<std::uint32_t>(s.waiting());
  }
  return e;
}

TAGMA_COLD TAGMA_DECL server_status::connection connection_of(const transport::link& at, bool incoming,
                                                              std::int64_t now_ns) {
  const transport::identity who = at.peer();
  const transport::link_counters seen = at.counters();
  server_status::connection c;
  c.incoming = incoming, c.peer = {who.job, who.task}, c.role = who.role, c.incarnation = who.incarnation;
  c.bytes_sent = seen.bytes_sent, c.bytes_received = seen.bytes_received;
  c.messages_sent = seen.messages_sent, c.messages_received = seen.messages_received;
  c.queued = seen.queued, c.open_calls = seen.open_calls;
  c.round_trip_ns = seen.round_trip_ns, c.silent_ns = now_ns > seen.last_contact_ns ? now_ns - seen.last_contact_ns : 0;
  c.shared_memory = seen.shared_memory;
  return c;
}

}  // namespace tagma::service
