// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of checkpoint_messages.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/checkpoint_messages.hpp"
#include "tagma/cluster/service/words.hpp"

namespace tagma::service {

namespace detail {

TAGMA_DECL void write_runs(word_writer& to, const std::vector<run_number>& runs) {
  to.number(static_cast<std::uint32_t>(runs.size()));
  for (const auto& [graph, step] : runs) to.number(graph), to.number(step);
}

TAGMA_DECL std::vector<run_number> read_runs(word_reader& from) {
  std::vector<run_number> runs(from.count(16));
  for (auto& [graph, step] : runs) graph = from.number<std::uint64_t>(), step = from.number<std::uint64_t>();
  return runs;
}

TAGMA_DECL void write_texts(word_writer& to, const text_list& texts) {
  to.number(static_cast<std::uint32_t>(texts.size()));
  for (const auto& [name, text] : texts) to.text(name), to.text(text);
}

TAGMA_DECL text_list read_texts(word_reader& from) {
  text_list texts(from.count(8));
  for (auto& [name, text] : texts) name = from.text(), text = from.text();
  return texts;
}

}  // namespace detail

TAGMA_DECL std::string hold_runs::body() const {
  word_writer to;
  to.text(container), to.number(token), detail::write_runs(to, admitted);
  return to.take();
}

TAGMA_DECL hold_runs hold_runs::read(std::string_view body) {
  word_reader from(body, "hold_runs");
  hold_runs m;
  m.container = from.text(), m.token = from.number<std::uint64_t>(), m.admitted = detail::read_runs(from);
  from.end();
  if (m.token == 0) fail(status_code::invalid_argument, "message 'hold_runs': a token is not 0");
  return m;
}

TAGMA_DECL std::string open_runs::body() const {
  word_writer to;
  detail::write_runs(to, runs);
  return to.take();
}

TAGMA_DECL open_runs open_runs::read(std::string_view body) {
  word_reader from(body, "open_runs");
  open_runs m;
  m.runs = detail::read_runs(from);
  from.end();
  return m;
}

TAGMA_DECL std::string save_shard::body() const {
  word_writer to;
  to.text(container), to.text(name), to.number(token);
  to.flag(held), to.flag(full);
  return to.take();
}

TAGMA_DECL save_shard save_shard::read(std::string_view body) {
  word_reader from(body, "save_shard");
  save_shard m;
  m.container = from.text(), m.name = from.text(), m.token = from.number<std::uint64_t>();
  m.held = from.flag(), m.full = from.flag();
  from.end();
  return m;
}

TAGMA_DECL std::string saved_shard::body() const {
  word_writer to;
  to.number(static_cast<std::uint32_t>(variables.size()));
  for (const variable& v : variables) to.text(v.name), to.text(v.file), to.number(v.bytes), to.flag(v.written);
  return to.take();
}

TAGMA_DECL saved_shard saved_shard::read(std::string_view body) {
  word_reader from(body, "saved_shard");
  saved_shard m;
  m.variables.resize(from.count(17));
  for (variable& v : m.variables) {
    v.name = from.text(), v.file = from.text(), v.bytes = from.number<std::uint64_t>();
    v.written = from.flag();
  }
  from.end();
  return m;
}

TAGMA_DECL std::string commit_save::body() const {
  word_writer to;
  to.text(name), to.number(token), to.number(keep), detail::write_texts(to, texts);
  return to.take();
}

TAGMA_DECL commit_save commit_save::read(std::string_view body) {
  word_reader from(body, "commit_save");
  commit_save m;
  m.name = from.text(), m.token = from.number<std::uint64_t>(), m.keep = from.number<std::uint32_t>();
  m.texts = detail::read_texts(from);
  from.end();
  return m;
}

TAGMA_DECL std::string end_hold::body() const {
  word_writer to;
  to.text(container), to.number(token), to.flag(committed);
  return to.take();
}

TAGMA_DECL end_hold end_hold::read(std::string_view body) {
  word_reader from(body, "end_hold");
  end_hold m;
  m.container = from.text(), m.token = from.number<std::uint64_t>(), m.committed = from.flag();
  from.end();
  return m;
}

TAGMA_DECL std::string restore_shard::body() const {
  word_writer to;
  to.text(container), to.text(name), to.number(token), to.flag(checks_only);
  return to.take();
}

TAGMA_DECL restore_shard restore_shard::read(std::string_view body) {
  word_reader from(body, "restore_shard");
  restore_shard m;
  m.container = from.text(), m.name = from.text(), m.token = from.number<std::uint64_t>();
  m.checks_only = from.flag();
  from.end();
  return m;
}

TAGMA_DECL std::string name_list::body() const {
  word_writer to;
  to.number(static_cast<std::uint32_t>(names.size()));
  for (const std::string& n : names) to.text(n);
  return to.take();
}

TAGMA_DECL name_list name_list::read(std::string_view body) {
  word_reader from(body, "name_list");
  name_list m;
  m.names.resize(from.count(4));
  for (std::string& n : m.names) n = from.text();
  from.end();
  return m;
}

TAGMA_DECL std::string restored_shard::body() const {
  word_writer to;
  detail::write_texts(to, texts);
  return to.take();
}

TAGMA_DECL restored_shard restored_shard::read(std::string_view body) {
  word_reader from(body, "restored_shard");
  restored_shard m;
  m.texts = detail::read_texts(from);
  from.end();
  return m;
}

}  // namespace tagma::service
