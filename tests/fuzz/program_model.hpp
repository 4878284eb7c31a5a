// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A program file with its parts apart: what a fuzzer changes, and puts together again so that a reader looks at what
/// was changed and not at sizes, checksums and fingerprints, which anybody can make.

#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tagma/device/operation_faces.hpp"
#include "tagma/io/crc32c.hpp"
#include "tagma/program_files.hpp"

namespace tagma::fuzz {

/// Whole numbers that differ with the seed: SplitMix64.
class draws {
 public:
  explicit draws(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() { return state_ = hash_combine(state_, 1); }
  /// From 0 to `count` - 1; 0 if there are none.
  std::size_t below(std::size_t count) { return count == 0 ? 0 : static_cast<std::size_t>(bits() >> 11) % count; }
  bool once_in(std::size_t count) { return below(count) == 0; }
  template <class T>
  T& of(std::vector<T>& list) {
    return list[below(list.size())];
  }

 private:
  std::uint64_t state_;
};

struct model_value {
  bool there = false;
  carried_value value;
  std::string bytes;
};
struct model_node {
  const ir::operation_face* face = nullptr;
  tensor_spec spec;
  std::vector<std::int32_t> inputs, controls, colocated;
  std::vector<std::int64_t> attributes;
  std::int32_t value = -1;
  std::int16_t request = 0;
  std::string name, suffix;
  std::int16_t loop = -1;
};
struct model_output {
  std::int32_t node = 0;
  std::string name;
};

struct program_model {
  std::uint32_t flags = 0;
  std::vector<std::string> requests;
  std::vector<model_value> values;
  std::vector<model_node> nodes;
  std::vector<ir::loop_info> loops;
  std::vector<ir::back_edge> back_edges;
  std::vector<model_output> outputs;

  /// The parts of a file that is one as far as its lists go. Throws as `read_program`.
  static program_model of(std::string_view bytes) {
    constexpr std::size_t least = detail::program_head_bytes + detail::program_tail_bytes;
    if (bytes.size() < least) fail(status_code::data_loss, "too short");
    detail::program_reader in(bytes.substr(0, bytes.size() - detail::program_tail_bytes));
    program_model m;
    (void)in.take(12);
    m.flags = in.number<std::uint32_t>();
    (void)in.take(detail::program_head_bytes - 16);
    std::vector<const ir::operation_face*> operations(in.count("operations", 7, 4096));
    for (auto& face : operations) {
      (void)in.number<std::uint32_t>();
      face = device::operations::find_operation_face(in.text<std::uint16_t>());
      if (face == nullptr) in.refuse({"no operation"});
    }
    m.requests.resize(in.count("requests", 2, 0x7fff));
    for (std::string& r : m.requests) r = in.text<std::uint16_t>();
    m.values.resize(in.count("values", 1, 4096));
    for (model_value& v : m.values) {
      v.there = in.number<std::uint8_t>() != 0;
      if (!v.there) continue;
      v.value.number = in.real(), v.value.integer = in.number<std::int64_t>(), v.value.second = in.real();
      v.value.dims = in.dims();
      v.bytes = in.take(in.number<std::uint64_t>());
    }
    m.nodes.resize(in.count("nodes", 24, 1u << 16));
    for (model_node& n : m.nodes) {
      const std::size_t operation = in.number<std::uint32_t>();
      if (operation >= operations.size()) in.refuse({"no operation"});
      n.face = operations[operation];
      n.spec.type = static_cast<dtype>(in.number<std::uint8_t>());
      n.spec.dims = in.dims();
      const auto inputs = in.number<std::uint16_t>(), controls = in.number<std::uint16_t>(),
                 colocated = in.number<std::uint16_t>(), attributes = in.number<std::uint16_t>();
      for (int i = 0; i < inputs; ++i) n.inputs.push_back(in.number<std::int32_t>());
      for (int i = 0; i < controls; ++i) n.controls.push_back(in.number<std::int32_t>());
      for (int i = 0; i < colocated; ++i) n.colocated.push_back(in.number<std::int32_t>());
      for (int i = 0; i < attributes; ++i) n.attributes.push_back(in.number<std::int64_t>());
      n.value = in.number<std::int32_t>();
      n.request = in.number<std::int16_t>();
      n.name = in.text<std::uint16_t>();
      n.suffix = in.text<std::uint16_t>();
    }
    m.loops.resize(in.count("loops", 8, ir::most_loops));
    for (ir::loop_info& l : m.loops)
      l.head = in.number<std::int32_t>(), l.parent = in.number<std::int16_t>(), l.rank = in.number<std::int16_t>();
    m.back_edges.resize(in.count("carried values", 8, 1u << 16));
    for (ir::back_edge& e : m.back_edges) e.carried = in.number<std::int32_t>(), e.next = in.number<std::int32_t>();
    if (!m.loops.empty())
      for (model_node& n : m.nodes) n.loop = in.number<std::int16_t>();
    m.outputs.resize(in.count("outputs", 6, 1u << 16));
    for (model_output& o : m.outputs) o.node = in.number<std::int32_t>(), o.name = in.text<std::uint16_t>();
    return m;
  }

  /// A file with these parts, of the right size and with a checksum that fits.
  [[nodiscard]] std::string bytes(std::uint64_t fingerprint = 0) const {
    detail::program_writer to;
    to.bytes() += detail::program_magic;
    to.number(detail::program_version), to.number(flags), to.number(std::uint64_t{0}), to.number(fingerprint);
    while (to.bytes().size() < detail::program_head_bytes) to.number(std::uint8_t{0});
    std::vector<const ir::operation_face*> operations;
    std::vector<std::uint32_t> operation_of;
    for (const model_node& n : nodes) {
      std::size_t i = 0;
      while (i < operations.size() && operations[i] != n.face) ++i;
      if (i == operations.size()) operations.push_back(n.face);
      operation_of.push_back(static_cast<std::uint32_t>(i));
    }
    to.number(static_cast<std::uint32_t>(operations.size()));
    for (const ir::operation_face* const face : operations)
      to.number(static_cast<std::uint32_t>(face->version)), to.text<std::uint16_t>(face->info().name, "an operation");
    to.number(static_cast<std::uint32_t>(requests.size()));
    for (const std::string& r : requests) to.text<std::uint16_t>(r, "a device");
    to.number(static_cast<std::uint32_t>(values.size()));
    for (const model_value& v : values) {
      to.number(static_cast<std::uint8_t>(v.there));
      if (!v.there) continue;
      to.real(v.value.number), to.number(v.value.integer), to.real(v.value.second), to.dims(v.value.dims);
      to.number(static_cast<std::uint64_t>(v.bytes.size()));
      to.bytes() += v.bytes;
    }
    to.number(static_cast<std::uint32_t>(nodes.size()));
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const model_node& n = nodes[i];
      to.number(operation_of[i]), to.number(static_cast<std::uint8_t>(n.spec.type)), to.dims(n.spec.dims);
      to.number(static_cast<std::uint16_t>(n.inputs.size())), to.number(static_cast<std::uint16_t>(n.controls.size()));
      to.number(static_cast<std::uint16_t>(n.colocated.size()));
      to.number(static_cast<std::uint16_t>(n.attributes.size()));
      for (const auto* const list : {&n.inputs, &n.controls, &n.colocated})
        for (const std::int32_t k : *list) to.number(k);
      for (const std::int64_t a : n.attributes) to.number(a);
      to.number(n.value), to.number(n.request);
      to.text<std::uint16_t>(n.name, "a name"), to.text<std::uint16_t>(n.suffix, "a name");
    }
    to.number(static_cast<std::uint32_t>(loops.size()));
    for (const ir::loop_info& l : loops) to.number(l.head), to.number(l.parent), to.number(l.rank);
    to.number(static_cast<std::uint32_t>(back_edges.size()));
    for (const ir::back_edge& e : back_edges) to.number(e.carried), to.number(e.next);
    if (!loops.empty())
      for (const model_node& n : nodes) to.number(n.loop);
    to.number(static_cast<std::uint32_t>(outputs.size()));
    for (const model_output& o : outputs) to.number(o.node), to.text<std::uint16_t>(o.name, "the name of an output");
    to.set_at(16, to.bytes().size() + detail::program_tail_bytes);
    to.number(io::crc32c(to.bytes()));
    return static_cast<std::string&&>(to.bytes());
  }

  /// Declares of each node what its operation makes, as far as it takes what it is given.
  void infer() {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      model_node& n = nodes[i];
      const bool part = n.face->info().is(ir::op_kind::output) && !n.inputs.empty() && !n.attributes.empty();
      const model_node* of = &n;
      if (part && is_before(n.inputs[0], i)) of = &nodes[static_cast<std::size_t>(n.inputs[0])];
      std::vector<tensor_spec> in;
      bool sound = true;
      for (const std::int32_t k : of->inputs) {
        sound = sound && is_before(k, i);
        if (sound) in.push_back(nodes[static_cast<std::size_t>(k)].spec);
      }
      if (!sound) continue;
      const int outputs_of = of->face->info().outputs;
      const auto result =
          part && n.attributes[0] >= 0 && n.attributes[0] < outputs_of ? static_cast<int>(n.attributes[0]) : 0;
      ir::infer_args args{{in.data(), in.size()}, {of->attributes.data(), of->attributes.size()}, of->spec, result};
      if (ir::check_arguments(*of->face, args)) continue;
      n.spec = of == &n && outputs_of > 0 ? tensor_spec{} : args.out;
    }
  }

  /// The bytes of a file whose fingerprint and tables of loops are those that a reader works out, if it goes that far.
  [[nodiscard]] std::string mended() {
    std::uint64_t fingerprint = 0;
    std::string made = bytes();
    for (int tries = 0; tries < 64; ++tries) {
      std::string sentence;
      try {
        (void)read_program_bytes(made);
        break;
      } catch (const error& e) {
        sentence = e.what();
      }
      long long node = 0, found = 0;
      const auto number_behind = [&](std::string_view text, long long& to) {
        const std::size_t at = sentence.find(text);
        if (at == std::string::npos) return false;
        to = std::strtoll(sentence.c_str() + at + text.size(), nullptr, 10);
        return true;
      };
      if (const std::size_t at = sentence.find("the fingerprint is "); at != std::string::npos) {
        fingerprint = std::strtoull(sentence.c_str() + at + 19, nullptr, 10);
      } else if (sentence.find(" is said to be in loop ") != std::string::npos) {
        if (!number_behind(", and is in ", found)) break;
        if (number_behind("node ", node))
          nodes[static_cast<std::size_t>(node)].loop = static_cast<std::int16_t>(found);
        else if (number_behind("loop ", node))
          loops[static_cast<std::size_t>(node)].parent = static_cast<std::int16_t>(found);
      } else {
        break;
      }
      made = bytes(fingerprint);
    }
    return made;
  }

 private:
  [[nodiscard]] static bool is_before(std::int32_t k, std::size_t i) {
    return k >= 0 && static_cast<std::size_t>(k) < i;
  }
};

/// Changes one thing of a program.
inline void change(program_model& m, draws& d) {
  constexpr std::int64_t numbers[] = {0,  1,  2,  3,  -1,  4,    5,         7,         8,        6,
                                      16, 31, 63, 64, 255, 1000, INT32_MAX, INT64_MAX, INT64_MIN};
  const auto number = [&]() -> std::int64_t {
    return d.once_in(12) ? static_cast<std::int64_t>(d.bits()) : numbers[d.below(d.once_in(4) ? 19 : 10)];
  };
  const auto faces = device::operations::operation_faces();
  if (m.nodes.empty() || m.outputs.empty()) return;
  const std::size_t at = d.below(m.nodes.size());
  model_node& n = m.nodes[at];
  const auto before = [&] { return static_cast<std::int32_t>(d.below(at)); };
  switch (d.below(20)) {
    case 0:
    case 1:
      if (!n.attributes.empty()) d.of(n.attributes) = number();
      break;
    case 2:
      if (!n.attributes.empty() && d.once_in(2)) {
        std::swap(d.of(n.attributes), d.of(n.attributes));
      } else if (!n.attributes.empty()) {
        std::int64_t& a = d.of(n.attributes);
        a = static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + (d.once_in(2) ? 1u : ~std::uint64_t{0}));
      }
      break;
    case 3:
      if (d.once_in(2) && !n.attributes.empty())
        n.attributes.pop_back();
      else
        n.attributes.insert(n.attributes.begin() + static_cast<std::ptrdiff_t>(d.below(n.attributes.size() + 1)),
                            number());
      break;
    case 4:
    case 5:
      if (!n.inputs.empty()) d.of(n.inputs) = before();
      break;
    case 6:
      if (d.once_in(2) && !n.inputs.empty())
        n.inputs.erase(n.inputs.begin() + static_cast<std::ptrdiff_t>(d.below(n.inputs.size())));
      else
        n.inputs.insert(n.inputs.begin() + static_cast<std::ptrdiff_t>(d.below(n.inputs.size() + 1)), before());
      break;
    case 7:
      n.face = faces[d.below(faces.size())];
      break;
    case 8:
    case 9: {
      // What is given and not inferred has any type and shape.
      model_node* given = &n;
      for (int k = 0; k < 8 && !given->inputs.empty(); ++k) given = &d.of(m.nodes);
      shape& s = given->spec.dims;
      if (d.once_in(3))
        given->spec.type = static_cast<dtype>(1 + d.below(11));
      else if (s.rank > 0 && !d.once_in(4))
        s.extents[d.below(static_cast<std::size_t>(s.rank))] = d.once_in(3) ? dyn : static_cast<extent>(d.below(9));
      else if (s.rank > 0 && d.once_in(2))
        --s.rank;
      else if (s.rank < max_rank)
        s.push_back(d.once_in(3) ? dyn : static_cast<extent>(d.below(5)));
      break;
    }
    case 10:
    case 11:
    case 12: {
      // A node behind all others, of an operation of the program or of any.
      model_node more = n;
      if (d.once_in(2)) more.face = faces[d.below(faces.size())];
      if (d.once_in(2)) more.inputs.resize(d.below(4));
      for (std::int32_t& k : more.inputs)
        if (d.once_in(2)) k = static_cast<std::int32_t>(d.below(m.nodes.size()));
      if (d.once_in(2)) more.attributes.resize(d.below(5));
      for (std::int64_t& a : more.attributes)
        if (d.once_in(3)) a = number();
      more.name += more.name.empty() ? "" : "_", more.loop = -1;
      m.nodes.push_back(more);
      m.outputs.push_back({static_cast<std::int32_t>(m.nodes.size()) - 1, "added_" + std::to_string(m.nodes.size())});
      break;
    }
    case 13:
      if (d.once_in(2)) {
        d.of(m.outputs).node = static_cast<std::int32_t>(d.below(m.nodes.size()));
      } else if (m.outputs.size() > 1) {
        m.outputs.erase(m.outputs.begin() + static_cast<std::ptrdiff_t>(d.below(m.outputs.size())));
      }
      break;
    case 14: {
      auto& list = d.once_in(2) ? n.controls : n.colocated;
      if (!list.empty() && d.once_in(2))
        list.pop_back();
      else
        list.push_back(before());
      break;
    }
    case 15:
      if (m.loops.empty() || m.back_edges.empty()) break;
      switch (d.below(4)) {
        case 0:
          d.of(m.loops).rank = static_cast<std::int16_t>(number());
          break;
        case 1:
          d.of(m.back_edges).next = static_cast<std::int32_t>(d.below(m.nodes.size()));
          break;
        case 2:
          d.of(m.back_edges).carried = static_cast<std::int32_t>(d.below(m.nodes.size()));
          break;
        default:
          std::swap(d.of(m.back_edges).next, d.of(m.back_edges).next);
      }
      break;
    case 16:
      if (m.values.empty()) break;
      if (model_value& v = d.of(m.values); d.once_in(4))
        v.there = !v.there;
      else if (d.once_in(3))
        v.value.integer = number();
      else if (d.once_in(3))
        v.bytes.resize(d.below(80));
      else
        v.value.number = static_cast<double>(number());
      break;
    case 17:
      n.value = static_cast<std::int32_t>(d.below(m.values.size() + 1)) - 1;
      break;
    case 18:
      if (m.requests.size() < 3) m.requests = {"", "", "/device:CPU:0", "/device:CPU:1", "/device:CPU:2"};
      n.request = static_cast<std::int16_t>(d.below(m.requests.size()));
      break;
    default:
      if (d.once_in(4))
        m.flags ^= 1;
      else
        n.name = d.of(m.nodes).name, n.suffix = d.of(m.nodes).suffix;
  }
}

}  // namespace tagma::fuzz
