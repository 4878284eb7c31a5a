// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of command_line.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/cluster/sources/command_line.hpp"
#include "tagma/cluster/sources/json.hpp"
#include "tagma/cluster/text.hpp"

namespace tagma::sources {

namespace detail {

/// The options that are read here, by the first of their names.
using options_by_name = std::map<std::string, option, std::less<>>;

/// The first of the names of an option; empty for one of the program's.
TAGMA_DECL std::string_view name_of_option(std::string_view name) {
  if (name == "job_name") return "job";
  if (name == "task_index") return "task";
  for (const std::string_view own : {"cluster", "job", "task", "jobs", "port", "chief_hosts", "evaluator_hosts",
                                     "master_hosts", "ps_hosts", "worker_hosts"})
    if (name == own) return own;
  return {};
}

TAGMA_DECL options_by_name read_options(const arguments& given) {
  options_by_name found;
  for (std::size_t i = 0; i < given.size() && given[i] != "--"; ++i) {
    const std::string_view argument = given[i];
    if (!argument.starts_with("--")) continue;
    const std::size_t equals = argument.find('=');
    const std::string written(argument.substr(0, equals));
    std::string name = written.substr(2);
    for (char& c : name) c = c == '-' ? '_' : c;
    const std::string_view own = name_of_option(name);
    if (own.empty()) continue;
    if (equals == std::string_view::npos && i + 1 == given.size())
      fail(status_code::invalid_argument, {written, ": this option has a value, which is missing"});
    const std::string value = equals == std::string_view::npos ? given[++i] : std::string(argument.substr(equals + 1));
    const auto [place, is_new] = found.try_emplace(std::string(own), option{written, value});
    if (!is_new) fail(status_code::invalid_argument, {written, ": this was said before, by ", place->second.written});
  }
  return found;
}

TAGMA_DECL const option* option_of(const options_by_name& options, std::string_view name) {
  const auto found = options.find(name);
  return found == options.end() ? nullptr : &found->second;
}

/// The cluster that --ps_hosts and its like describe, if they are there.
TAGMA_DECL std::optional<cluster> cluster_of_hosts(const options_by_name& options) {
  constexpr std::string_view ending = "_hosts";
  cluster_builder builder;
  bool any = false;
  for (const auto& [name, o] : options) {
    if (!name.ends_with(ending)) continue;
    any = true;
    const std::string job = name.substr(0, name.size() - ending.size());
    builder.add_job(job, o.written);
    std::int64_t index = 0;
    for (const std::string_view a : tagma::detail::comma_list(o.value, o.written)) {
      builder.add_task(job, index, a, sentence({o.written, ", entry ", index}));
      ++index;
    }
  }
  if (!any) return std::nullopt;
  if (const option* const whole = option_of(options, "cluster"))
    fail(status_code::invalid_argument, {whole->written, " and options such as --ps_hosts both describe a cluster"});
  return std::move(builder).finish();
}

TAGMA_DECL int task_from(std::string_view text, std::string_view where) {
  return static_cast<int>(tagma::detail::number_between(text, 0, cluster_limits::tasks - 1, where));
}

TAGMA_DECL std::uint16_t port_from(std::string_view text, std::string_view where) {
  return static_cast<std::uint16_t>(tagma::detail::number_between(text, 1, 65535, where));
}

}  // namespace detail

TAGMA_DECL bool has_command_line(const arguments& options) {
  for (const auto& [name, o] : detail::read_options(options))
    if (name != "jobs" && name != "port") return true;
  return false;
}

TAGMA_DECL finding command_line(const arguments& options) {
  const detail::options_by_name found = detail::read_options(options);
  finding said;
  said.members = detail::cluster_of_hosts(found);
  if (const auto* const o = detail::option_of(found, "cluster"))
    said.members = cluster_from_text_or_file(o->value, o->written);
  if (const auto* const o = detail::option_of(found, "job")) {
    check_job_name(o->value, o->written);
    said.options.job = o->value;
  }
  if (const auto* const o = detail::option_of(found, "task"))
    said.options.task = detail::task_from(o->value, o->written);
  return said;
}

TAGMA_DECL std::string own_variables_there(const environment& variables) {
  for (const char* const name : {"TAGMA_CLUSTER", "TAGMA_JOB", "TAGMA_TASK"})
    if (variables.has(name)) return name;
  return {};
}

TAGMA_DECL bool has_own_variables(const environment& variables) { return !own_variables_there(variables).empty(); }

TAGMA_DECL finding own_variables(const environment& variables) {
  finding said;
  if (const auto text = variables.find("TAGMA_CLUSTER"))
    said.members = cluster_from_text_or_file(*text, "TAGMA_CLUSTER");
  if (auto job = variables.find("TAGMA_JOB")) {
    check_job_name(*job, "TAGMA_JOB");
    said.options.job = std::move(*job);
  }
  said.options.task = variables.find_number("TAGMA_TASK", 0, cluster_limits::tasks - 1).value_or(-1);
  return said;
}

TAGMA_DECL launch_settings launch_settings_from(const arguments& options, const environment& variables) {
  const detail::options_by_name found = detail::read_options(options);
  launch_settings settings;
  if (const auto* const o = detail::option_of(found, "jobs"))
    settings.jobs = job_counts_from(o->value, o->written);
  else if (const auto text = variables.find("TAGMA_JOBS"))
    settings.jobs = job_counts_from(*text, "TAGMA_JOBS");
  if (const auto* const o = detail::option_of(found, "port"))
    settings.port = detail::port_from(o->value, o->written);
  else if (const auto text = variables.find("TAGMA_PORT"))
    settings.port = detail::port_from(*text, "TAGMA_PORT");
  return settings;
}

}  // namespace tagma::sources
