// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of messages.hpp: in the compiled half, or else in each file that includes it.

#include <algorithm>

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/messages.hpp"
#include "tagma/cluster/service/words.hpp"

namespace tagma::service {

namespace detail {

TAGMA_DECL void write(word_writer& to, const std::vector<placed_task>& tasks) {
  to.number(static_cast<std::uint32_t>(tasks.size()));
  for (const placed_task& t : tasks) to.text(t.id.job), to.number(t.id.task), to.text(t.address);
}

TAGMA_DECL std::vector<placed_task> read_tasks(word_reader& from) {
  std::vector<placed_task> tasks(from.count(12));
  for (placed_task& t : tasks) t.id.job = from.text(), t.id.task = from.number<std::int32_t>(), t.address = from.text();
  return tasks;
}

TAGMA_DECL status_code read_code(word_reader& from, const char* what) {
  const auto code = static_cast<status_code>(from.number<std::uint8_t>());
  if (code > status_code::data_loss)
    fail(status_code::invalid_argument, {"message '", what, "': status ", static_cast<int>(code), " is not known"});
  return code;
}

/// Throws InvalidArgument for what is no device of a task.
TAGMA_DECL void check_device(std::string_view type, std::int32_t number, const char* what) {
  constexpr std::int32_t most = 1024;
  const parsed_device name = parse_device(sentence({"/device:", type, ":", number}));
  if (type.size() > device_text::capacity || number >= most || !name || name->type.view() != type)
    fail(status_code::invalid_argument, {"message '", what, "': no task has a device ", type, ":", number});
}

}  // namespace detail

TAGMA_DECL std::vector<placed_task> tasks_of(const cluster& c) {
  std::vector<placed_task> all;
  for (const auto& [job, tasks] : c.as_map())
    for (const auto& [task, at] : tasks) all.push_back({{job, task}, tagma::to_string(at)});
  return all;
}

TAGMA_DECL std::string add_part::body() const {
  word_writer to;
  to.number(graph), to.number(part), to.text(container), to.text(variable_prefix);
  to.number(static_cast<std::uint8_t>(kept_apart)), to.number(seed);
  detail::write(to, tasks), to.number(first_step);
  return to.take();
}

TAGMA_DECL add_part add_part::read(std::string_view body) {
  word_reader from(body, "add_part");
  add_part m;
  m.graph = from.number<std::uint64_t>(), m.part = from.number<std::int32_t>();
  m.container = from.text(), m.variable_prefix = from.text();
  const auto apart = from.number<std::uint8_t>();
  m.kept_apart = apart == 0 ? isolation::runs : isolation::variables;
  m.seed = from.number<std::uint64_t>();
  m.tasks = detail::read_tasks(from), m.first_step = from.number<std::uint64_t>();
  from.end();
  if (apart > 1 || m.part < 0 || static_cast<std::size_t>(m.part) >= m.tasks.size())
    fail(status_code::invalid_argument, {"message 'add_part': part ", m.part, " of ", m.tasks.size(), " tasks"});
  return m;
}

TAGMA_DECL std::string added_part::body() const {
  word_writer to;
  to.number(server);
  return to.take();
}

TAGMA_DECL added_part added_part::read(std::string_view body) {
  word_reader from(body, "added_part");
  added_part m;
  m.server = from.number<std::uint64_t>();
  from.end();
  return m;
}

TAGMA_DECL std::string run_part::body() const {
  word_writer to;
  to.number(graph), to.number(step), to.number(answered), to.number(server);
  to.number(static_cast<std::uint32_t>(outputs.size()));
  for (const std::int32_t o : outputs) to.number(o);
  to.number(static_cast<std::uint32_t>(feeds.size()));
  for (const fed_tensor& f : feeds) {
    to.number(static_cast<std::uint32_t>(f.nodes.size()));
    for (const std::int32_t n : f.nodes) to.number(n);
    to.spec(f.spec);
  }
  return to.take();
}

TAGMA_DECL run_part run_part::read(std::string_view body) {
  word_reader from(body, "run_part");
  run_part m;
  m.graph = from.number<std::uint64_t>(), m.step = from.number<std::uint64_t>();
  m.answered = from.number<std::uint64_t>(), m.server = from.number<std::uint64_t>();
  m.outputs.resize(from.count(4));
  for (std::int32_t& o : m.outputs) o = from.number<std::int32_t>();
  m.feeds.resize(from.count(6));
  for (fed_tensor& f : m.feeds) {
    f.nodes.resize(from.count(4));
    for (std::int32_t& n : f.nodes) n = from.number<std::int32_t>();
    f.spec = from.spec();
  }
  from.end();
  return m;
}

TAGMA_DECL std::string part_results::body() const {
  word_writer to;
  to.number(static_cast<std::uint32_t>(specs.size()));
  for (const tensor_spec& s : specs) to.spec(s);
  to.number(static_cast<std::uint8_t>(code)), to.text(why);
  return to.take();
}

TAGMA_DECL part_results part_results::read(std::string_view body) {
  word_reader from(body, "part_results");
  part_results m;
  m.specs.resize(from.count(2));
  for (tensor_spec& s : m.specs) s = from.spec();
  m.code = detail::read_code(from, "part_results"), m.why = from.text();
  from.end();
  return m;
}

TAGMA_DECL std::string edge_of_run::body() const {
  word_writer to;
  to.number(graph), to.number(step), to.number(edge), to.spec(spec);
  return to.take();
}

TAGMA_DECL edge_of_run edge_of_run::read(std::string_view body) {
  word_reader from(body, "tensor");
  edge_of_run m;
  m.graph = from.number<std::uint64_t>(), m.step = from.number<std::uint64_t>();
  m.edge = from.number<std::int32_t>(), m.spec = from.spec();
  from.end();
  return m;
}

TAGMA_DECL std::string end_run::body() const {
  word_writer to;
  to.number(graph), to.number(step), to.number(static_cast<std::uint8_t>(code)), to.text(why);
  return to.take();
}

TAGMA_DECL end_run end_run::read(std::string_view body) {
  word_reader from(body, "end_run");
  end_run m;
  m.graph = from.number<std::uint64_t>(), m.step = from.number<std::uint64_t>();
  m.code = detail::read_code(from, "end_run"), m.why = from.text();
  from.end();
  return m;
}

TAGMA_DECL std::string variable_list::body() const {
  word_writer to;
  to.number(static_cast<std::uint32_t>(variables.size()));
  for (const variable& v : variables) to.text(v.name), to.spec(v.spec), to.text(v.device_type), to.number(v.device);
  return to.take();
}

TAGMA_DECL variable_list variable_list::read(std::string_view body) {
  word_reader from(body, "variable_list");
  variable_list m;
  m.variables.resize(from.count(14));
  for (variable& v : m.variables) {
    v.name = from.text(), v.spec = from.spec(), v.device_type = from.text(), v.device = from.number<std::int32_t>();
    detail::check_device(v.device_type, v.device, "variable_list");
  }
  from.end();
  return m;
}

TAGMA_DECL std::string device_offers::body() const {
  word_writer to;
  to.number(static_cast<std::uint32_t>(others.size()));
  for (const device_offer& o : others) {
    to.text(o.type), to.number(static_cast<std::int32_t>(o.count));
    to.number(static_cast<std::uint32_t>(o.operations.size()));
    for (const std::string& name : o.operations) to.text(name);
  }
  return to.take();
}

TAGMA_DECL device_offers device_offers::read(std::string_view body) {
  word_reader from(body, "device_offers");
  device_offers m;
  const std::size_t types = from.count(12);
  if (types > 31) fail(status_code::invalid_argument, {"message 'device_offers': ", types, " types of devices"});
  m.others.resize(types);
  for (device_offer& o : m.others) {
    o.type = from.text(), o.count = from.number<std::int32_t>();
    detail::check_device(o.type, o.count - (o.count > 0), "device_offers");
    if (o.type == "CPU") fail(status_code::invalid_argument, "message 'device_offers': CPUs are not listed");
    o.operations.resize(from.count(4));
    for (std::string& name : o.operations) name = from.text();
    if (!std::is_sorted(o.operations.begin(), o.operations.end()))
      fail(status_code::invalid_argument, "message 'device_offers': operations are not in the order of their names");
    for (const device_offer& other : m.others)
      if (&other != &o && other.type == o.type)
        fail(status_code::invalid_argument, {"message 'device_offers': devices of type ", o.type, " are there twice"});
  }
  from.end();
  return m;
}

TAGMA_DECL std::string task_list::body() const {
  word_writer to;
  to.text(self.job), to.number(self.task), detail::write(to, tasks);
  return to.take();
}

TAGMA_DECL task_list task_list::read(std::string_view body) {
  word_reader from(body, "task_list");
  task_list m;
  m.self.job = from.text(), m.self.task = from.number<std::int32_t>(), m.tasks = detail::read_tasks(from);
  from.end();
  return m;
}

}  // namespace tagma::service
