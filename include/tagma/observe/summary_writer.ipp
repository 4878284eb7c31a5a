// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of summary_writer.hpp: in the compiled half, or else in each file that includes it.

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/base/file_folder.hpp"
#include "tagma/io/wire.hpp"
#include "tagma/observe/summary_writer.hpp"
#include "tagma/tensor/dtype.hpp"

namespace tagma {

namespace detail {

TAGMA_DECL double seconds_since_1970() {
  timespec t{};
  ::clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

TAGMA_COLD TAGMA_DECL std::string new_event_path(const std::string& directory) {
  static std::atomic<int> made{0};
  if (!directory.empty()) make_folders(directory);
  char host[256] = "localhost";
  if (::gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
  char name[400];
  std::snprintf(name, sizeof name, "events.out.tfevents.%010lld.%s.%lld.%d", static_cast<long long>(::time(nullptr)),
                host, static_cast<long long>(::getpid()), made.fetch_add(1));
  return directory.empty() ? name : directory + "/" + name;
}

/// One field of a message.
/// @{
TAGMA_DECL std::string bytes_field(std::uint32_t number, std::string_view bytes) {
  std::string field;
  io::wire::put_bytes(field, number, bytes);
  return field;
}
TAGMA_DECL std::string integer_field(std::uint32_t number, std::int64_t value) {
  std::string field;
  io::wire::put_integer(field, number, value);
  return field;
}
/// An entry of a map whose keys are texts.
TAGMA_DECL std::string entry_field(std::uint32_t number, std::string_view key, std::string_view value) {
  return bytes_field(number, bytes_field(1, key) + bytes_field(2, value));
}
/// @}

/// The names of nodes, none twice: letters, digits and "_.\\-/", which is what TensorBoard draws.
TAGMA_DECL std::vector<std::string> node_names(const ir::graph_view& g) {
  std::vector<std::string> names;
  for (ir::node_id i = 0; i < g.size(); ++i) {
    const ir::node& n = g[i];
    std::string name(n.name.empty() ? n.op->info->name : n.name);
    name += n.suffix;
    for (char& c : name)
      if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') && c != '.' && c != '/' &&
          c != '-')
        c = '_';
    if (n.name.empty()) name += "_" + std::to_string(i);
    while (std::find(names.begin(), names.end(), name) != names.end()) name += "_" + std::to_string(i);
    names.push_back(std::move(name));
  }
  return names;
}

/// The field `attr` with the shapes of the results, which TensorBoard writes at edges.
TAGMA_DECL std::string shapes_attribute(const tensor_spec& spec) {
  std::string shape;
  for (int axis = 0; axis < spec.dims.rank; ++axis)
    shape += bytes_field(2, integer_field(1, spec.dims[axis] < 0 ? -1 : spec.dims[axis]));
  return entry_field(5, "_output_shapes", bytes_field(1, bytes_field(7, shape)));
}

/// The bytes of a picture.
TAGMA_DECL std::string image_of(std::string_view tag, const shape& dims, std::span<const std::uint8_t> pixels) {
  if (dims.rank != 3)
    fail(status_code::invalid_argument,
         {"image ", tag, ": a picture has the shape [height, width, channels], and this has ", to_string(dims)});
  return io::image_summary(tag, dims[0], dims[1], dims[2], io::stored_png(dims[0], dims[1], dims[2], pixels));
}

}  // namespace detail

TAGMA_DECL std::string hyperparameter::encoded() const {
  std::string value;
  switch (kind_) {
    case kind::number:
      io::wire::put_double(value, 2, number_);
      return value;
    case kind::flag:
      return detail::integer_field(4, number_ != 0 ? 1 : 0);
    case kind::text:
      break;
  }
  return detail::bytes_field(3, text_);
}

TAGMA_DECL summary_writer::summary_writer(const std::string& directory)
    : file_(detail::new_event_path(directory), detail::seconds_since_1970()) {}

TAGMA_DECL void summary_writer::add(std::string_view summary, std::int64_t step) {
  file_.add_summary(summary, step, detail::seconds_since_1970());
}

TAGMA_DECL void summary_writer::scalar(std::string_view tag, double value, std::int64_t step) {
  add(io::scalar_summary(tag, value), step);
}

TAGMA_DECL void summary_writer::histogram(std::string_view tag, const raw_view& values, std::int64_t step,
                                          int buckets) {
  if (values.type == dtype::none || values.type == dtype::string)
    fail(status_code::invalid_argument, {"histogram ", tag, ": there is none of ", to_string(values.type)});
  std::vector<double> all;
  with_number_type(values.type, [&]<class T>(T) {
    const view<const T> elements = values.as<T>();
    all.reserve(elements.size());
    for (std::size_t i = 0; i < elements.size(); ++i) all.push_back(static_cast<double>(elements[i]));
  });
  add(io::histogram_summary(tag, all, buckets), step);
}

TAGMA_DECL void summary_writer::image(std::string_view tag, const view<const std::uint8_t>& pixels, std::int64_t step) {
  add(detail::image_of(tag, pixels.dims(), {pixels.data(), pixels.size()}), step);
}

TAGMA_DECL void summary_writer::image(std::string_view tag, const view<const float>& pixels, std::int64_t step) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(pixels.size());
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const float value = pixels[i] >= 0 ? std::min(pixels[i], 1.0f) : 0.0f;  // so is what is no number
    bytes.push_back(static_cast<std::uint8_t>(__builtin_lroundf(value * 255)));
  }
  add(detail::image_of(tag, pixels.dims(), bytes), step);
}

TAGMA_DECL void summary_writer::text(std::string_view tag, std::string_view text, std::int64_t step) {
  add(io::text_summary(tag, text), step);
}

TAGMA_DECL void summary_writer::graph(const ir::graph_view& g) {
  const std::vector<std::string> names = detail::node_names(g);
  std::string all;
  for (ir::node_id i = 0; i < g.size(); ++i) {
    std::string node = detail::bytes_field(1, names[static_cast<std::size_t>(i)]);
    node += detail::bytes_field(2, g.info(i).name);
    for (const ir::node_id in : g.inputs(i)) node += detail::bytes_field(3, names[static_cast<std::size_t>(in)]);
    for (const ir::node_id c : g.controls(i)) node += detail::bytes_field(3, "^" + names[static_cast<std::size_t>(c)]);
    if (g[i].spec.type != dtype::none) node += detail::shapes_attribute(g[i].spec);
    all += detail::bytes_field(1, node);
  }
  file_.add_graph(all, detail::seconds_since_1970());
}

TAGMA_DECL void summary_writer::hyperparameters(std::initializer_list<hyperparameter> all) {
  // tensorboard/plugins/hparams/plugin_data.proto
  std::string start;
  for (const hyperparameter& h : all) start += detail::entry_field(1, h.name(), h.encoded());
  add(io::plugin_summary("_hparams_/session_start_info", "hparams", detail::bytes_field(3, start)), 0);
}

}  // namespace tagma
