// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What a program holds, for people and as JSON.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "json_text.hpp"
#include "refusal.hpp"
#include "tagma/tagma.hpp"

#include "tagma/program_files.hpp"
#include "tagma/programs.hpp"

namespace tagma::tools {

/// A tensor of a program that has a name.
struct known_tensor {
  std::string name;
  tensor_spec spec;
};
struct known_output : known_tensor {
  ir::node_id node = ir::no_node;
  bool updates = false;            ///< computing it changes a variable
  std::vector<std::string> needs;  ///< inputs
};
struct known_variable : known_tensor {
  bool trainable = false;
};
struct known_resource {
  std::string kind, name;
};
struct counted_operation {
  std::string_view name;
  std::int64_t count = 0;
};

/// What a program holds.
struct program_facts {
  std::vector<known_tensor> inputs;
  std::vector<known_output> outputs;
  std::vector<known_variable> variables;
  std::vector<known_resource> resources;
  std::vector<counted_operation> operations;  ///< most frequent first
  std::vector<std::string> devices;
  int cpus = 1;  ///< how many a session needs
  std::size_t nodes = 0;
  std::uint64_t fingerprint = 0;
  std::int64_t variable_bytes = 0;

  [[nodiscard]] const known_output* find_output(std::string_view name) const {
    for (const known_output& o : outputs)
      if (o.name == name) return &o;
    return nullptr;
  }
  [[nodiscard]] const known_tensor* find_input(std::string_view name) const {
    for (const known_tensor& t : inputs)
      if (t.name == name) return &t;
    return nullptr;
  }
};

template <class Known>
[[nodiscard]] std::vector<std::string> names_of(const std::vector<Known>& all) {
  std::vector<std::string> names;
  for (const Known& k : all) names.push_back(k.name);
  return names;
}

/// The names of the placeholders that some nodes of a graph need, each once.
[[nodiscard]] inline std::vector<std::string> inputs_of(const ir::graph_view& g,
                                                        const fixed_array<ir::need, heap_room>& needs) {
  std::vector<std::string> names;
  for (ir::node_id i = 0; i < g.size(); ++i)
    if (needs[i] != ir::need::nothing && g.info(i).is(ir::op_kind::placeholder) &&
        std::find(names.begin(), names.end(), g[i].name) == names.end())
      names.emplace_back(g[i].name);
  return names;
}

[[nodiscard]] inline program_facts facts_of(const any_program& program) {
  const ir::graph_view g = program.graph();
  program_facts f;
  f.nodes = program.node_count();
  f.fingerprint = program.fingerprint();
  for (ir::node_id i = 0; i < g.size(); ++i) {
    const ir::node& n = g[i];
    const ir::op_info& op = g.info(i);
    const std::string name = sentence({n.name, n.suffix});
    // A placeholder may be several nodes, one on each device that asks for it.
    if (op.is(ir::op_kind::placeholder) && f.find_input(name) == nullptr) f.inputs.push_back({name, n.spec});
    if (op.is(ir::op_kind::variable)) {
      f.variables.push_back({{name, n.spec}, g.attributes(i)[1] != 0});
      f.variable_bytes += bytes_of(n.spec);
    }
    if (op.is(ir::op_kind::resource)) f.resources.push_back({std::string(op.name), name});
    std::size_t at = 0;
    while (at < f.operations.size() && f.operations[at].name != op.name) ++at;
    if (at == f.operations.size()) f.operations.push_back({op.name});
    ++f.operations[at].count;
  }
  std::sort(f.operations.begin(), f.operations.end(), [](const counted_operation& a, const counted_operation& b) {
    return a.count != b.count ? a.count > b.count : a.name < b.name;
  });
  for (std::size_t i = 0; i < g.roots.size(); ++i) {
    known_output o{{program.outputs()[i], g[g.roots[i]].spec}, g.roots[i], false, {}};
    const auto needs = ir::prune<heap_room>(g, {&g.roots[i], 1});
    for (ir::node_id k = 0; k < g.size(); ++k)
      o.updates = o.updates || (ir::wants_value(needs[k]) && g.info(k).is(ir::op_kind::update));
    o.needs = inputs_of(g, needs);
    f.outputs.push_back(std::move(o));
  }
  for (const device_spec& request : g.requests) {
    if (request.empty()) continue;
    f.devices.push_back(to_string(request));
    if ((request.type.empty() || request.type.view() == "CPU") && request.id >= f.cpus) f.cpus = request.id + 1;
  }
  return f;
}

/// "float32 [?, 8]", or "nothing" for what only has an effect.
[[nodiscard]] inline std::string spec_text(const tensor_spec& spec) {
  return spec.type == dtype::none ? "nothing" : to_string(spec);
}

/// Lines of columns, each as wide as its widest cell, two blanks before each line.
class column_text {
 public:
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] std::string text() const {
    std::vector<std::size_t> width;
    for (const auto& row : rows_)
      for (std::size_t c = 0; c < row.size(); ++c) {
        if (c == width.size()) width.push_back(0);
        width[c] = std::max(width[c], row[c].size());
      }
    std::string all;
    for (const auto& row : rows_) {
      std::string line = " ";
      for (std::size_t c = 0; c < row.size(); ++c) {
        line.append(" ").append(row[c]);
        if (c + 1 < row.size()) line.append(width[c] - row[c].size() + 1, ' ');
      }
      line.erase(line.find_last_not_of(' ') + 1);
      all.append(line) += '\n';
    }
    return all;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// "0x00ff...", 16 digits.
[[nodiscard]] inline std::string fingerprint_text(std::uint64_t fingerprint) {
  constexpr std::string_view hex = "0123456789abcdef";
  std::string text = "0x";
  for (int shift = 60; shift >= 0; shift -= 4) text += hex[fingerprint >> shift & 15u];
  return text;
}

/// Bytes of the tensors of a run of all outputs, or why nobody knows.
struct arena_size {
  std::int64_t bytes = -1;
  std::string problem;
};
[[nodiscard]] inline arena_size arena_of(const any_program& program, extent batch) {
  try {
    return {program.peak_bytes(batch), ""};
  } catch (const error& e) {
    return {-1, sentence_of(e)};
  }
}

[[nodiscard]] inline std::string text_of(const program_facts& f, const std::string& file, const arena_size& arena,
                                         extent batch) {
  const auto name = [](const known_tensor& t) { return printable(t.name); };
  std::string text = sentence({printable(file), ": format version ", detail::program_version, ", fingerprint ",
                               fingerprint_text(f.fingerprint), ", ", f.nodes, f.nodes == 1 ? " node\n" : " nodes\n"});
  column_text inputs, outputs, variables, resources, operations;
  for (const known_tensor& t : f.inputs) inputs.add({name(t), to_string(t.spec)});
  for (const known_output& o : f.outputs)
    outputs.add({name(o), spec_text(o.spec), o.updates ? "updates" : "", sentence({"needs ", joined(o.needs)})});
  for (const known_variable& v : f.variables)
    variables.add({name(v), to_string(v.spec), sentence({bytes_of(v.spec), " bytes"}), v.trainable ? "trainable" : ""});
  for (const known_resource& r : f.resources) resources.add({printable(r.name), r.kind});
  for (const counted_operation& o : f.operations) operations.add({sentence({o.count}), std::string(o.name)});
  const auto part = [&](const char* title, const column_text& lines) {
    if (const std::string all = lines.text(); !all.empty()) append_parts(text, {title, "\n", all});
  };
  part("inputs", inputs);
  part("outputs", outputs);
  part("variables", variables);
  part("resources", resources);
  part("operations", operations);
  if (!f.devices.empty()) append_parts(text, {"devices: ", joined(f.devices), "\n"});
  append_parts(text, {"memory: ", f.variable_bytes, " bytes of variables, "});
  if (arena.bytes < 0)
    append_parts(text,
                 {"tensors with open extents of ", batch, " cannot be planned: ", printable(arena.problem), "\n"});
  else
    append_parts(text, {arena.bytes, " bytes of tensors with open extents of ", batch, "\n"});
  return text;
}

/// The members of an object that is open.
inline void add_to(json_text& j, const program_facts& f, const std::string& file, const arena_size& arena,
                   extent batch) {
  const auto tensor = [&j](const known_tensor& t) {
    j.begin('{').name("name").value(t.name);
    if (t.spec.type == dtype::none)
      j.name("dtype").null().name("shape").null();
    else
      j.name("dtype").value(to_string(t.spec.type)).name("shape").value(t.spec.dims);
  };
  j.name("file").value(file).name("format_version").value(detail::program_version);
  j.name("fingerprint").value(fingerprint_text(f.fingerprint)).name("nodes").value(f.nodes);
  j.name("inputs").begin('[');
  for (const known_tensor& t : f.inputs) tensor(t), j.end('}');
  j.end(']').name("outputs").begin('[');
  for (const known_output& o : f.outputs) {
    tensor(o), j.name("updates").value(o.updates).name("needs").begin('[');
    for (const std::string& n : o.needs) j.value(n);
    j.end(']').end('}');
  }
  j.end(']').name("variables").begin('[');
  for (const known_variable& v : f.variables) {
    tensor(v), j.name("bytes").value(bytes_of(v.spec)).name("trainable").value(v.trainable);
    j.end('}');
  }
  j.end(']').name("resources").begin('[');
  for (const known_resource& r : f.resources)
    j.begin('{').name("name").value(r.name).name("kind").value(r.kind).end('}');
  j.end(']').name("operations").begin('{');
  for (const counted_operation& o : f.operations) j.name(o.name).value(o.count);
  j.end('}').name("devices").begin('[');
  for (const std::string& d : f.devices) j.value(d);
  j.end(']').name("variable_bytes").value(f.variable_bytes).name("batch").value(batch).name("arena_bytes");
  arena.bytes < 0 ? j.null() : j.value(arena.bytes);
}

}  // namespace tagma::tools
