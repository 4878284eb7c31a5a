// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The operations of programs that use things of containers: queues, readers, iterators; and those that take apart what
/// comes from there. Their kernels are of the CPU, and most of them take what elements there are.

#include "tagma/device/operations.hpp"
#include "tagma/expr/op/decode_csv.hpp"
#include "tagma/expr/op/decode_image.hpp"
#include "tagma/expr/op/decode_raw.hpp"
#include "tagma/expr/op/exchange.hpp"
#include "tagma/expr/op/iterator.hpp"
#include "tagma/expr/op/parse_example.hpp"
#include "tagma/expr/op/parse_sequence_example.hpp"
#include "tagma/expr/op/queue_list.hpp"
#include "tagma/expr/op/reader.hpp"
#include "tagma/expr/op/text_constant.hpp"

namespace tagma::device::operations {

/// One kernel for all operands, whose result is of type `Out`; none: of any type, or there are several.
template <dtype Out = dtype::none>
[[nodiscard]] constexpr signature_list whatever() {
  signature_list all;
  all.add({Out, dtype::none, Out, {}, 0});
  return all;
}

using queues =
    family<row<op::enqueue, &whatever<dtype::int64>>, row<op::dequeue, &whatever<>>,
           row<op::dequeue_up_to, &whatever<>>, row<op::dequeue_open, &whatever<>>,
           row<op::queue_size, &whatever<dtype::int64>>, row<op::queue_close, &whatever<dtype::int64>>,
           row<op::chosen_enqueue, &whatever<dtype::int64>>, row<op::chosen_dequeue, &whatever<>>,
           row<op::chosen_dequeue_up_to, &whatever<>>, row<op::chosen_dequeue_open, &whatever<>>,
           row<op::chosen_queue_size, &whatever<dtype::int64>>, row<op::chosen_queue_close, &whatever<dtype::int64>>>;

using readers =
    family<row<op::read, &whatever<>>, row<op::read_up_to, &whatever<>>, row<op::reader_count, &whatever<dtype::int64>>,
           row<op::get_next, &whatever<>>, row<op::get_next_open, &whatever<>>>;

/// Texts that are taken apart.
using records = family<row<op::text_constant, &whatever<dtype::string>>, row<op::decode_raw, &whatever<>>,
                       row<op::decode_raw_open, &whatever<>>, row<op::decode_csv, &whatever<>>,
                       row<op::parse_example, &whatever<>>, row<op::parse_example_open, &whatever<>>,
                       row<op::parse_feature_lists, &whatever<>>, row<op::decode_image, &whatever<dtype::uint8>>>;

/// Where an edge of a graph leads to another part of it.
using exchange =
    family<row<op::send, &whatever<dtype::int64>>, row<op::receive, &whatever<>>, row<op::receive_open, &whatever<>>>;

using input_families = families<queues, readers, records, exchange>;

}  // namespace tagma::device::operations
