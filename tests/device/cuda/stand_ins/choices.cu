// SPDX-License-Identifier: BSL-1.0
// What computes where cuBLASLt and cuDNN have no algorithm, refuse a call, fail, or want more memory than there is. For
// a program that is linked with the stand-ins, which do so when they are asked to.
#include "support/cuda.hpp"
#include "tagma/device/cpu/kernel/conv.hpp"
#include "tagma/device/cpu/kernel/matmul.hpp"
#include "tagma/device/cpu/kernel/pool.hpp"
#include "tagma/device/cpu/kernel/softmax.hpp"
#include "tagma/device/cuda/kernel/conv.hpp"
#include "tagma/device/cuda/kernel/matmul.hpp"
#include "tagma/device/cuda/kernel/pool.hpp"
#include "tagma/device/cuda/kernel/softmax.hpp"
#include "tagma/device/fake/driver.hpp"

namespace {

namespace tg = tagma;
namespace op = tagma::op;
namespace cuda = tagma::device::cuda;
using tg::dtype, tg::shape;
using tg::test::call, tg::test::check, tg::test::compare_kernels, tg::test::device_tensor, tg::test::random_tensor;
using tg::test::stand_ins;

constexpr dtype f = dtype::float32;
constexpr double close = 1e-5;
constexpr std::size_t kibibyte = 1024;

device_tensor some(const shape& dims, std::uint32_t seed) { return random_tensor<float>(dims, -1, 1, seed); }

/// Steps of 1, padding that is equal at both ends if `equal`.
std::vector<std::int64_t> steps(bool equal) {
  return {op::window_plane::pack_steps(1, 1), op::window_plane::pack_padding({1, equal ? 1 : 0, 1, equal ? 1 : 0})};
}

using resources = cuda::stream_resources*;

/// @param depth extents that are summed over: those of few need no working memory
void product(const std::string& what, resources r = nullptr, tg::extent depth = 7) {
  compare_kernels<op::matmul, f, f, f>(
      what + ": a product", {{some({5, depth}, 1), some({depth, 3}, 2)}, device_tensor(f, {5, 3}), {0, 0}}, close, r);
}

void convolutions(const std::string& what, bool equal_padding, resources r = nullptr) {
  auto attributes = steps(equal_padding);
  attributes.push_back(1);
  const shape dims{2, 5, 5, 2}, filter{3, 3, 2, 4}, result{2, equal_padding ? 5 : 4, equal_padding ? 5 : 4, 4};
  const auto x = some(dims, 3), w = some(filter, 4), y = some(result, 5);
  compare_kernels<op::conv2d, f, f, f>(what + ": a convolution", {{x, w}, device_tensor(f, result), attributes}, close,
                                       r);
  compare_kernels<op::conv2d_input_gradient, f, f, f, f>(what + ": a gradient by images",
                                                         {{y, w, x}, device_tensor(f, dims), attributes}, close, r);
  compare_kernels<op::conv2d_filter_gradient, f, f, f, f>(what + ": a gradient by a filter",
                                                          {{x, y, w}, device_tensor(f, filter), attributes}, close, r);
}

void pools(const std::string& what) {
  auto attributes = steps(true);
  attributes.insert(attributes.end(), {3, 3});
  const call c{{some({2, 5, 5, 2}, 6)}, device_tensor(f, {2, 5, 5, 2}), attributes};
  compare_kernels<op::max_pool, f, f>(what + ": maxima", c, close);
  compare_kernels<op::average_pool, f, f>(what + ": means", c, close);
}

void softmaxes(const std::string& what) {
  const call c{{some({4, 9}, 7)}, device_tensor(f, {4, 9})};
  compare_kernels<op::softmax, f, f>(what + ": softmax", c, close);
  compare_kernels<op::log_softmax, f, f>(what + ": log_softmax", c, close);
}

/// Calls of libraries that computed something.
int calls() { return stand_ins.products + stand_ins.convolutions + stand_ins.pools + stand_ins.softmaxes; }

void expect_calls(const std::string& what, int before, int expected) {
  check(calls() - before == expected, what + ": libraries compute " + std::to_string(calls() - before) + " times");
}

void no_algorithms() {
  stand_ins.offers_algorithms = false;
  const int before = calls();
  product("without algorithms");
  convolutions("without algorithms", true);
  expect_calls("without algorithms", before, 0);
  stand_ins = {};
}

void refused_calls() {
  stand_ins.dnn_status = CUDNN_STATUS_NOT_SUPPORTED_SHAPE;
  const int before = calls();
  for (const bool equal : {true, false}) convolutions("refused", equal);
  pools("refused");
  softmaxes("refused");
  expect_calls("refused", before, 0);
  stand_ins = {};
}

template <class Some>
void expect_error(const std::string& text, const Some& some) {
  std::string found;
  try {
    some();
  } catch (const tg::error& e) {
    check(e.code() == tg::status_code::internal, text + ": its code");
    found = e.what();
  }
  check(found.find(text) != std::string::npos, text + ": the error is \"" + found + "\"");
}

void failed_calls() {
  stand_ins.dnn_status = CUDNN_STATUS_EXECUTION_FAILED;
  expect_error("cuDNN refused a convolution: CUDNN_STATUS_EXECUTION_FAILED", [] { convolutions("failed", true); });
  expect_error("cuDNN refused pooling: CUDNN_STATUS_EXECUTION_FAILED", [] { pools("failed"); });
  expect_error("cuDNN refused a softmax: CUDNN_STATUS_EXECUTION_FAILED", [] { softmaxes("failed"); });
  stand_ins = {};
}

/// Memory of which a stream may take some kibibytes.
struct small_device {
  explicit small_device(std::size_t bytes)
      : pool(driver, 0, "/device:GPU:0", {.fraction = 1, .cap = static_cast<std::int64_t>(bytes)}) {}
  tg::device::fake::driver driver{{.memory = std::int64_t{1} << 20}};
  tg::device::stream::memory_pool pool;
  cuda::stream_resources stream{nullptr, tg::test::run_numbers(), &pool};
};

void little_memory() {
  stand_ins.workspace = 64 * kibibyte;
  {
    small_device device(16 * kibibyte);
    const int before = calls();
    product("little memory", &device.stream);
    for (const bool equal : {true, false}) convolutions("little memory", equal, &device.stream);
    expect_calls("algorithms that do with little memory", before, 7);
    check(device.stream.workspace_size() <= 16 * kibibyte, "working memory is the pool's");
  }
  {
    small_device device(128 * kibibyte);
    product("enough memory", &device.stream);
    check(device.stream.workspace_size() == 0, "a product of short rows needs no working memory");
    product("enough memory", &device.stream, 70);
    check(device.stream.workspace_size() == 64 * kibibyte, "the quickest algorithm where there is room for it");
    const int before = calls();
    convolutions("filters find no room besides", true, &device.stream);
    expect_calls("the workspace that is there is not enough, and a second does not fit", before, 3);
  }
  stand_ins.has_small = false;
  small_device device(16 * kibibyte);
  const int before = calls();
  product("no memory", &device.stream);
  convolutions("no memory", true, &device.stream);
  expect_calls("algorithms that find no memory", before, 0);
  stand_ins = {};
}

/// Working memory doubles where there is room for that, and else grows by what is asked for.
void growth() {
  small_device device(16 * kibibyte);
  device.stream.reserve(2 * kibibyte);
  device.stream.reserve(3 * kibibyte);
  check(device.stream.workspace_size() == 4 * kibibyte, "working memory doubles");
  device.stream.reserve(5 * kibibyte);
  check(device.stream.workspace_size() == 8 * kibibyte, "working memory doubles again");
  check(!device.stream.try_reserve(9 * kibibyte), "there is no room for more");
  check(device.stream.workspace_size() == 8 * kibibyte, "what is there stays");
  small_device other(16 * kibibyte);
  other.stream.reserve(6 * kibibyte);
  other.stream.reserve(7 * kibibyte);
  check(other.stream.workspace_size() == 7 * kibibyte, "working memory grows by what is asked for");
  bool thrown = false;
  try {
    other.stream.reserve(8 * kibibyte);
  } catch (const tg::error& e) {
    thrown = e.code() == tg::status_code::resource_exhausted;
  }
  check(thrown, "a kernel that cannot do with less says what there is no room for");
}

}  // namespace

int main() {
  tg::test::on_gpu();
  check(tg::test::has_stand_ins(), "this program is linked with stand-ins");
  no_algorithms();
  refused_calls();
  failed_calls();
  little_memory();
  growth();
  return tg::test::result();
}
