// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What a run is fed: arrays from files, and numbers that are made here.

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "facts.hpp"
#include "options.hpp"
#include "tagma/base/random.hpp"

#include "tagma/io.hpp"
#include "tagma/train.hpp"

namespace tagma::tools {

/// Calls `use.template operator()<T>()` for the C++ type of the elements. Refuses what has none.
template <class Use>
decltype(auto) with_element_type(dtype type, const Use& use) {
  switch (type) {
    case dtype::float64:
      return use.template operator()<double>();
    case dtype::float32:
      return use.template operator()<float>();
    case dtype::float16:
      return use.template operator()<float16>();
    case dtype::bfloat16:
      return use.template operator()<bfloat16>();
    case dtype::int64:
      return use.template operator()<std::int64_t>();
    case dtype::int32:
      return use.template operator()<std::int32_t>();
    case dtype::int16:
      return use.template operator()<std::int16_t>();
    case dtype::int8:
      return use.template operator()<std::int8_t>();
    case dtype::uint8:
      return use.template operator()<std::uint8_t>();
    case dtype::boolean:
      return use.template operator()<bool>();
    case dtype::string:
      return use.template operator()<string_element>();
    case dtype::none:
      break;
  }
  fail(status_code::internal, "a tensor without elements has been taken for one that has some");
}

/// An element of the type of a tensor from a number.
template <class T>
[[nodiscard]] T element_from(double x) {
  if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>)
    return static_cast<T>(static_cast<float>(x));
  else if constexpr (std::is_same_v<T, bool>)
    return x != 0;
  else
    return static_cast<T>(x);
}

/// Whether extents are those that are asked for, of which some are open.
[[nodiscard]] inline bool fits(const shape& dims, const shape& wanted) {
  bool good = dims.rank == wanted.rank;
  for (int i = 0; good && i < dims.rank; ++i) good = wanted[i] == dyn || wanted[i] == dims[i];
  return good;
}

/// Makes the feeds that a command line asks for.
class feed_maker {
 public:
  feed_maker(const any_program& program, const program_facts& facts, const options& given)
      : program_(program), facts_(facts), given_(given) {}

  /// What is fed in runs that fetch these outputs: what the command line says, for every input that they need. Refuses
  /// names that the program lacks, values that do not fit, and inputs that are needed and not fed.
  [[nodiscard]] std::vector<std::pair<std::string, any_tensor>> feeds(const std::vector<int>& fetched) {
    check_names();
    std::vector<std::pair<std::string, any_tensor>> made;
    for (const named_text& f : given_.feeds)
      if (!f.name.empty()) made.emplace_back(f.name, make(spec_of_name(f.name), f.name, f.text));
    for (const std::string& name : needed_by(fetched)) {
      if (is_fed(name)) continue;
      const tensor_spec& spec = facts_.find_input(name)->spec;
      const named_text* all = nullptr;
      for (const named_text& f : given_.feeds)
        if (f.name.empty()) all = &f;
      if (all == nullptr)
        refuse(exit_status::usage, {"input '", name, "', ", to_string(spec), ", is not fed: --feed ", name,
                                    "=FILE.npy, or --feed ", name, "=random"});
      made.emplace_back(name, make(spec, name, all->text));
    }
    return made;
  }

 private:
  [[nodiscard]] bool is_fed(std::string_view name) const {
    for (const named_text& f : given_.feeds)
      if (f.name == name) return true;
    return false;
  }
  [[nodiscard]] tensor_spec spec_of_name(std::string_view name) const {
    if (const known_tensor* input = facts_.find_input(name)) return input->spec;
    return facts_.find_output(name)->spec;
  }

  void check_names() const {
    for (std::size_t i = 0; i < given_.feeds.size(); ++i) {
      const std::string& name = given_.feeds[i].name;
      for (std::size_t k = 0; k < i; ++k)
        if (given_.feeds[k].name == name)
          refuse(exit_status::usage, {"--feed ", name.empty() ? "for all inputs" : name, " is given twice"});
      if (name.empty() || facts_.find_input(name) != nullptr) continue;
      const known_output* const output = facts_.find_output(name);
      if (output == nullptr)
        refuse(exit_status::usage, {"--feed ", name, ": the program has no such input; inputs: ",
                                    joined(names_of(facts_.inputs)), "; outputs: ", joined(names_of(facts_.outputs))});
      if (output->spec.type == dtype::none)
        refuse(exit_status::usage, {"--feed ", name, ": this output has no value that could be fed"});
    }
    for (std::size_t i = 0; i < given_.sizes.size(); ++i) {
      const std::string& name = given_.sizes[i].name;
      for (std::size_t k = 0; k < i; ++k)
        if (given_.sizes[k].name == name) refuse(exit_status::usage, {"--size ", name, " is given twice"});
      if (facts_.find_input(name) == nullptr && facts_.find_output(name) == nullptr)
        refuse(exit_status::usage,
               {"--size ", name, ": the program has no such input; inputs: ", joined(names_of(facts_.inputs))});
    }
  }

  /// The inputs of a run, in which outputs that are fed are not computed.
  [[nodiscard]] std::vector<std::string> needed_by(const std::vector<int>& fetched) const {
    ir::heap_graph graph(program_.graph());
    for (const named_text& f : given_.feeds)
      if (const known_output* o = facts_.find_output(f.name);
          o != nullptr && !f.name.empty() && facts_.find_input(f.name) == nullptr)
        graph.feed(o->node, ir::rules<op::placeholder>);
    const ir::graph_view g = graph.view();
    std::vector<ir::node_id> roots;
    for (const int i : fetched) roots.push_back(g.roots[i]);
    std::vector<std::string> names;
    for (std::string& name : inputs_of(g, ir::prune<heap_room>(g, roots)))
      if (facts_.find_input(name) != nullptr) names.push_back(std::move(name));
    return names;
  }

  [[nodiscard]] any_tensor make(const tensor_spec& spec, const std::string& name, const std::string& what) {
    constexpr std::string_view tensors = ".safetensors";
    if (what.ends_with(".npy") || what.ends_with(".npy.gz")) return from_npy(spec, name, what);
    if (what.ends_with(tensors)) return from_safetensors(spec, name, what, name);
    if (const std::size_t at = what.rfind(".safetensors:"); at != what.npos)
      return from_safetensors(spec, name, what.substr(0, at + tensors.size()), what.substr(at + tensors.size() + 1));
    if (what == "random" || what.starts_with("random:")) return from_random(spec, name, what);
    double number = what == "ones" ? 1 : 0;
    if (what != "zeros" && what != "ones" && !io::number_from(what, number))
      refuse(exit_status::usage,
             {"--feed ", name, ": '", what, "' is no FILE.npy, FILE.safetensors, random, zeros, ones or number"});
    check_range(spec, name, number, number);
    return filled(spec, name, {}, [number](std::uint64_t) { return number; });
  }

  /// Refuses numbers that elements cannot be.
  static void check_range(const tensor_spec& spec, std::string_view name, double low, double high) {
    if (spec.type == dtype::string) refuse(exit_status::usage, {"--feed ", name, ": texts come from a file"});
    if (is_floating(spec.type)) return;
    const auto within = [&](double least, double most) {
      if (!(low >= least && high <= most) || low != std::floor(low) || high != std::floor(high))
        refuse(exit_status::usage,
               {"--feed ", name, ": elements of type ", to_string(spec.type), " are whole numbers from ",
                static_cast<std::int64_t>(least), " to ", static_cast<std::int64_t>(most)});
    };
    with_element_type(spec.type, [&]<class T>() {
      if constexpr (std::is_same_v<T, bool>)
        within(0, 1);
      else if constexpr (sizeof(T) == 8)
        within(-0x1p53, 0x1p53);  // a double has no others one by one
      else if constexpr (std::is_integral_v<T>)
        within(static_cast<double>(std::numeric_limits<T>::min()), static_cast<double>(std::numeric_limits<T>::max()));
    });
  }

  /// The extents of a generated tensor: those of `whole`, if there are any, else with `--size` and `--batch`.
  [[nodiscard]] shape extents_of(const tensor_spec& spec, const std::string& name,
                                 const std::vector<extent>& whole) const {
    const auto text = [&] { return sentence({"'", name, "', ", to_string(spec)}); };
    if (!whole.empty()) {
      shape dims;
      for (const extent e : whole)
        if (dims.rank < max_rank) dims.push_back(e);
      if (whole.size() > static_cast<std::size_t>(max_rank) || !fits(dims, spec.dims))
        refuse(exit_status::usage, {"--feed ", text(), ", does not take the extents ", to_string(dims)});
      return dims;
    }
    std::vector<extent> sizes;
    for (const named_text& s : given_.sizes)
      if (s.name == name) sizes = whole_numbers(s.text, sentence({"--size ", name}));
    int open = 0;
    for (const extent e : spec.dims.span()) open += e == dyn;
    if (!sizes.empty() && sizes.size() != static_cast<std::size_t>(open))
      refuse(exit_status::usage,
             {"--size ", text(), ", has ", open,
              open == 1 ? " open extent, and is given " : " open extents, and is given ", sizes.size()});
    shape dims = spec.dims;
    std::size_t next = 0;
    for (int i = 0; i < dims.rank; ++i) {
      if (dims[i] != dyn) continue;
      if (sizes.empty() && given_.batch == 0)
        refuse(exit_status::usage, {"--feed ", text(), ", has open extents: --size ", name, "=",
                                    open == 1 ? "N" : "N,N", ", or --batch N for all inputs"});
      dims[i] = sizes.empty() ? given_.batch : sizes[next];
      ++next;
    }
    return dims;
  }

  /// @param number of element i
  template <class Number>
  [[nodiscard]] any_tensor filled(const tensor_spec& spec, const std::string& name, const std::vector<extent>& whole,
                                  const Number& number) const {
    const shape dims = extents_of(spec, name, whole);
    return with_element_type(spec.type, [&]<class T>() -> any_tensor {
      if constexpr (std::is_same_v<T, string_element>) {
        refuse(exit_status::usage, {"--feed ", name, ": texts come from a file"});
      } else {
        return or_refuse(exit_status::usage, sentence({"--feed ", name, ": "}), [&] {
          check_size({spec.type, dims});
          tensor<T> made(dims);
          for (std::size_t i = 0; i < made.size(); ++i) made.data()[i] = element_from<T>(number(i));
          return any_tensor(std::move(made));
        });
      }
    });
  }

  /// "random", "random:32,8", "random:32,8:0..9", "random::0..9".
  [[nodiscard]] any_tensor from_random(const tensor_spec& spec, const std::string& name, std::string_view what) const {
    const std::string_view rest = what.size() > 7 ? what.substr(7) : "";
    const std::string_view dims = rest.substr(0, rest.find(':'));
    const std::string_view range = dims.size() < rest.size() ? rest.substr(dims.size() + 1) : "";
    std::vector<extent> whole;
    if (!dims.empty()) whole = whole_numbers(dims, sentence({"--feed ", name, "=random:SHAPE"}));
    const bool floating = is_floating(spec.type);
    double low = floating ? -1 : 0, high = 1;
    if (!range.empty()) {
      const std::size_t dots = range.find("..");
      const auto read = [](std::string_view text, double& to) {
        return io::number_from(text, to) && std::isfinite(to);
      };
      if (dots == range.npos || !read(range.substr(0, dots), low) || !read(range.substr(dots + 2), high) || low > high)
        refuse(exit_status::usage, {"--feed ", name, ": '", range, "' is no range of numbers such as 0..9"});
    }
    check_range(spec, name, low, high);
    const random_key key{given_.seed, static_cast<std::uint32_t>(hash_text(name)), 0};
    return filled(spec, name, whole, [=](std::uint64_t i) {
      const philox_block bits = random_block(key, i / 2);
      const double u = uniform01(bits[i % 2 * 2], bits[i % 2 * 2 + 1]);
      return floating ? low + u * (high - low) : std::fmin(low + std::floor(u * (high - low + 1)), high);
    });
  }

  [[nodiscard]] any_tensor from_npy(const tensor_spec& spec, const std::string& name, const std::string& path) const {
    no_sizes(name);
    const any_tensor read = with_element_type(spec.type, [&]<class T>() {
      return or_refuse(exit_status::data_refused, sentence({"--feed ", name, ": "}),
                       [&] { return any_tensor(read_npy<T>(path)); });
    });
    check_extents(spec, name, path, read.dims());
    return read;
  }

  [[nodiscard]] any_tensor from_safetensors(const tensor_spec& spec, const std::string& name, const std::string& path,
                                            const std::string& key) {
    no_sizes(name);
    const safetensors::file* from = nullptr;
    for (const auto& known : files_)
      if (known->path() == path) from = known.get();
    if (from == nullptr)
      from = files_
                 .emplace_back(or_refuse(exit_status::data_refused, sentence({"--feed ", name, ": "}),
                                         [&] { return std::make_unique<safetensors::file>(path); }))
                 .get();
    const safetensors::stored_tensor* const found = from->find(key);
    if (found == nullptr) {
      std::vector<std::string> names;
      for (const auto& entry : from->entries()) names.push_back(entry.name);
      refuse(exit_status::data_refused,
             {"--feed ", name, ": ", path, " has no tensor '", key, "'; it has ", joined(names)});
    }
    if (found->type != spec.type)
      refuse(exit_status::data_refused,
             {"--feed '", name, "' is ", to_string(spec), ", and '", key, "' of ", path, " is ",
              found->type == dtype::none ? found->format : to_string(found->type), " ", to_string(found->dims)});
    check_extents(spec, name, path, found->dims);
    return with_element_type(spec.type, [&]<class T>() -> any_tensor {
      if constexpr (std::is_same_v<T, string_element>)
        refuse(exit_status::data_refused, {"--feed ", name, ": ", path, " has no texts"});
      else
        return or_refuse(exit_status::data_refused, sentence({"--feed ", name, ": "}),
                         [&] { return any_tensor(from->load<T>(key)); });
    });
  }

  /// Extents of a file are what they are.
  void no_sizes(const std::string& name) const {
    for (const named_text& s : given_.sizes)
      if (s.name == name)
        refuse(exit_status::usage, {"--size ", name, ": what is fed from a file has its own extents"});
  }
  static void check_extents(const tensor_spec& spec, std::string_view name, std::string_view path, const shape& dims) {
    if (!fits(dims, spec.dims))
      refuse(exit_status::data_refused, {"--feed '", name, "' is ", to_string(spec), ", and ", path, " holds ",
                                         to_string(spec.type), " ", to_string(dims)});
  }

  const any_program& program_;
  const program_facts& facts_;
  const options& given_;
  std::vector<std::unique_ptr<safetensors::file>> files_;
};

}  // namespace tagma::tools
