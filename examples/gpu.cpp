// SPDX-License-Identifier: BSL-1.0
// A net on GPUs: its lower half on one, its upper half on another. nvcc compiles it for the GPUs of the machine; any other
// compiler makes a program whose GPUs are fake, which shows what would be where.
#if defined(__CUDACC__)
#include <tagma/cuda.hpp>
#else
#include <tagma/fake_gpu.hpp>
#endif
#include <tagma/observe/trace.hpp>
#include <tagma/plan/print.hpp>
#include <tagma/tagma.hpp>

#include <cstdio>

namespace tg = tagma;
constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();
constexpr auto y = tg::placeholder<"y", float, tg::dyn, 2>();

int main() {
  auto lower = tg::on<tg::gpu<0>>([](const auto& in) { return tg::dense<"lower", 16>(in, tg::tanh); })(x);
  auto upper = tg::on<tg::gpu<1>>([](const auto& in) { return tg::dense<"upper", 2>(in); })(lower);
  auto loss = tg::mean(tg::square(upper - y));
  auto train = tg::minimize(loss, tg::adam{.learning_rate = 0.02});
  auto program = tg::compile([=] { return tg::outputs(loss, train); });
  std::fputs(tg::explain(program, tg::outputs(loss), 8).c_str(), stdout);

  tg::tensor<float> inputs({8, 4}), targets({8, 2});
  for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i] = static_cast<float>(i * 7 % 16) / 16;
  for (std::size_t i = 0; i < targets.size(); ++i) targets[i] = static_cast<float>(i % 3) / 2;

  try {
    tg::session session(program, {.seed = 1, .gpu = {.memory_fraction = 0.1, .allow_growth = true}});
    for (int i = 0; i <= 40; ++i) {
      const float l = std::get<0>(session.run(tg::fetch(loss, train), x = inputs, y = targets));
      if (i % 10 == 0) std::printf("step %2d, loss %.3f\n", i, static_cast<double>(l));
    }
    tg::trace timeline;
    session.run(train, x = inputs, y = targets, tg::trace_to(timeline));
    std::printf("%zu steps in a timeline\n", timeline.size());
  } catch (const tg::error& e) {
    std::printf("%s\n", e.what());  // such as a machine with one GPU
  }
}
