// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The operations that handles stand for, by their keys: what a process finds the rules of that files name in programs
/// which are compiled late.

#include "tagma/base/config.hpp"
#include "tagma/device/operations_to_build.hpp"
#include "tagma/expr/op/attention.hpp"
#include "tagma/expr/op/gradient.hpp"
#include "tagma/expr/op/positions.hpp"
#include "tagma/graph/record_table.hpp"
#include "tagma/nn/conv_layers.hpp"
#include "tagma/nn/image_layers.hpp"
#include "tagma/nn/metrics.hpp"
#include "tagma/nn/norm_layers.hpp"
#include "tagma/nn/optimizers.hpp"
#include "tagma/nn/recurrent.hpp"
#include "tagma/nn/volume_layers.hpp"
#include "tagma/nn/weighted_losses.hpp"

namespace tagma::device::operations {

/// What only handles have, beside the operations of finished graphs and `compositions`.
using of_handles =
    operation_list<op::gradient, ir::loop_end, op::normalize, op::normalize_by, op::normalize_and_learn,
                   op::accumulate_gradients, op::update_averages, op::global_norm_scale, op::zero_state,
                   op::recurrent<op::simple_cell>, op::recurrent<op::gru_cell>, op::recurrent<op::lstm_cell>,
                   op::positions, op::reverse, op::rotary_embedding, op::attention, op::normalize_groups,
                   op::normalize_root, op::upsample2d, op::resize_bilinear, op::volume_to_images, op::volume_filter,
                   op::weighted_mean, op::smoothed_cross_entropy, op::ratio, op::count_true, op::count_above,
                   op::area_under_curve>;

namespace detail {

/// Rules by key.
struct rules_list {
  const ir::op_rules* list[128]{};
  std::size_t count = 0;

  template <class... Op>
  constexpr void add(operation_list<Op...>) {
    ((list[count++] = &ir::rules<Op>), ...);
  }
  /// An optimizer, with each way to clip gradients.
  template <class Update>
  constexpr void add_optimizer() {
    add(operation_list<op::optimizer<Update>, op::optimizer<Update, op::clip_gradients_by_value, 2>,
                       op::optimizer<Update, op::clip_gradients_by_norm, 1>,
                       op::optimizer<Update, op::clip_gradients_by_global_norm, 1>>{});
  }
  template <class... Optimizer>
  constexpr void add_optimizers(operation_list<Optimizer...>) {
    (add_optimizer<typename tagma::detail::optimizer_traits<Optimizer>::update>(), ...);
  }
};
inline constexpr rules_list rules_of_handles = [] {
  rules_list all;
  all.add(of_handles{});
  all.add(compositions{});
  all.add_optimizers(operation_list<sgd, momentum, adagrad, adadelta, rmsprop, centered_rmsprop, adam, adamw, ftrl>{});
  return all;
}();

}  // namespace detail

/// The rules of the operation of the library with a key, or nullptr.
[[nodiscard]] TAGMA_COLD inline const ir::op_rules* find_rules(const char* key) {
  for (const ir::operation_face* const f : operation_faces())
    if (f->info().key == key) return f->rules;
  for (std::size_t i = 0; i < detail::rules_of_handles.count; ++i)
    if (const ir::op_rules* const rules = detail::rules_of_handles.list[i]; rules->info->key == key) return rules;
  return nullptr;
}
/// The same, of a record. Throws Unimplemented that names the operation.
[[nodiscard]] TAGMA_COLD inline const ir::op_rules& rules_of(const ir::table_operation& named) {
  if (const ir::op_rules* const found = find_rules(named.key)) return *found;
  fail(status_code::unimplemented, {"compile: the registry does not have the operation ", named.name});
}

}  // namespace tagma::device::operations
