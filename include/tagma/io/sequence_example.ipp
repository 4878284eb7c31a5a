// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of sequence_example.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/io/sequence_example.hpp"

namespace tagma::io {

TAGMA_DECL sequence_example::sequence_example(std::string_view message, std::string_view key) : sequence_example() {
  parse(message, key);
}

TAGMA_DECL void sequence_example::parse(std::string_view message, std::string_view key) {
  parse_lists(message, key);
  context_.parse(message, this->key());  // the field of a context is that of an example's features
}

TAGMA_DECL void sequence_example::parse_lists(std::string_view message, std::string_view key) {
  begin(key, "sequence example");
  lists_.clear();
  steps_.clear();
  each_field(message, [&](const wire::field& lists) {
    if (!is_message(lists, 2)) return;
    each_field(lists.raw, [&](const wire::field& entry) {
      if (is_message(entry, 1)) parse_list(entry.raw);
    });
  });
  sort(lists_);
}

TAGMA_DECL std::span<const feature> sequence_example::steps(const feature_list& list) const {
  return std::span<const feature>(steps_).subspan(list.first_step, list.steps);
}

TAGMA_DECL void sequence_example::check_step(const feature_list& list, std::size_t i, feature_kind expected) const {
  const feature_kind kind = steps(list)[i].kind;
  if (kind != expected)
    fail(status_code::invalid_argument, {key(), ": step ", i, " of feature list '", list.name, "' is a list of ",
                                         to_string(kind), ", expected a list of ", to_string(expected)});
}

TAGMA_DECL void sequence_example::parse_list(std::string_view message) {
  feature_list list;
  list.place = lists_.size();
  list.first_step = steps_.size();
  each_field(message, [&](const wire::field& part) {
    if (is_message(part, 1)) list.name = part.raw;
    if (!is_message(part, 2)) return;
    each_field(part.raw, [&](const wire::field& step) {
      if (!is_message(step, 1)) return;
      feature f = next_feature(steps_.size() - list.first_step);
      f.name = list.name;
      parse_feature(step.raw, f);
      steps_.push_back(f);
    });
  });
  list.steps = steps_.size() - list.first_step;
  for (std::size_t i = list.first_step; i < steps_.size(); ++i) steps_[i].name = list.name;
  lists_.push_back(list);
}

TAGMA_DECL void sequence_example_writer::add_step(std::string_view name, std::span<const std::string_view> values) {
  add(name, detail::feature_of(values));
}

TAGMA_DECL void sequence_example_writer::clear() {
  context.clear();
  lists_.clear();
}

TAGMA_DECL std::string sequence_example_writer::message() const {
  std::string lists;
  for (const auto& [name, list] : lists_) {
    std::string entry;
    wire::put_bytes(entry, 1, name);
    wire::put_bytes(entry, 2, list);
    wire::put_bytes(lists, 1, entry);
  }
  std::string text = context.message();  // the field of an example's features is that of a context
  if (text.size() + lists.size() > INT32_MAX - 16)
    fail(status_code::invalid_argument,
         {"a sequence example of ", text.size() + lists.size(), " bytes is too large, 2 GiB is the most"});
  wire::put_bytes(text, 2, lists);
  return text;
}

TAGMA_DECL std::string& sequence_example_writer::list_of(std::string_view name) {
  const auto found = lists_.find(name);
  return found != lists_.end() ? found->second : lists_[std::string(name)];
}

}  // namespace tagma::io
