// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of producers.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/data/producers.hpp"

namespace tagma::detail {

TAGMA_COLD TAGMA_DECL void check_place(const queue_place& place) {
  if (!place.in && !place.name.empty())
    fail(status_code::invalid_argument, {"the place of a queue is '", place.name,
                                         "' and no container: name the container as well, .place = {.in = state, .name "
                                         "= ...}, or leave the name out"});
}

TAGMA_DECL raw_view row_of(const raw_view& rows, extent r) {
  raw_view one{nullptr, rows.type, rows.dims.sub(1, rows.dims.rank)};
  one.data = static_cast<const std::byte*>(rows.data) + static_cast<std::size_t>(r) * one.bytes();
  return one;
}

TAGMA_COLD TAGMA_DECL void check_rows(std::string_view who, std::size_t component, const shape& all,
                                      const shape& declared) {
  if (all.rank == 0) return;
  const shape row = all.sub(1, all.rank);
  if (row.rank != declared.rank || !compatible(row, declared))
    fail(status_code::invalid_argument, {who, ": rows of component ", component, " have shape ", to_string(row),
                                         ", declared is ", to_string(declared)});
}

TAGMA_COLD TAGMA_DECL row_order::row_order(std::string_view who, extent rows, const input_producer_options& options)
    : rows_(rows), epochs_(options.num_epochs.value_or(-1)), shuffles_(options.shuffle), seed_(options.seed) {
  if (rows < 1) fail(status_code::invalid_argument, {who, ": there are no rows to produce"});
  if (options.num_epochs && *options.num_epochs < 1)
    fail(status_code::invalid_argument, {who, ": num_epochs is ", *options.num_epochs, ", which must be 1 or more"});
}

TAGMA_DECL extent row_order::next() {
  if (at_ == rows_) at_ = 0, ++epoch_;
  if (epoch_ == epochs_) fail(status_code::out_of_range, {"all ", epochs_, " epochs are over"});
  if (!shuffles_) return at_++;
  if (at_ == 0) order_ = shuffled_order(rows_, rows_, seed_, static_cast<std::uint64_t>(epoch_));
  return order_[static_cast<std::size_t>(at_++)];
}

}  // namespace tagma::detail

namespace tagma {

TAGMA_COLD TAGMA_DECL filled_queue<spec<string_element>> string_input_producer(const std::vector<std::string>& texts,
                                                                               const input_producer_options& options) {
  tensor<string_element> rows({static_cast<extent>(texts.size())});
  for (std::size_t i = 0; i < texts.size(); ++i) rows[i] = texts[i];
  return detail::produce_rows<spec<string_element>>("string_input_producer", options, std::move(rows));
}

TAGMA_COLD TAGMA_DECL filled_queue<spec<std::int64_t>> range_input_producer(extent limit,
                                                                            const input_producer_options& options) {
  if (limit < 1)
    fail(status_code::invalid_argument, {"range_input_producer: the limit is ", limit, ", which must be 1 or more"});
  tensor<std::int64_t> rows({limit});
  for (extent i = 0; i < limit; ++i) rows[i] = i;
  return detail::produce_rows<spec<std::int64_t>>("range_input_producer", options, std::move(rows));
}

}  // namespace tagma
