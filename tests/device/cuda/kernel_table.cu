// SPDX-License-Identifier: BSL-1.0
// A network is trained twice for a few steps: by the kernels of the CPU, and by those of the GPU for the same plan.
// That takes memory which both can reach, so that it is left out where kernels run on a GPU.
#include "tagma/device/cuda/kernel_table.hpp"

#include "support/cuda.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
namespace cuda = tagma::device::cuda;
using tg::test::check;

template <class Plan>
bool has_all_kernels() {
  for (const tg::runtime::kernel_entry& e : cuda::kernel_entries<Plan>)
    if (e.run == nullptr) return false;
  return true;
}

template <class Program, class... Feeds>
void train_on_both(const std::string& what, const Program& program, const Feeds&... feeds) {
  using plan = typename Program::full_plan;
  check(has_all_kernels<plan>(), what + ": the GPU has all kernels");
  if (tg::test::on_gpu()) return;
  tg::session expected(program, {.seed = 5, .intra_op_threads = 1}), found(program, {.seed = 5, .intra_op_threads = 1});
  cuda::libraries libraries;
  tg::runtime::run_context context;
  context.threads = &expected.core().threads();
  context.seed = 5;
  context.library = &libraries;
  const std::array<tg::raw_view, sizeof...(Feeds)> views{
      tg::raw_view{feeds.data(), tg::dtype_of<std::remove_cvref_t<decltype(feeds.data()[0])>>, feeds.dims()}...};
  const auto on = [&](tg::session<Program>& session, tg::array_view<const tg::runtime::kernel_entry> kernels) {
    std::vector<std::byte*> addresses;
    for (std::size_t v = 0; v < session.core().variables().size(); ++v)
      addresses.push_back(static_cast<std::byte*>(const_cast<void*>(session.core().variable_value(v).data)));
    tg::runtime::bound_plan bound(plan::view, {kernels}, views, addresses, program.values(), context,
                                  session.core().devices(), nullptr);
    bound.patch(views);
    for (context.step = 0; context.step < 4; ++context.step) {
      cuda::begin_run(context);
      for (std::size_t s = 0; s < bound.step_count(); ++s) bound.run_step(s, context);
    }
    cuda::check_run(libraries.of(nullptr).parameters()->failure);
  };
  on(expected, tg::runtime::kernel_table<plan>::entries);
  on(found, cuda::kernel_entries<plan>);
  for (std::size_t v = 0; v < expected.core().variables().size(); ++v) {
    const tg::raw_view a = expected.core().variable_value(v), b = found.core().variable_value(v);
    if (a.type != tg::dtype::float32) continue;
    const auto *x = static_cast<const float*>(a.data), *y = static_cast<const float*>(b.data);
    double most = 0;
    for (std::int64_t i = 0; i < a.dims.elements(); ++i)
      most = std::max(most, static_cast<double>(std::fabs(x[i] - y[i])));
    check(most < 2e-4, what + ": " + expected.core().variable_name(v) + " differs by " + std::to_string(most));
  }
}

void images() {
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 8, 8, 3>();
  constexpr auto y = tg::placeholder<"y", std::uint8_t, tg::dyn>();
  const auto filter = tg::variable<"filter", float, 3, 3, 3, 4>(tg::glorot_uniform);
  const auto bias = tg::variable<"bias", float, 4>(tg::zeros);
  const auto hidden =
      tg::max_pool<2>(tg::conv2d<tg::conv_options{.padding = tg::same_padding}>(x, filter, bias, tg::relu));
  const auto flat = tg::dropout(tg::flatten(hidden), 0.25);
  const auto loss = tg::mean(tg::sparse_softmax_cross_entropy(tg::dense<"logits", 5>(flat), y));
  const auto train = tg::minimize(loss, tg::adam{.learning_rate = 0.01});
  const auto program = tg::compile([=] { return tg::outputs(loss, train); });
  tg::tensor<float> pictures(tg::shape{6, 8, 8, 3});
  for (std::size_t i = 0; i < pictures.size(); ++i) pictures.data()[i] = static_cast<float>(i * 7919 % 101) / 50 - 1;
  train_on_both("images", program, pictures, tg::tensor<std::uint8_t>(tg::shape{6}, {0, 4, 2, 1, 1, 3}));
}

void words() {
  constexpr auto at = tg::placeholder<"at", std::int32_t, tg::dyn>();
  const auto table = tg::variable<"table", float, 11, 6>(tg::glorot_uniform);
  const auto rows = tg::gather(table, at);
  const auto weight = tg::variable<"weight", float, 6, 6>(tg::glorot_normal);
  const auto mixed = tg::tanh(tg::matmul(rows, weight)) * tg::softmax(rows);
  const auto loss = tg::sum(tg::square(tg::concat<1>(mixed, tg::transpose<1, 0>(tg::transpose<1, 0>(rows)))));
  const auto train =
      tg::minimize(loss, tg::adagrad{.learning_rate = tg::exponential_decay{.initial = 0.1, .decay_steps = 2}});
  const auto program = tg::compile([=] { return tg::outputs(loss, train); });
  train_on_both("words", program, tg::tensor<std::int32_t>(tg::shape{7}, {3, 1, 3, 10, 3, 0, 1}));
}

}  // namespace

int main() {
  tg::test::on_gpu();
  images();
  words();
  return tg::test::result();
}
