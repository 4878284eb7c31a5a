// SPDX-License-Identifier: BSL-1.0
// One network on four CPU devices, each part where a scope asks for it: what the compiler planned, with every copy
// between devices, and what a session says that lacks a device. Standard error has the log of the placement.
#include <tagma/plan/print.hpp>
#include <tagma/tagma.hpp>

#include <chrono>
#include <cstdio>

namespace tg = tagma;
using namespace std::chrono_literals;
constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();
constexpr auto y = tg::placeholder<"y", float, tg::dyn, 2>();

constexpr auto variables_apart = [](tg::op_info op) { return op.is_variable ? "/cpu:0" : "/cpu:3"; };
constexpr tg::replica_device_setter setter{.ps_tasks = 1, .ps_device = "/cpu:0", .worker_device = "/cpu:1"};

int main() {
  auto layer = [](const auto& in) { return tg::dense<"layer", 3>(in, tg::tanh); };
  auto output = [](const auto& in) { return tg::dense<"output", 2>(in); };

  auto w = tg::on<tg::cpu<0>>(tg::variable<"w", float, 4, 6>(tg::glorot_uniform));  // a device
  auto a = tg::on<tg::cpu<1>>(tg::relu(tg::matmul(x, w)));                          // w stays: it has its own scope
  auto b = tg::on<"/job:localhost/task:0/cpu:2">(tg::square)(a);                    // TensorFlow's name for one
  auto c = tg::on<variables_apart>(layer)(b);                                       // a function of each operation
  auto d = tg::on<setter>(output)(c);                                               // variables here, the rest there
  auto seen = tg::on<tg::cpu<0>>(tg::variable<"seen", float>(0.0f, tg::not_trainable));
  auto more = tg::after(d)(tg::assign_add(seen, 1.0f));  // not before d is there
  auto loss = tg::mean(tg::square(d - y));               // outside of all scopes
  auto train = tg::minimize(loss, tg::sgd{.learning_rate = 0.1});

  auto program = tg::compile([=] { return tg::outputs(loss, more, train); });
  std::fputs(tg::explain(program, tg::outputs(loss, more), 8).c_str(), stdout);

  tg::tensor<float> inputs({8, 4}), targets({8, 2});
  for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i] = static_cast<float>(i * 7 % 16) / 16;
  for (std::size_t i = 0; i < targets.size(); ++i) targets[i] = static_cast<float>(i % 3) / 2;

  const tg::session_options options{.seed = 1,
                                    .intra_op_threads = 2,  // threads of each device
                                    .inter_op_threads = 2,  // steps at a time
                                    .cpu_devices = 4,
                                    .log_device_placement = true};
  tg::session session(program, options);
  const float before = session.run(loss, x = inputs, y = targets);
  for (int step = 0; step < 50; ++step) session.run(train, tg::timeout(1min), x = inputs, y = targets);
  const auto [after, times] = session.run(tg::fetch(loss, more), x = inputs, y = targets);
  std::printf("\nthe loss %s, seen %g times\n", after < before / 2 ? "is less than half" : "did not fall",
              static_cast<double>(times));

  try {
    tg::session small(program, {.seed = 1, .cpu_devices = 2});
  } catch (const tg::error& e) {
    std::printf("\nwith two devices: %s\n", e.what());
  }
  tg::session soft(program, {.seed = 1, .cpu_devices = 2, .allow_soft_placement = true});
  std::printf("\nplaced softly, the loss is the same: %s\n",
              soft.run(loss, x = inputs, y = targets) == before ? "yes" : "no");
}
