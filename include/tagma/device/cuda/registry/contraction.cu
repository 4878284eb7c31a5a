// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cuda/all_kernels.hpp"
#include "tagma/device/cuda/kernel/conv.hpp"
#include "tagma/device/cuda/kernel/matmul.hpp"
#include "tagma/device/cuda/kernel/matmul_integer.hpp"
#include "tagma/device/cuda/kernel/pool.hpp"

namespace tagma::device::cuda {

template struct registered<operations::contraction>;
template struct registered<operations::pooling>;

namespace {

/// Both kernels, where a library has no algorithm for them as one.
struct one_after_the_other {
  static constexpr kernel_entry entry{&kernel_and_loop::run_recipe, &kernel_and_loop::prepare_recipe};
};
template <dtype Type, epilogue After>
kernel_entry joined(const kernel_and_loop& both) {
  kernel_entry entry = detail::product_and_epilogue<Type, one_after_the_other, After>::entry;
  entry.recipe = &both;
  return entry;
}
template <dtype Type>
kernel_entry joined(const kernel_and_loop& both, epilogue after) {
  switch (after) {
    case epilogue::bias:
      return joined<Type, epilogue::bias>(both);
    case epilogue::relu:
      return joined<Type, epilogue::relu>(both);
    default:
      return joined<Type, epilogue::bias_relu>(both);
  }
}

/// As `epilogue_of` says of loops that the compiler knows.
[[nodiscard]] epilogue epilogue_of_loop(array_view<const plan::loop_load> loads,
                                        array_view<const plan::loop_operation> operations) {
  const dtype type = loads[0].type;
  const std::size_t count = operations.size();
  for (const plan::loop_load& l : loads)
    if (l.type != type || !l.contiguous) return epilogue::none;
  const auto is = [&](std::size_t o, const char* key) {
    return operations[o].op->key == key && operations[o].type == type;
  };
  const auto takes = [&](std::size_t o, int a) { return operations[o].operand[0] == a; };
  if (loads.size() == 1)
    return count == 1 && is(0, &ir::key<op::relu>) && takes(0, 0) ? epilogue::relu : epilogue::none;
  if (loads.size() != 2 || count > 2 || !is(0, &ir::key<op::add>) ||
      operations[0].operand[0] + operations[0].operand[1] != 1)
    return epilogue::none;
  if (count == 1) return epilogue::bias;
  return is(1, &ir::key<op::relu>) && takes(1, 2) ? epilogue::bias_relu : epilogue::none;
}

}  // namespace

kernel_entry join_product(const kernel_and_loop& both, const ir::op_info& kernel,
                          array_view<const plan::loop_load> loads, array_view<const plan::loop_operation> operations) {
  const epilogue after = epilogue_of_loop(loads, operations);
  if (kernel.key != &ir::key<op::matmul> || after == epilogue::none) return {};
  switch (loads[0].type) {
    case dtype::float64:
      return joined<dtype::float64>(both, after);
    case dtype::float16:
      return joined<dtype::float16>(both, after);
    case dtype::bfloat16:
      return joined<dtype::bfloat16>(both, after);
    default:
      return joined<dtype::float32>(both, after);
  }
}

}  // namespace tagma::device::cuda
