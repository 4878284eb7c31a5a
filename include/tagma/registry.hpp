// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The registry of kernels, for programs that run graphs which they were not compiled with (<tagma/programs.hpp>). A
/// program has it once, and there are three ways: CMake's `tagma::registry`; the files of
/// tagma/device/cpu/registry/, which are compiled side by side; or one file of the program that includes this header.

// Before the headers that include them: compilers print the way to a header before its sentences.
#include "tagma/base/fixed_string.hpp"

#include "tagma/expr/rules.hpp"

#include "tagma/place/rules.hpp"

#include "tagma/place/device.hpp"

#include "tagma/expr/expression.hpp"

#include "tagma/expr/op/compare.hpp"

#include "tagma/expr/op/view.hpp"

#include "tagma/expr/op/reduce.hpp"

#include "tagma/expr/op/slice.hpp"

#include "tagma/expr/op/concat.hpp"

#include "tagma/expr/op/conv.hpp"

#include "tagma/expr/op/fill.hpp"

#include "tagma/expr/variable.hpp"

#include "tagma/expr/op/state.hpp"

#include "tagma/expr/op/gather.hpp"

#include "tagma/expr/op/filter.hpp"

#include "tagma/expr/op/transpose.hpp"

#include "tagma/expr/op/matmul.hpp"
#include "tagma/expr/op/matmul_integer.hpp"

#include "tagma/expr/op/moments.hpp"

#include "tagma/expr/op/pool.hpp"

#include "tagma/expr/op/random.hpp"

#include "tagma/expr/op/scan.hpp"

#include "tagma/expr/op/top_k.hpp"

#include "tagma/expr/op/positions.hpp"

#include "tagma/expr/op/sort.hpp"

#include "tagma/expr/op/shuffle.hpp"

#include "tagma/expr/op/softmax.hpp"

#include "tagma/expr/op/attention.hpp"

#include "tagma/expr/op/queue.hpp"

#include "tagma/expr/op/queue_list.hpp"

#include "tagma/expr/op/reader.hpp"

#include "tagma/expr/op/iterator.hpp"

#include "tagma/expr/op/decode_csv.hpp"

#include "tagma/expr/op/decode_raw.hpp"

#include "tagma/expr/op/decode_image.hpp"

#include "tagma/expr/op/parse_example.hpp"

#include "tagma/expr/op/parse_sequence_example.hpp"

#include "tagma/io/jpeg.hpp"

#include "tagma/io/png.hpp"

#include "tagma/nn/clip.hpp"

#include "tagma/nn/training_options.hpp"

#include "tagma/nn/optimizers.hpp"

#include "tagma/expr/op/loop.hpp"

#include "tagma/expr/op/normalize.hpp"

#include "tagma/nn/losses.hpp"

#include "tagma/nn/layers.hpp"

#include "tagma/nn/conv_layers.hpp"

#include "tagma/nn/image_layers.hpp"

#include "tagma/nn/metrics.hpp"

#include "tagma/nn/norm_layers.hpp"

#include "tagma/nn/volume_layers.hpp"

#include "tagma/nn/recurrent.hpp"

#include "tagma/nn/weighted_losses.hpp"

#include "tagma/expr/on.hpp"

#include "tagma/plan/program.hpp"

#include "tagma/plan/heap_program.hpp"

#include "tagma/plan/passes.hpp"

#include "tagma/runtime/run_check.hpp"

#include "tagma/runtime/session.hpp"

#include "tagma/runtime/any_session.hpp"

#include "tagma/plan/print.hpp"

#include "tagma/plan/print_any.hpp"

#include "tagma/runtime/late_runs.hpp"

#include "tagma/device/cpu/all_kernels.hpp"

#include "tagma/device/operations_of_records.hpp"

namespace tagma::runtime {

/// Weak, so that several files may include this header.
[[gnu::weak]] owned<step_kernels> find_kernels(const plan::heap_plan& plan) {
  return make_owned<device::found_kernels>(device::cpu::all_kernels(), plan);
}
[[gnu::weak]] const resource_functions& find_resource(const plan::plan_resource& named) {
  return device::cpu::find_resource_functions(named);
}
[[gnu::weak]] const ir::op_rules& find_rules(const ir::table_operation& named) {
  return device::operations::rules_of(named);
}

}  // namespace tagma::runtime

#include "tagma/base/epilogue.hpp"
