// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What training does, for TensorBoard: `tensorboard --logdir runs`.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

#include "tagma/base/config.hpp"
#include "tagma/graph/flat_graph.hpp"
#include "tagma/io/event_file.hpp"
#include "tagma/tensor/tensor.hpp"
#include "tagma/tensor/view.hpp"

namespace tagma {

/// A hyperparameter: a number, a switch or a text.
class hyperparameter {
 public:
  template <class Number>
    requires(std::is_arithmetic_v<Number> && !std::is_same_v<Number, bool>)
  hyperparameter(std::string_view name, Number value)
      : name_(name), kind_(kind::number), number_(static_cast<double>(value)) {}
  template <class Switch>
    requires(std::is_same_v<Switch, bool>)
  hyperparameter(std::string_view name, Switch value) : name_(name), kind_(kind::flag), number_(value ? 1 : 0) {}
  hyperparameter(std::string_view name, std::string_view value) : name_(name), kind_(kind::text), text_(value) {}
  hyperparameter(std::string_view name, const char* value) : hyperparameter(name, std::string_view(value)) {}

  /// As TensorBoard shows it.
  [[nodiscard]] const std::string& name() const { return name_; }
  /// A `google.protobuf.Value`, encoded.
  [[nodiscard]] std::string encoded() const;

 private:
  enum class kind : std::uint8_t { number, flag, text };

  std::string name_;
  kind kind_;
  double number_ = 0;
  std::string text_{};
};

/// Writes what TensorBoard shows into a new file of a directory: one directory for each run, of which several below one
/// are compared. All is in the file when a call returns. For one thread.
///
///     tagma::summary_writer writer("runs/first");
///     writer.scalar("loss", loss, step);
///
/// Calls throw what the system says of the file, and InvalidArgument for what cannot be shown.
class summary_writer {
 public:
  /// @param directory is made, with those above it, if it is not there; the file is
  /// `events.out.tfevents.<seconds>.<host>.<process>.<number>` in it
  explicit summary_writer(const std::string& directory);

  /// Where the file is.
  [[nodiscard]] const std::string& path() const { return file_.path(); }

  /// A point of a curve, kept as float32. Tags with a slash are grouped: "loss/train".
  void scalar(std::string_view tag, double value, std::int64_t step);
  /// How values are spread.
  /// @param values of any element type but texts; those that are not finite are left out
  /// @param buckets of equal width
  void histogram(std::string_view tag, const raw_view& values, std::int64_t step, int buckets = 30);
  template <element T>
  void histogram(std::string_view tag, const tensor<T>& values, std::int64_t step, int buckets = 30) {
    histogram(tag, erase(values), step, buckets);
  }
  /// A picture: shape [height, width, channels] with 1 (grey), 2 (with alpha), 3 (RGB) or 4 channels, 0 to 255.
  void image(std::string_view tag, const view<const std::uint8_t>& pixels, std::int64_t step);
  /// The same of floats, 0 to 1; what is outside is cut off.
  void image(std::string_view tag, const view<const float>& pixels, std::int64_t step);
  /// A text, shown as Markdown.
  void text(std::string_view tag, std::string_view text, std::int64_t step);
  /// The graph of a program; of a run the last one is shown. Scopes of names are boxes.
  void graph(const ir::graph_view& g);
  /// @param program compiled early, or data
  template <class Program>
    requires requires { Program::graph::view; }
  void graph(const Program&) { graph(ir::graph_view(Program::graph::view)); }
  template <class Program>
    requires requires(const Program& p) { ir::graph_view(p.graph()); }
  void graph(const Program& program) { graph(ir::graph_view(program.graph())); }
  /// What distinguishes this run from others: the table of the tab HPARAMS, beside the scalars of each run.
  void hyperparameters(std::initializer_list<hyperparameter> all);

 private:
  void add(std::string_view summary, std::int64_t step);

  io::event_file file_;
};

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/observe/summary_writer.ipp"
#endif
