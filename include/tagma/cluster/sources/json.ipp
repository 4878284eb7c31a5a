// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of json.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/base/file.hpp"
#include "tagma/cluster/sources/json.hpp"
#include "tagma/cluster/text.hpp"
#include "tagma/place/device.hpp"
#include "tagma/runtime/caught.hpp"

namespace tagma::sources {

TAGMA_DECL json_reader::json_reader(std::string_view text, std::string_view where) : where_(where), reader_(text) {
  if (text.size() > cluster_limits::text)
    fail(status_code::invalid_argument,
         {where, ": has ", text.size(), " bytes, and a description of a cluster ", cluster_limits::text, " at most"});
}

TAGMA_DECL std::string json_reader::place() const {
  const std::string_view path = path_;
  if (path.empty()) return std::string(where_);
  return sentence({where_, ": ", path[0] == '.' ? path.substr(1) : path});
}

TAGMA_DECL void json_reader::refuse(std::string_view reason) const {
  fail(status_code::invalid_argument, {place(), ": ", reason});
}

TAGMA_DECL void json_reader::stop() {
  fail(status_code::invalid_argument, {place(), ", byte ", reader_.position(), ": ", reader_.reason()});
}

TAGMA_DECL std::string json_reader::member(std::string_view name) {
  bool word = !name.empty() && !tagma::detail::is_digit(name[0]);
  for (const char c : name) word = word && (tagma::detail::is_letter(c) || tagma::detail::is_digit(c) || c == '_');
  return word ? "." + std::string(name) : "[" + tagma::detail::quote(name) + "]";
}

TAGMA_DECL cluster json_reader::jobs() {
  cluster_builder builder;
  const bool good = reader_.members([&](std::string_view job) {
    return at(member(job), [&] {
      builder.add_job(job, place());
      tasks(builder, job);
    });
  });
  if (!good) stop();
  return std::move(builder).finish();
}

TAGMA_DECL void json_reader::tasks(cluster_builder& builder, std::string_view job) {
  bool good = false;
  std::int64_t next = 0;
  switch (reader_.next()) {
    case json::kind::array:
      good = reader_.elements([&] {
        const std::int64_t index = next++;
        return at(sentence({"[", index, "]"}), [&] { task(builder, job, index); });
      });
      break;
    case json::kind::object:
      good = reader_.members([&](std::string_view name) {
        return at("[" + tagma::detail::quote(name) + "]", [&] {
          const std::optional<std::int64_t> index = tagma::detail::whole_number(name);
          if (!index) refuse("the index of a task is a decimal number");
          task(builder, job, *index);
        });
      });
      break;
    case json::kind::none:
      static_cast<void>(reader_.skip());
      break;
    default:
      refuse(sentence({"a job is a list of addresses, or an object of addresses by index, and not ",
                       json::to_string(reader_.next())}));
  }
  if (!good) stop();
}

TAGMA_DECL void json_reader::task(cluster_builder& builder, std::string_view job, std::int64_t index) {
  std::string text;
  if (const json::kind found = reader_.next(); found != json::kind::string && found != json::kind::none)
    refuse(sentence({"an address is a string, as \"10.0.0.1:2222\", and not ", json::to_string(found)}));
  if (!reader_.string(text)) stop();
  builder.add_task(job, index, text, place());
}

TAGMA_DECL int json_reader::index() {
  std::string text;
  std::string_view digits;
  if (reader_.next() == json::kind::string) {
    if (!reader_.string(text)) stop();
    digits = text;
  } else if (!reader_.number(digits)) {
    stop();
  }
  return static_cast<int>(tagma::detail::number_between(digits, 0, cluster_limits::tasks - 1, place()));
}

TAGMA_DECL std::string json_reader::string() {
  std::string text;
  if (!reader_.string(text)) stop();
  return text;
}

TAGMA_DECL void json_reader::end() {
  if (!reader_.end()) stop();
}

}  // namespace tagma::sources

namespace tagma {

TAGMA_DECL cluster cluster_from_json(std::string_view text, std::string_view where) {
  sources::json_reader reader(text, where);
  cluster read = reader.jobs();
  reader.end();
  return read;
}

TAGMA_DECL cluster cluster_from_file(const std::string& path) {
  input_file file(path);
  if (file.size() > cluster_limits::text)
    fail(status_code::invalid_argument,
         {path, ": has ", file.size(), " bytes, and a description of a cluster ", cluster_limits::text, " at most"});
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  text.resize(file.read_some(text.data(), text.size()));
  return cluster_from_json(text, path);
}

TAGMA_DECL cluster cluster_from_text_or_file(std::string_view text, std::string_view where) {
  const std::string_view inside = detail::trimmed(text);
  if (inside.empty())
    fail(status_code::invalid_argument, {where, ": expected a cluster as JSON, or a file that has one"});
  if (inside[0] == '{') return cluster_from_json(inside, where);
  try {
    return cluster_from_file(std::string(inside));
  } catch (const error& e) {
    fail(e.code(), {where, ": ", runtime::without_code(e.what())});
  }
}

}  // namespace tagma
