// SPDX-License-Identifier: BSL-1.0
// A model that is cut between two workers, and outlives who trained it: another program finds its variables where they
// are, and has the servers save them.
//
//     orphaned_model tagma://localhost:2222 train     # trains, and is gone
//     orphaned_model tagma://localhost:2222 save      # knows the model, and nothing of its training
//     orphaned_model tagma://localhost:2223 use       # reads the checkpoint, with whatever servers there are now
//
// for a cluster of two workers, each `tagma-server ... --checkpoints DIR`. Without arguments it starts the servers
// itself, with the directory in which it runs, and does all three.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "tagma/servers.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 2>();
constexpr auto y = tg::placeholder<"y", float, tg::dyn, 1>();

// The lower half on worker 0, the upper one on worker 1; activations and their gradients go from one to the other.
constexpr auto hidden = tg::on<"/job:worker/task:0">(tg::dense<"hidden", 8>(x, tg::tanh));
constexpr auto output =
    tg::on<"/job:worker/task:1">([](const auto& lower) { return tg::sigmoid(tg::dense<"output", 1>(lower)); })(hidden);

const tg::tensor<float> inputs({4, 2}, {0, 0, 0, 1, 1, 0, 1, 1}), exclusive_or({4, 1}, {0, 1, 1, 0});

void train(const std::string& target) {
  const auto loss = tg::mean(tg::square(output - y));
  const auto step = tg::minimize(loss, tg::adam{.learning_rate = 0.05});
  tg::remote_session session(tg::compile([=] { return tg::outputs(loss, step); }), target, {.seed = 7});
  for (int i = 0; i < 500; ++i) session.run(step, x = inputs, y = exclusive_or);
  const float left = session.run(loss, x = inputs, y = exclusive_or);
  std::printf("trained: %s\n", left < 0.01f ? "the loss is small" : "the loss is large");
}

void save(const std::string& target) {
  tg::remote_session session(tg::compile([] { return tg::outputs(output); }), target);
  const tg::saved_checkpoint made = session.save("orphan-1");
  std::printf("saved: %s, %zu variables\n", made.name.c_str(), made.variables);
}

void use(const std::string& target) {
  tg::remote_session session(tg::compile([] { return tg::outputs(output); }), target);
  const tg::restored_checkpoint back = session.restore("orphan-*");
  std::printf("restored: %s, %zu variables\n", back.name.c_str(), back.variables);
  const tg::tensor<float> guesses = session.run(output, x = inputs);
  for (int i = 0; i < 4; ++i)
    std::printf("%g xor %g = %d\n", static_cast<double>(inputs(i, 0)), static_cast<double>(inputs(i, 1)),
                guesses[i] > 0.5f);
}

int main(int argc, char** argv) try {
  if (argc == 3) {
    const std::string what = argv[2];
    what == "train" ? train(argv[1]) : what == "save" ? save(argv[1]) : use(argv[1]);
    return 0;
  }
  const tg::cluster cluster({{"worker", {"localhost:27189", "localhost:27190"}}});
  std::vector<std::unique_ptr<tg::server>> servers;
  const auto start = [&] {
    for (const int task : {0, 1})
      servers.push_back(std::make_unique<tg::server>(tg::role(cluster, {.job = "worker", .task = task}),
                                                     tg::server_options{.checkpoints = "."}));
  };
  start();
  train(servers[0]->target());
  save(servers[0]->target());
  servers.clear();  // and with them the variables
  start();
  use(servers[1]->target());
} catch (const tg::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
