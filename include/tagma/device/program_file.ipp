// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of program_file.hpp: in the compiled half, or else in each file that includes it.

#include <cstring>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/base/file.hpp"
#include "tagma/base/replace_file.hpp"
#include "tagma/device/own_operations.hpp"
#include "tagma/device/program_file.hpp"
#include "tagma/graph/verify.hpp"
#include "tagma/io/crc32c.hpp"
#include "tagma/nn/value_check.hpp"

namespace tagma {

namespace detail {

/// What a program has beside its graph tables, while it is read.
struct read_tables {
  std::vector<const ir::operation_face*> operations;
  std::vector<ir::node> nodes;
  std::vector<ir::node_id> edges, roots;
  std::vector<ir::attribute> attributes;
  std::vector<device_spec> requests;
  std::vector<ir::loop_info> loops;
  std::vector<ir::back_edge> back_edges;
  std::vector<std::int16_t> loop_of;
  std::vector<std::int32_t> numbers;
  std::vector<carried> values;
  std::vector<std::string_view> outputs;

  [[nodiscard]] ir::graph_view view() const {
    return {{nodes.data(), nodes.size()},           {edges.data(), edges.size()},
            {attributes.data(), attributes.size()}, {roots.data(), roots.size()},
            {requests.data(), requests.size()},     {loops.data(), loops.size()},
            {back_edges.data(), back_edges.size()}, {loop_of.data(), loop_of.size()},
            {numbers.data(), numbers.size()}};
  }
};

/// A value that a node takes fits it: what is read of it when a program runs is there.
TAGMA_COLD TAGMA_DECL void check_value(const ir::graph_view& g, ir::node_id i, const carried_value* v) {
  const ir::node& n = g[i];
  const bool lost = n.value >= 0 && v == nullptr;
  const char* const problem =
      lost ? "its value is not there" : value_problem(*n.op->info, g.attributes(i), n.spec, n.value >= 0 ? v : nullptr);
  if (problem != nullptr) fail(status_code::invalid_argument, {"node ", i, ": ", n.op->info->name, ": ", problem});
}

/// Reads what stands between the head and the checksum.
class program_parser {
 public:
  TAGMA_COLD explicit program_parser(program_reader& in) : in_(in) {}

  TAGMA_COLD void run() {
    const std::size_t names = in_.count("operations", 7, 4096);
    for (std::size_t i = 0; i < names; ++i) read_operation();
    const std::size_t requests = in_.count("requests", 2, 0x7fff);
    for (std::size_t i = 0; i < requests; ++i) read_request();
    const std::size_t values = in_.count("values", 1, 1u << 20);
    for (std::size_t i = 0; i < values; ++i) read_value();
    const std::size_t nodes = in_.count("nodes", 24, 1u << 24);
    std::size_t used = 0;
    for (std::size_t i = 0; i < nodes; ++i) read_node(used);
    if (used != tables.operations.size()) in_.refuse({"of ", names, " operations ", used, " are used"});
    const std::size_t loops = in_.count("loops", 8, ir::most_loops);
    for (std::size_t i = 0; i < loops; ++i) {
      const auto head = in_.number<std::int32_t>();
      const auto parent = in_.number<std::int16_t>(), rank = in_.number<std::int16_t>();
      tables.loops.push_back({head, parent, rank});
    }
    const std::size_t carried = in_.count("carried values", 8, 1u << 20);
    for (std::size_t i = 0; i < carried; ++i) {
      const auto from = in_.number<std::int32_t>(), next = in_.number<std::int32_t>();
      tables.back_edges.push_back({from, next});
    }
    for (std::size_t i = 0; loops > 0 && i < nodes; ++i) tables.loop_of.push_back(in_.number<std::int16_t>());
    for (std::size_t i = 0; is_part && i < nodes; ++i) {
      tables.numbers.push_back(in_.number<std::int32_t>());
      if (tables.numbers.back() < -1) in_.refuse({"node ", i, " has number ", tables.numbers.back()});
    }
    const std::size_t outputs = in_.count("outputs", 6, 1u << 20);
    for (std::size_t i = 0; i < outputs; ++i) {
      tables.roots.push_back(in_.number<std::int32_t>());
      tables.outputs.push_back(in_.text<std::uint16_t>());
    }
    if (outputs == 0) in_.refuse({"there is no output"});
    if (in_.left() != 0) in_.refuse({in_.left(), " bytes behind the outputs"});
  }

  read_tables tables;
  bool is_part = false;  ///< of a program that was cut

 private:
  void read_operation() {
    const auto version = in_.number<std::uint32_t>();
    const std::string_view name = in_.text<std::uint16_t>();
    const ir::operation_face* const face = device::operations::find_operation(name);
    if (face == nullptr)
      in_.refuse({"operation '", name, "' is not known", device::operations::how_to_list}, status_code::unimplemented);
    if (static_cast<std::uint32_t>(face->version) != version)
      in_.refuse({"operation '", name, "' has version ", version, ", and is known with ", face->version},
                 status_code::unimplemented);
    for (const auto* const before : tables.operations)
      if (before == face) in_.refuse({"operation '", name, "' is listed twice"});
    tables.operations.push_back(face);
  }
  void read_request() {
    const std::string_view spelling = in_.text<std::uint16_t>();
    device_spec spec;
    if (!spelling.empty()) {
      const parsed_device parsed = parse_device(spelling);
      if (!parsed) in_.refuse({"'", spelling, "' is no device"});
      spec = *parsed;
    }
    if (device_spelling(spec).view() != spelling) in_.refuse({"device '", spelling, "' has a shorter name"});
    tables.requests.push_back(spec);
  }
  void read_value() {
    const auto there = in_.number<std::uint8_t>();
    if (there > 1) in_.refuse({"a value is there or not, and this is ", static_cast<int>(there)});
    if (there == 0) return tables.values.push_back({});
    carried_value v;
    v.number = in_.real();
    v.integer = in_.number<std::int64_t>();
    v.second = in_.real();
    v.dims = in_.dims();
    const std::string_view bytes = in_.take(in_.number<std::uint64_t>());
    if (!bytes.empty()) {
      v.bytes = shared_bytes(bytes.size());
      std::memcpy(v.bytes.data(), bytes.data(), bytes.size());
    }
    tables.values.push_back(carried(v));
  }
  void read_node(std::size_t& used) {
    ir::node n;
    const std::size_t operation = in_.number<std::uint32_t>();
    if (operation >= tables.operations.size() || operation > used)
      in_.refuse({"operation ", operation, " of ", tables.operations.size(), ", of which ", used, " were used"});
    if (operation == used) ++used;
    n.op = tables.operations[operation]->rules;
    const auto type = in_.number<std::uint8_t>();
    n.spec.type = static_cast<dtype>(type);
    n.spec.dims = in_.dims();
    if (const char* const broken = ir::broken_rule(n.spec)) in_.refuse({broken, " no tensor is like this"});
    const auto inputs = in_.number<std::uint16_t>(), controls = in_.number<std::uint16_t>(),
               colocated = in_.number<std::uint16_t>(), attributes = in_.number<std::uint16_t>();
    if (inputs > INT16_MAX || controls > INT16_MAX || colocated > INT16_MAX || attributes > INT16_MAX)
      in_.refuse({"a list of more than ", INT16_MAX, " entries"});
    n.inputs = static_cast<std::int16_t>(inputs);
    n.controls = static_cast<std::int16_t>(controls);
    n.colocated = static_cast<std::int16_t>(colocated);
    n.attribute_count = static_cast<std::int16_t>(attributes);
    n.first_edge = static_cast<std::int32_t>(tables.edges.size());
    n.first_attribute = static_cast<std::int32_t>(tables.attributes.size());
    for (int i = 0; i < inputs + controls + colocated; ++i) tables.edges.push_back(in_.number<std::int32_t>());
    for (int i = 0; i < attributes; ++i) tables.attributes.push_back(in_.number<std::int64_t>());
    n.value = in_.number<std::int32_t>();
    n.request = in_.number<std::int16_t>();
    n.name = in_.text<std::uint16_t>();
    n.suffix = in_.text<std::uint16_t>();
    tables.nodes.push_back(n);
  }

  program_reader& in_;
};

}  // namespace detail

TAGMA_COLD TAGMA_DECL std::string write_program(const any_program& program) {
  const ir::graph_view g = program.graph();
  detail::program_writer to;
  to.bytes() += detail::program_magic;
  to.number(detail::program_version);
  to.number((program.soft() ? detail::program_is_soft : 0u) | (g.numbers.empty() ? 0u : detail::program_is_part));
  to.number(std::uint64_t{0});  // the size, below
  to.number(program.fingerprint());
  while (to.bytes().size() < detail::program_head_bytes) to.number(std::uint8_t{0});

  std::vector<const ir::op_rules*> operations;
  std::vector<std::uint32_t> operation_of;
  for (const ir::node& n : g.nodes) {
    std::size_t i = 0;
    while (i < operations.size() && operations[i] != n.op) ++i;
    if (i == operations.size()) operations.push_back(n.op);
    operation_of.push_back(static_cast<std::uint32_t>(i));
  }
  to.number(static_cast<std::uint32_t>(operations.size()));
  for (const ir::op_rules* const op : operations) {
    const ir::operation_face* const face = device::operations::find_operation(op->info->name);
    if (face == nullptr || face->rules != op)
      fail(status_code::unimplemented,
           {"write_program: no file has operation '", op->info->name, "'", device::operations::how_to_list});
    to.number(static_cast<std::uint32_t>(face->version));
    to.text<std::uint16_t>(op->info->name, "an operation");
  }
  to.number(static_cast<std::uint32_t>(g.requests.size()));
  for (const device_spec& spec : g.requests) to.text<std::uint16_t>(device_spelling(spec).view(), "a device");
  const auto values = program.values().parts();
  to.number(static_cast<std::uint32_t>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const carried_value* const v = program.values().find(static_cast<std::int32_t>(i));
    to.number(static_cast<std::uint8_t>(v != nullptr));
    if (v == nullptr) continue;
    to.real(v->number), to.number(v->integer), to.real(v->second), to.dims(v->dims);
    to.number(static_cast<std::uint64_t>(v->bytes.size()));
    to.bytes().append(reinterpret_cast<const char*>(v->bytes.data()), v->bytes.size());
  }
  to.number(static_cast<std::uint32_t>(g.nodes.size()));
  for (ir::node_id i = 0; i < g.size(); ++i) {
    const ir::node& n = g[i];
    to.number(operation_of[static_cast<std::size_t>(i)]);
    to.number(static_cast<std::uint8_t>(n.spec.type));
    to.dims(n.spec.dims);
    to.number(n.inputs), to.number(n.controls), to.number(n.colocated), to.number(n.attribute_count);
    for (int k = 0; k < n.inputs + n.controls + n.colocated; ++k) to.number(g.edges[n.first_edge + k]);
    for (const ir::attribute a : g.attributes(i)) to.number(a);
    to.number(n.value), to.number(n.request);
    to.text<std::uint16_t>(n.name, "a name"), to.text<std::uint16_t>(n.suffix, "a name");
  }
  to.number(static_cast<std::uint32_t>(g.loops.size()));
  for (const ir::loop_info& l : g.loops) to.number(l.head), to.number(l.parent), to.number(l.rank);
  to.number(static_cast<std::uint32_t>(g.back_edges.size()));
  for (const ir::back_edge& e : g.back_edges) to.number(e.carried), to.number(e.next);
  if (!g.loops.empty())
    for (const std::int16_t l : g.loop_of) to.number(l);
  for (const std::int32_t number : g.numbers) to.number(number);
  to.number(static_cast<std::uint32_t>(g.roots.size()));
  for (std::size_t i = 0; i < g.roots.size(); ++i)
    to.number(g.roots[i]), to.text<std::uint16_t>(program.outputs()[i], "the name of an output");
  to.set_at(16, to.bytes().size() + detail::program_tail_bytes);
  to.number(io::crc32c(to.bytes()));
  return static_cast<std::string&&>(to.bytes());
}

TAGMA_COLD TAGMA_DECL any_program read_program_bytes(std::string_view bytes) {
  constexpr std::size_t least = detail::program_head_bytes + detail::program_tail_bytes;
  detail::program_reader head(bytes);
  if (bytes.size() < least) head.refuse({bytes.size(), " bytes are less than those of an empty program, ", least});
  if (head.take(8) != detail::program_magic) head.refuse({"this is no program"});
  if (const auto v = head.number<std::uint32_t>(); v != detail::program_version)
    head.refuse({"version ", v, ", and this reads version ", detail::program_version}, status_code::unimplemented);
  const auto flags = head.number<std::uint32_t>();
  if (flags > (detail::program_is_soft | detail::program_is_part))
    head.refuse({"flags ", flags, " are not known"}, status_code::unimplemented);
  if (const auto size = head.number<std::uint64_t>(); size != bytes.size())
    head.refuse({"there should be ", size, " bytes, and there are ", bytes.size()});
  const auto fingerprint = head.number<std::uint64_t>();
  while (head.at() < detail::program_head_bytes)
    if (head.number<std::uint8_t>() != 0) head.refuse({"the head has something where zeros are"});
  const std::string_view covered = bytes.substr(0, bytes.size() - detail::program_tail_bytes);
  detail::program_reader tail(bytes.substr(covered.size()));
  if (tail.number<std::uint32_t>() != io::crc32c(covered)) head.refuse({"the checksum is another: bytes were changed"});

  detail::program_reader in(covered);
  (void)in.take(detail::program_head_bytes);
  detail::program_parser parser(in);
  parser.is_part = (flags & detail::program_is_part) != 0;
  parser.run();
  const detail::read_tables& tables = parser.tables;
  const ir::graph_view g = tables.view();
  ir::verify(g, device::operations::all_operations(), tables.values.size());
  std::vector<const carried*> parts;
  for (const carried& c : tables.values) parts.push_back(&c);
  const carried values = carried::join({parts.data(), parts.size()});
  for (ir::node_id i = 0; i < g.size(); ++i) detail::check_value(g, i, values.find(g[i].value));
  for (std::size_t i = 0; i < g.requests.size() && i < 2; ++i)
    if (!g.requests[i].empty()) in.refuse({"the first two requests ask for nothing, and ", i, " does"});
  if (const std::uint64_t found = ir::fingerprint(g); found != fingerprint)
    in.refuse({"the fingerprint is ", found, ", and should be ", fingerprint});
  return any_program(g, values, (flags & detail::program_is_soft) != 0, {tables.outputs.data(), tables.outputs.size()});
}

TAGMA_COLD TAGMA_DECL void write_program(const any_program& program, const std::string& path) {
  const std::string bytes = write_program(program);
  const std::string_view pieces[] = {bytes};
  replace_file(path, pieces);
}

TAGMA_COLD TAGMA_DECL any_program read_program(const std::string& path) { return read_program_bytes(read_file(path)); }

}  // namespace tagma
