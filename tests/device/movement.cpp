// SPDX-License-Identifier: BSL-1.0
// A device that says how a box is moved has the kernels of slices, padding and concatenation.
#include "tagma/device/movement.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "tagma/device/cpu/executor.hpp"
#include "tagma/device/cpu/kernel/slice.hpp"

namespace {

/// A device that knows tensors of float of two axes.
struct on_paper;

}  // namespace

template <>
struct tagma::device::movement<on_paper> {
  static void move_box(const operand& from, const extent* from_first, const operand& to, const extent* to_first,
                       const shape& extents, const run_context&) {
    for (extent i = 0; i < extents[0]; ++i)
      for (extent j = 0; j < extents[1]; ++j)
        to.as<float>()[(to_first[0] + i) * to.dims[1] + to_first[1] + j] =
            from.as<float>()[(from_first[0] + i) * from.dims[1] + from_first[1] + j];
  }
  static void pad_box(const operand& from, const operand& to, const extent* to_first, const std::byte* value,
                      const run_context& context) {
    for (extent i = 0; i < to.elements(); ++i)
      to.as<float>()[i] = value == nullptr ? 0 : *reinterpret_cast<const float*>(value);
    move_box(from, at_the_front, to, to_first, from.dims, context);
  }
};

namespace {

namespace op = tagma::op;
using namespace tagma::device;
using tagma::dtype, tagma::shape;

struct tensor {
  shape dims;
  std::vector<float> values;

  explicit tensor(const shape& extents, float first = -9) : dims(extents) {
    for (tagma::extent i = 0; i < extents.elements(); ++i) values.push_back(first + static_cast<float>(i));
  }
  [[nodiscard]] operand get() { return {reinterpret_cast<std::byte*>(values.data()), dtype::float32, dims}; }
};

template <class Device, class Op>
std::vector<float> run(std::vector<tensor> in, const shape& out, const std::vector<std::int64_t>& attributes) {
  std::vector<operand> operands;
  for (tensor& t : in) operands.push_back(t.get());
  tensor result(out);
  kernel_args args;
  args.in = operands;
  args.out = result.get();
  args.attributes = attributes;
  const auto threads = tagma::runtime::make_cpu_executor(1);
  const run_context context{threads.get()};
  kernel<Device, tagma::ir::key<Op>>::template entry<dtype::float32, dtype::float32>.run(args, context);
  return result.values;
}

/// Runs the kernels of both devices.
template <class Op>
std::vector<float> both(const std::vector<tensor>& in, const shape& out, const std::vector<std::int64_t>& attributes) {
  const auto found = run<on_paper, Op>(in, out, attributes);
  CHECK(found == run<on_cpu, Op>(in, out, attributes));
  return found;
}

using floats = std::vector<float>;

TEST_CASE("a slice, and a tensor in the place of one") {
  CHECK(both<op::slice>({tensor({3, 3}, 1)}, {2, 1}, {1, 3, -2, -1}) == floats{5, 8});
  CHECK(both<op::slice_gradient>({tensor({1, 2}, 1), tensor({2, 3})}, {2, 3}, {1, 2, 1, 3}) ==
        floats{0, 0, 0, 0, 1, 2});
}

TEST_CASE("concatenation along both axes") {
  CHECK(both<op::concat>({tensor({2, 1}, 1), tensor({2, 2}, 5)}, {2, 3}, {1}) == floats{1, 5, 6, 2, 7, 8});
  CHECK(both<op::concat>({tensor({1, 2}, 1), tensor({2, 2}, 5)}, {3, 2}, {0}) == floats{1, 2, 5, 6, 7, 8});
}

TEST_CASE("a value around a tensor") {
  CHECK(both<op::pad>({tensor({1, 2}, 1), tensor({}, 7)}, {2, 4}, {1, 0, 1, 1}) == floats{7, 7, 7, 7, 7, 1, 2, 7});
}

}  // namespace
