// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Programs in files: the graph, the numbers written in place, the names of the outputs. docs/program_format.md has
/// every byte. What is read is verified, whoever wrote it: a program that is returned runs kernels on checked extents.

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/base/file.hpp"
#include "tagma/base/replace_file.hpp"
#include "tagma/device/own_operations.hpp"
#include "tagma/graph/verify.hpp"
#include "tagma/io/crc32c.hpp"
#include "tagma/nn/value_check.hpp"
#include "tagma/plan/any_program.hpp"

namespace tagma {

namespace detail {

inline constexpr std::string_view program_magic{"\x89tagma\r\n", 8};
inline constexpr std::uint32_t program_version = 1;
/// Flags.
inline constexpr std::uint32_t program_is_soft = 1, program_is_part = 2;
/// Bytes in front of the operations, and those of the checksum behind the outputs.
inline constexpr std::size_t program_head_bytes = 64, program_tail_bytes = 4;

/// Numbers in little-endian order.
class program_writer {
 public:
  template <class T>
  void number(T value) {
    auto bits = static_cast<std::uint64_t>(value);
    for (std::size_t i = 0; i < sizeof(T); ++i, bits >>= 8) bytes_ += static_cast<char>(bits & 0xff);
  }
  /// A length of `Length` bytes, and the characters.
  template <class Length>
  void text(std::string_view t, const char* what) {
    if (t.size() > static_cast<Length>(-1))
      fail(status_code::invalid_argument, {"write_program: ", what, " of ", t.size(), " bytes"});
    number(static_cast<Length>(t.size()));
    bytes_ += t;
  }
  void real(double value) { number(std::bit_cast<std::uint64_t>(value)); }
  void dims(const shape& s) {
    number(static_cast<std::uint8_t>(s.rank));
    for (const extent e : s.span()) number(e);
  }
  void set_at(std::size_t at, std::uint64_t value) {
    for (std::size_t i = 0; i < 8; ++i, value >>= 8) bytes_[at + i] = static_cast<char>(value & 0xff);
  }
  [[nodiscard]] std::string& bytes() { return bytes_; }

 private:
  std::string bytes_;
};

/// The same backwards; nothing is read beyond the end. Sentences begin with `read_program` and the offset.
class program_reader {
 public:
  explicit program_reader(std::string_view bytes) : bytes_(bytes) {}

  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }
  [[noreturn]] TAGMA_COLD void refuse(std::initializer_list<text_part> parts,
                                      status_code code = status_code::data_loss) const {
    std::string text = sentence({"read_program: at byte ", at_, ": "});
    append_parts(text, parts);
    fail(code, text);
  }
  [[nodiscard]] std::string_view take(std::size_t size) {
    if (size > left()) refuse({"needs ", size, " more bytes, and there are ", left()});
    const std::string_view part = bytes_.substr(at_, size);
    at_ += size;
    return part;
  }
  template <class T>
  [[nodiscard]] T number() {
    const std::string_view part = take(sizeof(T));
    std::uint64_t bits = 0;
    for (std::size_t i = sizeof(T); i-- > 0;) bits = bits << 8 | static_cast<unsigned char>(part[i]);
    return static_cast<T>(bits);
  }
  template <class Length>
  [[nodiscard]] std::string_view text() {
    return take(number<Length>());
  }
  [[nodiscard]] double real() { return std::bit_cast<double>(number<std::uint64_t>()); }
  [[nodiscard]] shape dims() {
    const auto rank = number<std::uint8_t>();
    if (rank > max_rank) refuse({"a shape of ", static_cast<int>(rank), " axes"});
    shape s;
    for (int i = 0; i < rank; ++i) s.push_back(number<extent>());
    return s;
  }
  /// How many things of at least `least` bytes follow, none more than `most`: their bytes are there before there is
  /// memory for them.
  [[nodiscard]] std::size_t count(const char* what, std::size_t least, std::size_t most) {
    const std::size_t n = number<std::uint32_t>();
    if (n > most || n > left() / least)
      refuse({n, " ", what, ", where at most ", n > most ? most : left() / least, " can be"});
    return n;
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

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
TAGMA_COLD inline void check_value(const ir::graph_view& g, ir::node_id i, const carried_value* v) {
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

/// The bytes of a program. Equal programs have equal bytes.
/// Throws InvalidArgument for a name of more than 65,535 bytes, Unimplemented for an operation that files cannot have.
[[nodiscard]] TAGMA_COLD inline std::string write_program(const any_program& program) {
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

/// The program of such bytes. Throws DataLoss for bytes that are none, Unimplemented for a version or an operation that
/// is not known, InvalidArgument for a graph that no compiler has made.
[[nodiscard]] TAGMA_COLD inline any_program read_program_bytes(std::string_view bytes) {
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

/// Writes a program to a file, which is replaced as a whole. Throws what the file system says.
TAGMA_COLD inline void write_program(const any_program& program, const std::string& path) {
  const std::string bytes = write_program(program);
  const std::string_view pieces[] = {bytes};
  replace_file(path, pieces);
}
/// Reads it back; throws as `read_program_bytes`, and what the file system says.
[[nodiscard]] TAGMA_COLD inline any_program read_program(const std::string& path) {
  return read_program_bytes(read_file(path));
}

}  // namespace tagma
