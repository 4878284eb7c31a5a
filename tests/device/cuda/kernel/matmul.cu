// SPDX-License-Identifier: BSL-1.0
// Products of the GPU against those of the CPU, and what is asked of cuBLASLt.
#include "tagma/device/cuda/kernel/matmul.hpp"

#include <limits>

#include "support/cuda.hpp"
#include "tagma/device/cpu/kernel/elementwise.hpp"
#include "tagma/device/cpu/kernel/fused.hpp"
#include "tagma/device/cpu/kernel/matmul.hpp"
#include "tagma/device/cpu/kernel/matmul_integer.hpp"
#include "tagma/device/cuda/kernel/elementwise.hpp"
#include "tagma/device/cuda/kernel/matmul_integer.hpp"

namespace {

namespace tg = tagma;
namespace op = tagma::op;
namespace cuda = tagma::device::cuda;
using tg::dtype, tg::shape;
using tg::test::call, tg::test::check, tg::test::compare_kernels, tg::test::device_tensor, tg::test::random_tensor;
using tg::test::stand_ins;

/// Where stand-ins compute for cuBLASLt, whether they did.
void expect_calls(const std::string& what, int found, bool expected) {
  if (tg::test::has_stand_ins())
    check((found > 0) == expected, what + ": cuBLASLt is called " + std::to_string(found) + " times");
}

template <class T>
void product(const std::string& what, const shape& x, const shape& y, bool ta, bool tb, double tolerance) {
  constexpr dtype d = tg::dtype_of<T>;
  const tg::tensor_spec in[] = {{d, x}, {d, y}};
  const std::int64_t attributes[] = {ta, tb};
  tg::ir::infer_args args{in, attributes, {}};
  if (const char* problem = op::matmul::infer(args)) return check(false, what + ": " + problem);
  const int before = stand_ins.products;
  compare_kernels<op::matmul, d, d, d>(
      what,
      {{random_tensor<T>(x, -1, 1, 51), random_tensor<T>(y, -1, 1, 52)}, device_tensor(d, args.out.dims), {ta, tb}},
      tolerance);
  expect_calls(what, stand_ins.products - before, x.elements() > 0 && y.elements() > 0);
}

void products() {
  constexpr double close = 1e-5;
  product<float>("a product", {5, 7}, {7, 3}, false, false, close);
  product<float>("a transposed", {7, 5}, {7, 3}, true, false, close);
  product<float>("b transposed", {5, 7}, {3, 7}, false, true, close);
  product<float>("both transposed", {7, 5}, {3, 7}, true, true, close);
  product<float>("larger", {64, 200}, {200, 48}, false, false, close);
  product<float>("a batch of rows", {2, 3, 5, 7}, {7, 3}, false, false, close);
  product<float>("a batch", {4, 5, 7}, {4, 7, 3}, false, false, close);
  product<float>("a batch of both, transposed", {2, 3, 7, 5}, {2, 3, 3, 7}, true, true, close);
  product<float>("a stretched batch", {4, 7, 5}, {7, 3}, true, false, close);
  product<float>("stretched both ways", {2, 1, 5, 7}, {1, 3, 7, 4}, false, false, close);
  product<float>("stretched in the middle", {2, 1, 3, 5, 7}, {2, 4, 1, 7, 4}, false, false, close);
  product<float>("no elements to add", {5, 0}, {0, 3}, false, false, 0);
  product<float>("no rows", {0, 5}, {5, 3}, false, false, 0);
  product<double>("of double", {4, 5, 7}, {4, 7, 3}, false, false, 1e-13);
  product<tg::float16>("of float16", {5, 40}, {40, 3}, false, false, 4e-3);
  product<tg::bfloat16>("of bfloat16", {5, 40}, {3, 40}, false, true, 2e-2);
}

template <class A, class B>
void integer_product(const std::string& what, const shape& x, const shape& y, bool ta, bool tb) {
  constexpr dtype a = tg::dtype_of<A>, b = tg::dtype_of<B>;
  const tg::tensor_spec in[] = {{a, x}, {b, y}};
  const std::int64_t attributes[] = {ta, tb};
  tg::ir::infer_args args{in, attributes, {}};
  if (const char* problem = op::matmul_integer::infer(args)) return check(false, what + ": " + problem);
  const auto numbers = [](auto zero, const shape& dims, std::uint32_t seed) {
    using T = decltype(zero);
    return random_tensor<T>(dims, std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), seed);
  };
  compare_kernels<op::matmul_integer, dtype::int32, a, b>(
      what, {{numbers(A(), x, 53), numbers(B(), y, 54)}, device_tensor(dtype::int32, args.out.dims), {ta, tb}}, 0);
}

void integer_products() {
  using std::int8_t, std::uint8_t;
  integer_product<int8_t, int8_t>("of int8", {5, 7}, {7, 3}, false, false);
  integer_product<uint8_t, int8_t>("of uint8 and int8", {7, 5}, {3, 7}, true, true);
  integer_product<int8_t, uint8_t>("of int8 and uint8", {64, 200}, {200, 48}, false, false);
  integer_product<uint8_t, uint8_t>("of uint8", {3, 3000}, {5, 3000}, false, true);
  integer_product<int8_t, int8_t>("of int8, a stretched batch", {2, 1, 5, 7}, {1, 3, 7, 4}, false, false);
  integer_product<int8_t, int8_t>("of int8, no elements to add", {5, 0}, {0, 3}, false, false);
  integer_product<int8_t, int8_t>("of int8, no rows", {0, 5}, {5, 3}, false, false);
}

/// A product and a loop behind it. Operands count the product first.
template <dtype D, class... Operation>
struct loop_recipe {};
template <const char& Key, int A, int B>
struct step {};
template <class Device, dtype D, bool... Contiguous, const char&... Key, int... A, int... B>
constexpr tg::runtime::kernel_entry behind_product(std::integer_sequence<bool, Contiguous...>,
                                                   loop_recipe<D, step<Key, A, B>...>) {
  using loop = tg::device::fused_loop<Device, tg::device::types<tg::device::load_of<D, Contiguous>...>,
                                      tg::device::types<tg::device::operation_of<Key, D, A, B, 0>...>>;
  return tg::device::kernel_with_loop<Device, tg::ir::key<op::matmul>, loop, D, D, D>::entry;
}

/// @param in the operands of the product, and what the loop reads besides
template <class Recipe, bool... Contiguous>
void goes_on(const std::string& what, std::vector<device_tensor> in, const shape& out, double tolerance) {
  using loads = std::integer_sequence<bool, true, Contiguous...>;
  const dtype d = in[0].type();
  const bool expected = in[0].dims().elements() > 0 && in[1].dims().elements() > 0;
  const int before = stand_ins.products;
  tg::test::compare(what, behind_product<tg::device::on_cpu>(loads(), Recipe()),
                    behind_product<tg::device::on_cuda>(loads(), Recipe()),
                    {std::move(in), device_tensor(d, out), {0, 0}}, tolerance);
  expect_calls(what, stand_ins.products - before, expected);
}

template <class T>
void loops_behind_products(double tolerance) {
  constexpr dtype d = tg::dtype_of<T>;
  using relu = loop_recipe<d, step<tg::ir::key<op::relu>, 0, 0>>;
  using sum = loop_recipe<d, step<tg::ir::key<op::add>, 0, 1>>;
  using sum_from_left = loop_recipe<d, step<tg::ir::key<op::add>, 1, 0>>;
  using sum_and_relu = loop_recipe<d, step<tg::ir::key<op::add>, 0, 1>, step<tg::ir::key<op::relu>, 2, 0>>;
  using others = loop_recipe<d, step<tg::ir::key<op::multiply>, 0, 1>, step<tg::ir::key<op::tanh>, 3, 0>,
                             step<tg::ir::key<op::subtract>, 4, 2>>;
  const auto make = [](const shape& dims, std::uint32_t seed) { return random_tensor<T>(dims, -1, 1, seed); };
  const auto a = make({5, 7}, 71), b = make({7, 3}, 72), row = make({3}, 73), all = make({5, 3}, 74);
  goes_on<relu>("relu", {a, b}, {5, 3}, tolerance);
  goes_on<sum, true>("a bias", {a, b, row}, {5, 3}, tolerance);
  goes_on<sum_from_left, true>("a bias from the left", {a, b, make({1, 3}, 75)}, {5, 3}, tolerance);
  goes_on<sum_and_relu, true>("a bias and relu", {a, b, row}, {5, 3}, tolerance);
  goes_on<sum, true>("no bias, but a tensor", {a, b, all}, {5, 3}, tolerance);
  goes_on<sum, false>("no bias, but a column", {a, b, make({5, 1}, 76)}, {5, 3}, tolerance);
  goes_on<others, true, true>("a loop of three", {a, b, row, all}, {5, 3}, tolerance);
  goes_on<sum_and_relu, true>("a batch", {make({2, 4, 5, 7}, 77), make({4, 7, 3}, 78), row}, {2, 4, 5, 3}, tolerance);
  goes_on<sum_and_relu, true>("no products to add", {make({5, 0}, 79), make({0, 3}, 80), row}, {5, 3}, tolerance);
  goes_on<sum_and_relu, true>("no rows", {make({0, 7}, 81), b, row}, {0, 3}, tolerance);
  constexpr auto known = [](auto recipe) {
    return behind_product<tg::device::on_cuda>(std::integer_sequence<bool, true, true>(), recipe).run;
  };
  tg::test::check(known(sum()) != known(loop_recipe<d, step<tg::ir::key<op::multiply>, 0, 1>>()), "kernels differ");
}

/// The numbers of one call of the library, which a program without a GPU cannot make.
void descriptions() {
  alignas(16) std::byte there[16];
  tg::runtime::operand in[] = {{there, dtype::float32, {2, 1, 3, 5, 7}}, {there, dtype::float32, {2, 4, 1, 7, 6}}};
  const std::int64_t attributes[] = {0, 0};
  tg::runtime::kernel_args args;
  args.in = in;
  args.out = {there, dtype::float32, {2, 4, 3, 5, 6}};
  args.attributes = attributes;
  const cuda::detail::batched_product p(args);
  check(p.problem.batch == 4 && p.calls() == 6, "the longest axis of a batch goes to the library");
  check(p.problem.stride_a == 0 && p.problem.stride_b == 42 && p.problem.stride_c == 90, "a stretched operand stays");
  const auto last = p.at(5);  // batch [1, *, 2]
  check(last.a == 5 * 35 && last.b == 4 * 42 && last.c == 12 * 30 + 2 * 30, "where the last call begins");
  check(p.problem.alignment == 4, "matrices of 35 elements are not all aligned");
  tg::runtime::operand even[] = {{there, dtype::float16, {2, 1, 4, 4}}, {there, dtype::float16, {1, 3, 4, 6}}};
  args.in = even;
  args.out = {there, dtype::float16, {2, 3, 4, 6}};
  check(cuda::detail::batched_product(args).problem.alignment == 16, "steps of 32 and 144 bytes keep them aligned");
  args.out.data = nullptr;
  check(cuda::detail::batched_product(args).problem.alignment == 2, "rows of a loop begin anywhere");

  cuda::product_problem q;
  q.m = 5, q.n = 3, q.k = 7, q.transpose_b = true;
  const auto left = cuda::blas_matrix::left(q), right = cuda::blas_matrix::right(q), c = cuda::blas_matrix::result(q);
  check(left.rows == 7 && left.columns == 3 && left.distance == 7, "b of [3, 7] is 7 by 3 there");
  check(right.rows == 7 && right.columns == 5 && right.distance == 7, "a of [5, 7] is 7 by 5 there");
  check(c.rows == 3 && c.columns == 5 && c.distance == 3, "c of [5, 3] is 3 by 5 there");
}

/// Where cuBLASLt answers: it with every epilogue against plain loops.
template <class T>
void epilogues(double tolerance) {
  if (!cuda::libraries_answer()) return;
  tg::runtime::run_context context;
  context.library = &tg::test::shared_resources();
  const auto a = random_tensor<T>({32, 64}, -1, 1, 61), b = random_tensor<T>({64, 48}, -1, 1, 62);
  const auto bias = random_tensor<T>({48}, -1, 1, 63);
  for (const auto after :
       {cuda::epilogue::none, cuda::epilogue::relu, cuda::epilogue::bias, cuda::epilogue::bias_relu}) {
    cuda::product_problem p;
    p.type = tg::dtype_of<T>;
    p.m = 32, p.n = 48, p.k = 64, p.after = after;
    const auto library = cuda::blas_product::make(p, context, bias.data());
    check(library != nullptr, "cuBLASLt has an algorithm");
    if (library == nullptr) continue;
    const device_tensor expected(p.type, {32, 48}), found(p.type, {32, 48});
    const auto multiply = [&](const cuda::blas_product* by, const device_tensor& to) {
      cuda::detail::multiply<T>(p, by, a.operand().template as<const T>(), b.operand().template as<const T>(),
                                to.operand().template as<T>(), bias.operand().template as<const T>(), context);
    };
    multiply(nullptr, expected);
    multiply(library.get(), found);
    if (tg::test::on_gpu()) cuda::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    check(tg::test::distance(expected, found) <= tolerance, "an epilogue of cuBLASLt");
  }
}

}  // namespace

int main() {
  tg::test::on_gpu();
  products();
  integer_products();
  loops_behind_products<float>(1e-5);
  loops_behind_products<double>(1e-13);
  loops_behind_products<tg::float16>(4e-3);
  loops_behind_products<tg::bfloat16>(3e-2);
  descriptions();
  epilogues<float>(1e-4);
  epilogues<tg::float16>(4e-3);
  epilogues<tg::bfloat16>(3e-2);
  return tg::test::result();
}
