// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// tf.train.SequenceExample: the features of an example, its context, and lists of features by name, one a step.
/// https://github.com/tensorflow/tensorflow/blob/master/tensorflow/core/example/example.proto

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/io/example.hpp"
#include "tagma/io/wire.hpp"
#include "tagma/tensor/shape.hpp"

namespace tagma::io {

/// A list of features of a sequence example.
struct feature_list {
  std::string_view name{};
  std::size_t place = 0;  ///< in the message, counted from 0
  std::size_t first_step = 0, steps = 0;
};

/// A list whose features have as many elements as a shape, each of them in every example.
template <feature_element T>
struct fixed_feature_list {
  std::string name;
  shape dims{};                 ///< of one step
  bool may_be_missing = false;  ///< then it has no steps
};

/// The context and the lists of one sequence example, as views of the message. Used for one after the other, it asks
/// for no more memory.
class sequence_example : public detail::feature_values {
 public:
  sequence_example() : feature_values("tf.train.SequenceExample") {}
  /// Throws as `parse` does.
  explicit sequence_example(std::string_view message, std::string_view key = {});

  /// Reads another message. Of two lists of one name the last one counts.
  /// Throws `data_loss` where the message is damaged.
  /// @param message which outlives what is read
  /// @param key what errors call it
  void parse(std::string_view message, std::string_view key = {});
  /// The same, for its lists alone.
  void parse_lists(std::string_view message, std::string_view key = {});

  /// The features that are no lists.
  [[nodiscard]] const example& context() const { return context_; }
  /// The lists, sorted by name.
  [[nodiscard]] std::span<const feature_list> lists() const { return lists_; }
  /// The list of that name; nullptr if it is missing.
  [[nodiscard]] const feature_list* find(std::string_view name) const { return last_of(lists(), name); }
  /// The features of a list of this example, one a step.
  [[nodiscard]] std::span<const feature> steps(const feature_list& list) const;

  /// Reads a list whose steps have a fixed shape; returns how many there are.
  /// Throws `invalid_argument` if it is missing and required, and for a step of another kind, or with more or fewer
  /// values, which it names.
  /// @param begin called with the number of steps; what it returns has room for their elements, or is nullptr
  template <feature_element T, class Begin>
  std::size_t read(const fixed_feature_list<T>& wanted, const Begin& begin) const {
    const feature_list* const found = find(wanted.name);
    if (found == nullptr && !wanted.may_be_missing)
      fail(status_code::invalid_argument, {key(), ": feature list '", wanted.name, "' is required, and missing"});
    const std::span<const feature> all = found == nullptr ? std::span<const feature>() : steps(*found);
    T* to = begin(all.size());
    const auto elements = static_cast<std::size_t>(wanted.dims.elements());
    for (std::size_t i = 0; i < all.size(); ++i) {
      check_step(*found, i, kind_of<T>());
      if (all[i].count != elements)
        fail(status_code::invalid_argument,
             {key(), ": step ", i, " of feature list '", wanted.name, "' has ", all[i].count,
              " values, expected those of shape ", tagma::to_string(wanted.dims)});
      if (to == nullptr) continue;
      copy(all[i], to);
      to += elements;
    }
    return all.size();
  }
  /// Appends the values of such a list.
  template <feature_element T>
  std::size_t read(const fixed_feature_list<T>& wanted, std::vector<T>& to) const {
    return read(wanted, [&](std::size_t count) {
      const std::size_t before = to.size();
      to.resize(before + count * static_cast<std::size_t>(wanted.dims.elements()));
      return to.data() + before;
    });
  }
  /// Appends the values of a list whose steps have any number of them, and how many each step has; returns how many
  /// steps there are, none if it is missing. A step without a list of values has none. Throws `invalid_argument` for a
  /// step of another kind.
  template <feature_element T>
  std::size_t append(std::string_view name, std::vector<T>& values, std::vector<std::size_t>& counts) const {
    const feature_list* const found = find(name);
    if (found == nullptr) return 0;
    for (std::size_t i = 0; i < found->steps; ++i) {
      const feature& step = steps(*found)[i];
      counts.push_back(step.count);
      if (step.kind == feature_kind::none) continue;
      check_step(*found, i, kind_of<T>());
      values.resize(values.size() + step.count);
      copy(step, values.data() + (values.size() - step.count));
    }
    return found->steps;
  }
  /// Throws `invalid_argument` that names the step if it is of another kind.
  void check_step(const feature_list& list, std::size_t i, feature_kind expected) const;

 private:
  void parse_list(std::string_view message);

  example context_;
  std::vector<feature_list> lists_;
  std::vector<feature> steps_;  // of all lists
};

/// Writes a message. Features and lists come sorted by name, so that equal examples are equal bytes.
class sequence_example_writer {
 public:
  /// The features that are no lists.
  example_writer context;

  /// Adds a list without steps, unless there is one of this name.
  void add_list(std::string_view name) { (void)list_of(name); }
  /// Adds a step to a list, which is made if there is none of this name.
  /// @{
  void add_step(std::string_view name, std::span<const float> values) { add(name, detail::feature_of(values)); }
  void add_step(std::string_view name, std::span<const std::int64_t> values) { add(name, detail::feature_of(values)); }
  void add_step(std::string_view name, std::span<const std::string_view> values);
  /// @}
  /// Forgets what was added.
  void clear();

  /// The message. Throws `invalid_argument` for one of 2 GiB or more, which no reader takes.
  [[nodiscard]] std::string message() const;

 private:
  [[nodiscard]] std::string& list_of(std::string_view name);
  void add(std::string_view name, std::string_view feature) { wire::put_bytes(list_of(name), 1, feature); }

  std::map<std::string, std::string, std::less<>> lists_;
};

}  // namespace tagma::io

#ifndef TAGMA_COMPILED
#include "tagma/io/sequence_example.ipp"
#endif
