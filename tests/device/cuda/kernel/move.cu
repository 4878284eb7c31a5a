// SPDX-License-Identifier: BSL-1.0
// Kernels of the GPU that move elements, choose them or draw them, against those of the CPU.
#include "tagma/device/cuda/move.hpp"

#include "support/cuda.hpp"
#include "tagma/device/cpu/kernel/concat.hpp"
#include "tagma/device/cpu/kernel/gather.hpp"
#include "tagma/device/cpu/kernel/random.hpp"
#include "tagma/device/cpu/kernel/slice.hpp"
#include "tagma/device/cpu/kernel/top_k.hpp"
#include "tagma/device/cpu/kernel/transpose.hpp"
#include "tagma/device/cuda/kernel/concat.hpp"
#include "tagma/device/cuda/kernel/gather.hpp"
#include "tagma/device/cuda/kernel/random.hpp"
#include "tagma/device/cuda/kernel/slice.hpp"
#include "tagma/device/cuda/kernel/top_k.hpp"
#include "tagma/device/cuda/kernel/transpose.hpp"

namespace {

namespace tg = tagma;
namespace op = tagma::op;
namespace cuda = tagma::device::cuda;
using tg::dtype, tg::shape;
using tg::test::call, tg::test::check, tg::test::compare_kernels, tg::test::device_tensor, tg::test::random_tensor;

constexpr dtype f32 = dtype::float32;

template <class Op, dtype... Types>
void moved(const std::string& what, std::vector<device_tensor> in, const shape& out,
           std::vector<std::int64_t> attributes) {
  const dtype type = in[0].type();
  compare_kernels<Op, Types...>(what, {std::move(in), device_tensor(type, out), std::move(attributes)});
}

template <class T>
device_tensor some(const shape& dims, std::uint32_t seed = 1) {
  return random_tensor<T>(dims, -100, 100, seed);
}

void boxes() {
  moved<op::concat, f32>("concat", {some<float>({3, 4, 5}), some<float>({3, 2, 5}), some<float>({3, 0, 5})}, {3, 6, 5},
                         {1});
  moved<op::concat, f32>("concat at the end", {some<float>({3, 4}), some<float>({3, 8})}, {3, 12}, {1});
  moved<op::concat, f32>("concat of bytes", {some<std::uint8_t>({3, 5}), some<std::uint8_t>({3, 7})}, {3, 12}, {1});
  moved<op::part_of_whole, f32>("a part", {some<float>({3, 9, 4}), some<float>({3, 2, 4}), some<float>({3, 3, 4})},
                                {3, 2, 4}, {1, 0});
  moved<op::part_into_whole, f32>(
      "into a whole", {some<float>({3, 2, 4}), some<float>({3, 9, 4}), some<float>({3, 3, 4})}, {3, 9, 4}, {1, 1});
  moved<op::slice, f32>("slice", {some<double>({4, 5, 6})}, {2, 3, 4}, {1, 2, -4, 3, 0, 4});
  moved<op::slice_gradient, f32>("slice gradient", {some<float>({2, 3, 4}), some<float>({4, 5, 6})}, {4, 5, 6},
                                 {1, 2, -4, 3, 0, 4});
  moved<op::pad, f32>("pad", {some<tg::float16>({3, 4}), some<tg::float16>({})}, {6, 9}, {1, 2, 3, 2});
  moved<op::tile, f32>("tile", {some<float>({2, 3, 4})}, {4, 3, 12}, {2, 1, 3});
  moved<op::tile, f32>("tile of a row", {some<std::int8_t>({5})}, {20}, {4});
  compare_kernels<op::tile_gradient, f32>("tile gradient",
                                          {{some<float>({4, 3, 12})}, device_tensor(f32, {2, 3, 4}), {2, 1, 3}}, 1e-6);
}

void transpositions() {
  moved<op::transpose, f32>("transpose", {some<float>({37, 41})}, {41, 37}, {1, 0});
  moved<op::transpose, dtype::uint8>("transpose of bytes", {some<std::uint8_t>({70, 33})}, {33, 70}, {1, 0});
  moved<op::transpose, dtype::float64>("transpose of double", {some<double>({3, 33, 9})}, {9, 3, 33}, {2, 0, 1});
  moved<op::transpose, dtype::float16>("batches", {some<tg::float16>({2, 3, 10, 12})}, {3, 2, 12, 10}, {1, 0, 3, 2});
  moved<op::transpose, f32>("the last axis stays", {some<float>({5, 6, 8})}, {6, 5, 8}, {1, 0, 2});
  moved<op::transpose, f32>("narrow", {some<float>({50, 3})}, {3, 50}, {1, 0});
  moved<op::transpose, f32>("a scalar", {some<float>({})}, {}, {});
}

void words() {
  cuda::moved_box b;
  b.add(4, 12, 12);
  b.add(3, 4, 4);
  b.add(4, 1, 1);
  check(b.count == 1 && b.extents[0] == 48, "neighbours that stay neighbours are one axis");
  alignas(16) float memory[4];
  check(b.widen(memory, memory, 4) == 16 && b.extents[0] == 12, "they move by 16 bytes");
  cuda::moved_box c;
  c.add(5, 10, 6);
  c.add(6, 1, 1);
  check(c.widen(memory, memory, 4) == 8 && c.from[0] == 5 && c.to[0] == 3, "rows of 24 bytes move by 8");
  cuda::moved_box d;
  d.add(6, 1, 1);
  check(d.widen(memory + 1, memory, 4) == 4, "an odd address moves by elements");
}

void rows() {
  const device_tensor wide({6}, std::vector<std::int64_t>{4, 0, 2, 2, 4, 4}),
      narrow({2, 2}, std::vector<std::uint8_t>{1, 3, 0, 1});
  moved<op::gather, f32, f32, dtype::int64>("gather", {some<float>({5, 7}), wide}, {6, 7}, {0});
  moved<op::gather, f32, f32, dtype::uint8>("gather in the middle", {some<float>({3, 4, 2}), narrow}, {3, 2, 2, 2},
                                            {1});
  moved<op::scatter_rows, f32, f32, dtype::int64>("scatter", {some<float>({6, 7}), wide, some<float>({5, 7})}, {5, 7},
                                                  {0});
  moved<op::scatter_rows, f32, f32, dtype::uint8>(
      "scatter in the middle", {some<float>({3, 2, 2, 2}), narrow, some<float>({3, 4, 2})}, {3, 4, 2}, {1});
  const call hot{
      {device_tensor({5}, std::vector<std::int32_t>{0, 3, -1, 2, 4})}, device_tensor(dtype::bfloat16, {5, 4}), {4}};
  compare_kernels<op::one_hot, dtype::bfloat16, dtype::int32>("one_hot", hot);
  const call wrong{{some<float>({3, 2}), device_tensor({4}, std::vector<std::int32_t>{0, 2, 3, -9})},
                   device_tensor(f32, {4, 2}),
                   {0}};
  tg::test::run(tg::device::kernel<tg::device::on_cuda, tg::ir::key<op::gather>>::entry<f32>, wrong, true);
  check((tg::test::noted_failure() & 0xff) == 2, "the first wrong index is reported");
}

void best() {
  const device_tensor at({2, 3}, std::vector<std::int64_t>{4, 0, 2, 1, 1, 3});
  compare_kernels<op::gather_last, f32, f32>("gather_last", {{some<float>({2, 5}), at}, device_tensor(f32, {2, 3})});
  compare_kernels<op::scatter_last, f32, f32>(
      "scatter_last", {{some<float>({2, 3}), at, some<float>({2, 5})}, device_tensor(f32, {2, 5})});
}

template <class T>
void drawn(const char* name, double tolerance) {
  constexpr dtype d = tg::dtype_of<T>;
  const call c{{}, device_tensor(d, {3, 337}), {static_cast<std::int64_t>(d), 3, 337}};
  compare_kernels<op::random_uniform, d>(std::string("uniform ") + name, c);
  compare_kernels<op::random_normal, d>(std::string("normal ") + name, c, tolerance);
  compare_kernels<op::truncated_normal, d>(std::string("truncated ") + name, c, tolerance);
}

}  // namespace

int main() {
  tg::test::on_gpu();
  boxes();
  transpositions();
  words();
  rows();
  best();
  drawn<float>("float32", 2e-6);
  drawn<double>("float64", 1e-14);
  drawn<tg::float16>("float16", 1e-3);
  drawn<tg::bfloat16>("bfloat16", 8e-3);
  return tg::test::result();
}
