// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What runs compute: printed as a whole where it is small, else as statistics, and written to files.

#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "feeds.hpp"
#include "json_text.hpp"
#include "tagma/explain.hpp"

namespace tagma::tools {

/// Tensors of more elements are summarised.
inline constexpr std::size_t most_printed = 100;

/// An output and what was computed.
struct named_result {
  std::string name;
  any_tensor value;  ///< nothing of what only has an effect
};

/// Of the elements of a tensor as doubles; those that are not finite are counted and left out.
struct statistics {
  double least = std::numeric_limits<double>::infinity(), most = -std::numeric_limits<double>::infinity();
  double mean = 0;
  double norm = 0;  ///< the root of the sum of squares
  std::size_t not_finite = 0;
};

template <class T>
[[nodiscard]] double number_of(const T& x) {
  if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>)
    return static_cast<double>(static_cast<float>(x));
  else
    return static_cast<double>(x);
}

template <class T>
[[nodiscard]] statistics statistics_of(const view<const T>& all) {
  statistics s;
  double squares = 0;
  std::size_t count = 0;
  for (const T& e : all) {
    const double x = number_of(e);
    if (!std::isfinite(x)) {
      ++s.not_finite;
      continue;
    }
    s.least = std::fmin(s.least, x);
    s.most = std::fmax(s.most, x);
    ++count;
    s.mean += (x - s.mean) / static_cast<double>(count);
    squares += x * x;
  }
  s.norm = std::sqrt(squares);
  if (count == 0) s.least = s.most = s.mean = std::numeric_limits<double>::quiet_NaN();
  return s;
}

/// "0.25", with at most six digits.
[[nodiscard]] inline std::string short_number(double x) {
  char text[40];
  (void)std::snprintf(text, sizeof text, "%.6g", x);
  return text;
}

/// "loss: float32 [] 0.25", or statistics.
[[nodiscard]] inline std::string text_of(const named_result& result) {
  const std::string head = printable(result.name) + ": ";
  if (result.value.type() == dtype::none) return head + "done\n";
  const tensor_spec spec{result.value.type(), result.value.dims()};
  return with_element_type(spec.type, [&]<class T>() {
    const view<const T> all = result.value.as<T>();
    const std::string type = head + to_string(spec);
    if (all.size() <= most_printed) {
      const std::string elements = printable(to_string(all));
      return type + (spec.dims.rank < 2 ? " " : "\n") + elements + '\n';
    }
    if constexpr (std::is_same_v<T, string_element>) {
      return type + sentence({", ", all.size(), " texts\n"});
    } else {
      const statistics s = statistics_of<T>(all);
      std::string text = type + ", min " + short_number(s.least) + ", max " + short_number(s.most) + ", mean " +
                         short_number(s.mean) + ", norm " + short_number(s.norm);
      if (s.not_finite > 0) append_parts(text, {", not finite ", s.not_finite, " of ", all.size()});
      return text + '\n';
    }
  });
}

/// The same as an object: "elements", in their order, or statistics.
inline void add_to(json_text& j, const named_result& result) {
  j.begin('{').name("name").value(result.name);
  if (result.value.type() == dtype::none) {
    j.name("dtype").null().name("shape").null().end('}');
    return;
  }
  j.name("dtype").value(to_string(result.value.type())).name("shape").value(result.value.dims());
  with_element_type(result.value.type(), [&]<class T>() {
    const view<const T> all = result.value.as<T>();
    if (all.size() <= most_printed) {
      j.name("elements").begin('[');
      for (const T& e : all) {
        if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>)
          j.value(static_cast<float>(e));
        else
          j.value(e);
      }
      j.end(']');
    } else if constexpr (!std::is_same_v<T, string_element>) {
      const statistics s = statistics_of<T>(all);
      j.name("min").value(s.least).name("max").value(s.most).name("mean").value(s.mean).name("norm").value(s.norm);
      j.name("not_finite").value(s.not_finite);
    }
  });
  j.end('}');
}

/// Where results go: one to a file of NumPy, or all, or one, to a file of safetensors.
struct result_file {
  std::string name;  ///< of the output; nothing: all
  std::string path;
};

/// Understands `--output`. Refuses other files, outputs that are not fetched or have nothing to write, and several of
/// them for one array.
[[nodiscard]] inline std::vector<result_file> result_files(const std::vector<std::string>& given,
                                                           const std::vector<known_output>& fetched) {
  std::vector<result_file> files;
  for (const std::string& text : given) {
    result_file f{"", text};
    if (const std::size_t equals = text.find('='); equals != text.npos)
      f = {text.substr(0, equals), text.substr(equals + 1)};
    const bool array = f.path.ends_with(".npy");
    if (!array && !f.path.ends_with(".safetensors"))
      refuse(exit_status::usage, {"--output ", text, ": results are written to .npy and .safetensors"});
    if (array && f.name.empty() && fetched.size() != 1)
      refuse(exit_status::usage, {"--output ", f.path, " takes one array, and ", fetched.size(),
                                  " outputs are fetched: say which, --output NAME=", f.path});
    if (array && f.name.empty()) f.name = fetched[0].name;
    const known_output* chosen = nullptr;
    for (const known_output& o : fetched)
      if (o.name == f.name) chosen = &o;
    if (!f.name.empty() && chosen == nullptr)
      refuse(exit_status::usage, {"--output ", f.name, " is not fetched; fetched: ", joined(names_of(fetched))});
    if (chosen != nullptr && (chosen->spec.type == dtype::none || chosen->spec.type == dtype::string))
      refuse(exit_status::usage,
             {"--output ", f.path, ": '", f.name, "' is ", spec_text(chosen->spec), ", which no such file has"});
    files.push_back(std::move(f));
  }
  return files;
}

/// Writes what has numbers: a file for all leaves the rest out.
inline void write_results(const std::vector<result_file>& files, const std::vector<named_result>& results) {
  for (const result_file& file : files) {
    std::vector<safetensors::named_tensor> tensors;
    for (const named_result& r : results) {
      const raw_view value = r.value.view();
      const bool wanted = file.name.empty() || r.name == file.name;
      if (!wanted || value.type == dtype::none || value.type == dtype::string) continue;
      tensors.push_back({r.name, value.type, value.dims, value.data});
      if (!file.path.ends_with(".npy")) continue;
      with_element_type(value.type, [&]<class T>() {
        if constexpr (!std::is_same_v<T, string_element>) write_npy(file.path, value.as<T>());
      });
    }
    if (!file.path.ends_with(".npy")) safetensors::write(file.path, tensors);
  }
}

}  // namespace tagma::tools
