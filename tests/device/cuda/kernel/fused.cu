// SPDX-License-Identifier: BSL-1.0
// Loops of the GPU against loops of the CPU: every element-wise operation, and every way to step.
#include "tagma/device/cuda/kernel/fused.hpp"

#include "support/cuda.hpp"
#include "support/half_formats.hpp"
#include "tagma/device/cpu/kernel/elementwise.hpp"
#include "tagma/device/cpu/kernel/fused.hpp"
#include "tagma/device/cuda/kernel/elementwise.hpp"

namespace {

namespace tg = tagma;
namespace op = tagma::op;
namespace device = tagma::device;
using tg::dtype, tg::shape;
using tg::test::call, tg::test::compare, tg::test::device_tensor, tg::test::random_tensor;

/// A loop of one operation over tensors that all step.
template <const char& Op, dtype Out, dtype... In>
void one(const char* what, std::vector<device_tensor> in, double tolerance) {
  const shape dims = in[0].dims();
  using loads = device::types<device::load_of<In, true>...>;
  using operations = device::types<device::operation_of<Op, Out, 0, 1, 2>>;
  using on_cpu = device::fused_loop<device::on_cpu, loads, operations>;
  using on_cuda = device::fused_loop<device::on_cuda, loads, operations>;
  compare(what, on_cpu::entry, on_cuda::entry, {std::move(in), device_tensor(Out, dims)}, tolerance);
}

constexpr dtype f64 = dtype::float64, f32 = dtype::float32, f16 = dtype::float16, bf16 = dtype::bfloat16;
const shape odd{37};

template <class T>
device_tensor numbers(double low, double high, std::uint32_t seed) {
  return random_tensor<T>(odd, low, high, seed);
}

/// Numbers at which functions are special.
device_tensor edges() {
  const float inf = __builtin_huge_valf(), nan = __builtin_nanf("");
  return {odd, std::vector<float>{0, -0.0f, 1, -1, inf, -inf, nan, 0.5f, -0.5f, 1.5f, 2.5f, -2.5f, 100, -100}};
}

/// Some of the doubles that a float between would round to the wrong side.
template <class T>
device_tensor halfway() {
  std::vector<double> some;
  const std::vector<double> all = tg::test::doubles_around<T>();
  for (std::size_t i = 0; i < all.size(); i += 37) some.push_back(all[i]);
  return {{static_cast<tg::extent>(some.size())}, some};
}
device_tensor halfway_integers() {
  std::vector<std::int64_t> all;
  for (int bit = 9; bit < 62; ++bit)
    for (const int tiny : {-1, 0, 1}) {
      const std::int64_t middle = (std::int64_t{1} << bit) | (std::int64_t{1} << (bit - 8));
      all.insert(all.end(), {middle + tiny, -middle + tiny, 3 * (middle / 2) + tiny});
    }
  return {{static_cast<tg::extent>(all.size())}, all};
}

#define FLOATS(operation, low, high, ulps)                                                     \
  one<tg::ir::key<op::operation>, f32, f32>(#operation, {numbers<float>(low, high, 1)}, ulps); \
  one<tg::ir::key<op::operation>, f32, f32>(#operation " at edges", {edges()}, ulps)

void functions() {
  constexpr double close = 1e-6;
  FLOATS(exp, -5, 5, close);
  FLOATS(log, 0.01, 9, close);
  FLOATS(log1p, -0.9, 9, close);
  FLOATS(expm1, -3, 3, close);
  FLOATS(sqrt, 0, 9, close);
  FLOATS(rsqrt, 0.1, 9, close);
  FLOATS(tanh, -5, 5, close);
  FLOATS(sigmoid, -9, 9, close);
  FLOATS(softplus, -9, 9, close);
  FLOATS(erf, -3, 3, close);
  FLOATS(sin, -9, 9, close);
  FLOATS(cos, -9, 9, close);
  FLOATS(negate, -9, 9, 0);
  FLOATS(abs, -9, 9, 0);
  FLOATS(sign, -9, 9, 0);
  FLOATS(square, -9, 9, 0);
  FLOATS(floor, -9, 9, 0);
  FLOATS(ceil, -9, 9, 0);
  FLOATS(round, -9, 9, 0);
  FLOATS(relu, -9, 9, 0);
  FLOATS(broadcast_like, -9, 9, 0);
  one<tg::ir::key<op::tanh>, f64, f64>("tanh of double", {numbers<double>(-3, 3, 2)}, 1e-14);
  one<tg::ir::key<op::exp>, f16, f16>("exp of float16", {numbers<tg::float16>(-3, 3, 3)}, 1e-3);
  one<tg::ir::key<op::exp>, bf16, bf16>("exp of bfloat16", {numbers<tg::bfloat16>(-3, 3, 4)}, 8e-3);
}

template <class T>
void arithmetic(const char* name) {
  constexpr dtype d = tg::dtype_of<T>;
  const auto in = [] { return std::vector<device_tensor>{numbers<T>(-9, 9, 5), numbers<T>(-3, 3, 6)}; };
  const auto what = [name](const char* operation) { return std::string(operation) + " of " + name; };
  one<tg::ir::key<op::add>, d, d, d>(what("add").c_str(), in(), 0);
  one<tg::ir::key<op::subtract>, d, d, d>(what("subtract").c_str(), in(), 0);
  one<tg::ir::key<op::multiply>, d, d, d>(what("multiply").c_str(), in(), 0);
  one<tg::ir::key<op::divide>, d, d, d>(what("divide").c_str(), in(), 0);
  one<tg::ir::key<op::maximum>, d, d, d>(what("maximum").c_str(), in(), 0);
  one<tg::ir::key<op::minimum>, d, d, d>(what("minimum").c_str(), in(), 0);
}

void pairs() {
  arithmetic<float>("float32");
  arithmetic<double>("float64");
  arithmetic<tg::float16>("float16");
  arithmetic<tg::bfloat16>("bfloat16");
  arithmetic<std::int8_t>("int8");
  arithmetic<std::uint8_t>("uint8");
  arithmetic<std::int64_t>("int64");
  const auto floats = [] { return std::vector<device_tensor>{edges(), numbers<float>(-1, 1, 7)}; };
  one<tg::ir::key<op::maximum>, f32, f32, f32>("maximum with NaN", floats(), 0);
  one<tg::ir::key<op::minimum>, f32, f32, f32>("minimum with NaN", floats(), 0);
  one<tg::ir::key<op::relu_gradient>, f32, f32, f32>("relu_gradient", floats(), 0);
  one<tg::ir::key<op::power>, f32, f32, f32>("power", {numbers<float>(-2, 2, 8), numbers<float>(-3, 3, 9)}, 1e-6);
  constexpr dtype truth = dtype::boolean, i32 = dtype::int32;
  const auto small = [] {
    return std::vector<device_tensor>{numbers<std::int32_t>(-2, 2, 10), numbers<std::int32_t>(-2, 2, 11)};
  };
  one<tg::ir::key<op::equal>, truth, i32, i32>("equal", small(), 0);
  one<tg::ir::key<op::not_equal>, truth, f32, f32>("not_equal", floats(), 0);
  one<tg::ir::key<op::less>, truth, f32, f32>("less", floats(), 0);
  one<tg::ir::key<op::less_equal>, truth, i32, i32>("less_equal", small(), 0);
  one<tg::ir::key<op::greater>, truth, f32, f32>("greater", floats(), 0);
  one<tg::ir::key<op::greater_equal>, truth, i32, i32>("greater_equal", small(), 0);
  one<tg::ir::key<op::abs>, i32, i32>("abs of int32", {numbers<std::int32_t>(-9, 9, 12)}, 0);
  one<tg::ir::key<op::sign>, dtype::uint8, dtype::uint8>("sign of uint8", {numbers<std::uint8_t>(0, 9, 12)}, 0);

  const device_tensor yes(odd, std::vector<std::uint8_t>{1, 0, 0, 1, 1}), no(odd, std::vector<std::uint8_t>{0, 1});
  const auto bools = [&](const device_tensor& t) {
    device_tensor b(truth, odd);
    std::memcpy(b.data(), t.data(), 37);
    return b;
  };
  one<tg::ir::key<op::logical_and>, truth, truth, truth>("logical_and", {bools(yes), bools(no)}, 0);
  one<tg::ir::key<op::logical_or>, truth, truth, truth>("logical_or", {bools(yes), bools(no)}, 0);
  one<tg::ir::key<op::logical_not>, truth, truth>("logical_not", {bools(yes)}, 0);
  one<tg::ir::key<op::select>, f32, truth, f32, f32>("select", {bools(yes), edges(), numbers<float>(-1, 1, 13)}, 0);
  one<tg::ir::key<op::cast>, f32, truth>("cast of bool", {bools(yes)}, 0);
  one<tg::ir::key<op::cast>, truth, f32>("cast to bool", {edges()}, 0);
  one<tg::ir::key<op::cast>, dtype::int8, f32>("cast to int8", {numbers<float>(-100, 100, 14)}, 0);
  one<tg::ir::key<op::cast>, dtype::uint8, dtype::int64>("cast of int64", {numbers<std::int64_t>(-999, 999, 15)}, 0);
  one<tg::ir::key<op::cast>, f16, f32>("cast to float16", {numbers<float>(-7e4, 7e4, 16)}, 0);
  one<tg::ir::key<op::cast>, f16, f64>("cast of float64 to float16", {halfway<tg::float16>()}, 0);
  one<tg::ir::key<op::cast>, bf16, f64>("cast of float64 to bfloat16", {halfway<tg::bfloat16>()}, 0);
  one<tg::ir::key<op::cast>, bf16, dtype::int64>("cast of int64 to bfloat16", {halfway_integers()}, 0);
  one<tg::ir::key<op::cast>, f64, bf16>("cast of bfloat16", {numbers<tg::bfloat16>(-9, 9, 17)}, 0);
}

/// tanh(x * y + x) where y is stretched.
template <class T, bool Contiguous>
void stretched(const char* what, const shape& x, const shape& y, const shape& declared_x, const shape& declared_y,
               double tolerance) {
  constexpr dtype d = tg::dtype_of<T>;
  using loads = device::types<device::load_of<d, true>, device::load_of<d, Contiguous>>;
  using operations = device::types<device::operation_of<tg::ir::key<op::multiply>, d, 0, 1, 0>,
                                   device::operation_of<tg::ir::key<op::add>, d, 2, 0, 0>,
                                   device::operation_of<tg::ir::key<op::tanh>, d, 3, 0, 0>>;
  using on_cpu = device::fused_loop<device::on_cpu, loads, operations>;
  using on_cuda = device::fused_loop<device::on_cuda, loads, operations>;
  call c{{random_tensor<T>(x, -2, 2, 21), random_tensor<T>(y, -2, 2, 22)}, device_tensor(d, x)};
  c.declared = {declared_x, declared_y};
  c.declared_out = declared_x;
  compare(what, on_cpu::entry, on_cuda::entry, c, tolerance);
}

void steps() {
  const tg::extent any = tg::dyn;
  stretched<float, true>("bias", {5, 8}, {8}, {any, 8}, {8}, 1e-6);
  stretched<float, true>("bias of odd length", {5, 7}, {7}, {any, 7}, {7}, 1e-6);
  stretched<float, true>("bias in the middle", {2, 3, 12}, {2, 1, 12}, {2, any, 12}, {2, 1, 12}, 1e-6);
  stretched<float, true>("alternating", {2, 3, 2, 4}, {1, 3, 1, 4}, {2, 3, 2, 4}, {1, 3, 1, 4}, 1e-6);
  stretched<float, false>("columns", {5, 8}, {5, 1}, {any, 8}, {any, 1}, 1e-6);
  stretched<float, false>("scalar", {3, 5}, {}, {any, 5}, {}, 1e-6);
  stretched<float, false>("inner and outer", {2, 3, 5}, {3, 1}, {2, 3, 5}, {3, 1}, 1e-6);
  stretched<float, true>("many", {1500}, {1500}, {any}, {any}, 1e-6);
  stretched<float, true>("nothing", {0, 8}, {8}, {any, 8}, {8}, 0);
  stretched<tg::float16, true>("bias of float16", {5, 8}, {8}, {any, 8}, {8}, 1e-3);
  stretched<tg::float16, false>("columns of float16", {5, 9}, {5, 1}, {any, 9}, {any, 1}, 1e-3);
  stretched<double, true>("bias of double", {5, 8}, {8}, {any, 8}, {8}, 1e-14);
}

/// x > y ? -x * x : y + z, with operands that are used twice, of which one is the same for each row.
void selection_apart() {
  constexpr dtype truth = dtype::boolean;
  using loads = device::types<device::load_of<f32, true>, device::load_of<f32, false>, device::load_of<f64, true>>;
  using operations = device::types<device::operation_of<tg::ir::key<op::greater>, truth, 0, 1, 0>,
                                   device::operation_of<tg::ir::key<op::negate>, f32, 0, 0, 0>,
                                   device::operation_of<tg::ir::key<op::multiply>, f32, 4, 0, 0>,
                                   device::operation_of<tg::ir::key<op::cast>, f32, 2, 0, 0>,
                                   device::operation_of<tg::ir::key<op::add>, f32, 1, 6, 0>,
                                   device::operation_of<tg::ir::key<op::select>, f32, 3, 5, 7>>;
  using on_cpu = device::fused_loop<device::on_cpu, loads, operations>;
  using on_cuda = device::fused_loop<device::on_cuda, loads, operations>;
  const shape dims{5, 9}, column{5, 1};
  call c{{random_tensor<float>(dims, -2, 2, 31), random_tensor<float>(column, -2, 2, 32),
          random_tensor<double>(dims, -2, 2, 33)},
         device_tensor(f32, dims)};
  compare("a selection", on_cpu::entry, on_cuda::entry, c, 1e-6);
}

/// Chunks are words of 16 bytes, and of long recipes half of that.
template <dtype D>
using sum_of_two =
    device::fused_loop<device::on_cuda, device::types<device::load_of<D, true>, device::load_of<D, false>>,
                       device::types<device::operation_of<tg::ir::key<op::add>, D, 0, 1, 0>>>;
static_assert(sum_of_two<f32>::width == 4 && sum_of_two<f64>::width == 2 && sum_of_two<f16>::width == 8);
static_assert(sum_of_two<dtype::uint8>::width == 8);

}  // namespace

int main() {
  tg::test::on_gpu();
  functions();
  pairs();
  steps();
  // Once more as where nvcc has made no kernels of these loops: each operation by itself.
  device::cuda::emulation::lacks_loops() = true;
  steps();
  selection_apart();
  return tg::test::result();
}
