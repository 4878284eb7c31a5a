// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of master_messages.hpp: in the compiled half, or else in each file that includes it.

#include <algorithm>

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/checkpoint_messages.hpp"
#include "tagma/cluster/service/master_messages.hpp"
#include "tagma/cluster/service/words.hpp"

namespace tagma::service {

namespace detail {

using text_map = std::map<std::string, std::string, std::less<>>;

/// Texts in the order of their keys, each once.
TAGMA_DECL text_map read_text_map(word_reader& from, const char* what) {
  text_map texts;
  for (auto& [key, text] : read_texts(from)) {
    if (!texts.empty() && key <= texts.rbegin()->first)
      fail(status_code::invalid_argument, {"message '", what, "': text '", key, "' is out of order"});
    texts.emplace_hint(texts.end(), std::move(key), std::move(text));
  }
  return texts;
}

TAGMA_DECL void write_cut(word_writer& to, isolation cut) { to.flag(cut == isolation::runs); }
TAGMA_DECL isolation read_cut(word_reader& from) { return from.flag() ? isolation::runs : isolation::variables; }

}  // namespace detail

TAGMA_DECL std::string open_session::body() const {
  word_writer to;
  to.text(what.body());
  to.number(static_cast<std::uint32_t>(device_filters.size()));
  for (const std::string& f : device_filters) to.text(f);
  for (const std::int64_t t : {connect_ns, run_ns, again_ns, tell_ns, stall_ns}) to.number(t);
  return to.take();
}

TAGMA_DECL open_session open_session::read(std::string_view body) {
  word_reader from(body, "open_session");
  open_session m;
  m.what = add_part::read(from.text());
  m.device_filters.resize(from.count(4));
  for (std::string& f : m.device_filters) f = from.text();
  for (std::int64_t* t : {&m.connect_ns, &m.run_ns, &m.again_ns, &m.tell_ns, &m.stall_ns})
    *t = from.number<std::int64_t>();
  from.end();
  if (std::min({m.connect_ns, m.run_ns, m.again_ns, m.tell_ns, m.stall_ns}) < 0)
    fail(status_code::invalid_argument, "message 'open_session': a time is negative");
  return m;
}

TAGMA_DECL node_devices node_devices::of(const std::vector<device_spec>& devices) {
  node_devices all;
  for (const device_spec& d : devices) {
    std::string name = tagma::to_string(d);
    const auto found = std::find(all.names.begin(), all.names.end(), name);
    all.nodes.push_back(static_cast<std::int32_t>(found - all.names.begin()));
    if (found == all.names.end()) all.names.push_back(std::move(name));
  }
  return all;
}

TAGMA_DECL std::vector<device_spec> node_devices::devices() const {
  std::vector<device_spec> known, all;
  for (const std::string& name : names) {
    const parsed_device one = parse_device(name);
    if (!one.reason.empty())
      fail(status_code::invalid_argument, {"message 'node_devices': '", name, "' is no device: ", one.reason});
    known.push_back(one.spec);
  }
  for (const std::int32_t n : nodes) all.push_back(known[static_cast<std::size_t>(n)]);
  return all;
}

TAGMA_DECL std::string node_devices::body() const {
  word_writer to;
  to.number(static_cast<std::uint32_t>(names.size()));
  for (const std::string& name : names) to.text(name);
  to.number(static_cast<std::uint32_t>(nodes.size()));
  for (const std::int32_t n : nodes) to.number(n);
  return to.take();
}

TAGMA_DECL node_devices node_devices::read(std::string_view body) {
  word_reader from(body, "node_devices");
  node_devices m;
  m.names.resize(from.count(4));
  for (std::string& name : m.names) name = from.text();
  m.nodes.resize(from.count(4));
  for (std::int32_t& n : m.nodes) {
    n = from.number<std::int32_t>();
    if (n < 0 || static_cast<std::size_t>(n) >= m.names.size())
      fail(status_code::invalid_argument, {"message 'node_devices': device ", n, " of ", m.names.size()});
  }
  from.end();
  return m;
}

TAGMA_DECL std::string save_session::body() const {
  word_writer to;
  to.number(graph), to.text(name), to.number(how.keep), to.flag(how.full), to.number(how.pause_ns);
  detail::write_texts(to, {how.texts.begin(), how.texts.end()});
  return to.take();
}

TAGMA_DECL save_session save_session::read(std::string_view body) {
  word_reader from(body, "save_session");
  save_session m;
  m.graph = from.number<std::uint64_t>(), m.name = from.text(), m.how.keep = from.number<std::uint32_t>();
  m.how.full = from.flag(), m.how.pause_ns = from.number<std::int64_t>();
  m.how.texts = detail::read_text_map(from, "save_session");
  from.end();
  return m;
}

TAGMA_DECL std::string saved_session::body() const {
  word_writer to;
  to.text(made.name), detail::write_cut(to, made.cut), to.number(static_cast<std::uint64_t>(made.variables));
  to.number(made.bytes), to.number(made.written);
  return to.take();
}

TAGMA_DECL saved_session saved_session::read(std::string_view body) {
  word_reader from(body, "saved_session");
  saved_session m;
  m.made.name = from.text(), m.made.cut = detail::read_cut(from);
  m.made.variables = static_cast<std::size_t>(from.number<std::uint64_t>());
  m.made.bytes = from.number<std::uint64_t>(), m.made.written = from.number<std::uint64_t>();
  from.end();
  return m;
}

TAGMA_DECL std::string restore_session::body() const {
  word_writer to;
  to.number(graph), to.text(name), to.number(pause_ns);
  return to.take();
}

TAGMA_DECL restore_session restore_session::read(std::string_view body) {
  word_reader from(body, "restore_session");
  restore_session m;
  m.graph = from.number<std::uint64_t>(), m.name = from.text(), m.pause_ns = from.number<std::int64_t>();
  from.end();
  return m;
}

TAGMA_DECL std::string restored_session::body() const {
  word_writer to;
  to.text(made.name), detail::write_cut(to, made.cut), to.number(static_cast<std::uint64_t>(made.variables));
  detail::write_texts(to, {made.texts.begin(), made.texts.end()});
  return to.take();
}

TAGMA_DECL restored_session restored_session::read(std::string_view body) {
  word_reader from(body, "restored_session");
  restored_session m;
  m.made.name = from.text(), m.made.cut = detail::read_cut(from);
  m.made.variables = static_cast<std::size_t>(from.number<std::uint64_t>());
  m.made.texts = detail::read_text_map(from, "restored_session");
  from.end();
  return m;
}

}  // namespace tagma::service
