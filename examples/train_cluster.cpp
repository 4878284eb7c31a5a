// SPDX-License-Identifier: BSL-1.0
// Asynchronous training of Fashion-MNIST from one binary: parameter servers keep the variables, each worker computes
// gradients of batches of its own and updates them when it is done.
//
//     examples/start_cluster.py --ps 2 --workers 2 build/check/examples/example_train_cluster --epochs 3
//
// starts on this machine, as one would by hand on several ones,
//
//     train_cluster --ps_hosts=a:2222,b:2222 --worker_hosts=c:2222,d:2222 --job=ps --task=0      # on a, and so on
//
// Of all other ways to say so (TF_CONFIG, Slurm, ...) see docs/cluster.md. By itself it is a cluster of one. Between
// machines it needs a secret, `--secret-file FILE`. run: --data {fashion_mnist} --epochs 1
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "tagma/data/fashion_mnist.hpp"
#include "tagma/servers.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 28, 28, 1>();
constexpr auto y = tg::placeholder<"y", std::uint8_t, tg::dyn>();

constexpr auto hidden = tg::dense<"hidden", 100>(tg::flatten(x), tg::relu);
constexpr auto logits = tg::dense<"logits", 10>(hidden);
constexpr auto loss = tg::mean(tg::sparse_softmax_cross_entropy(logits, y));
constexpr auto accuracy = tg::mean(tg::cast<float>(tg::equal(tg::argmax(logits), y)));
/// How many workers are done.
constexpr auto finished = tg::variable<"finished", int>(tg::zeros);

struct settings {
  std::string data, secret;
  int epochs = 1, batch = 64;
};

/// A worker has a program of its own. Its variables are those of all, on the parameter servers; what it computes is
/// where its session begins, at its own task.
template <int Servers>
void work(const tg::role& role, const tg::server& own, const settings& s) {
  const auto train = tg::minimize(loss, tg::momentum{.learning_rate = 0.02});
  const auto finish = tg::assign_add(finished, 1);
  const auto program = tg::compile([=] {
    return tg::on<tg::replica_device_setter{.ps_tasks = Servers}>(tg::outputs(loss, accuracy, train, finished, finish));
  });
  tg::cluster_session_options how;
  how.seed = 42;
  how.link.secret = s.secret;
  tg::remote_session session(program, own.target(), how);

  const tg::fashion_mnist_data data = s.data.empty() ? tg::fashion_mnist() : tg::fashion_mnist(s.data);
  const int workers = Servers == 0 ? 1 : static_cast<int>(role.cluster().num_tasks("worker"));
  // An order of all images for each worker, which does its share of the steps of an epoch.
  const auto order = data.train.shuffle(60'000, static_cast<std::uint64_t>(role.task()));
  const tg::extent steps = data.train.rows() / (s.batch * workers);
  for (int epoch = 0; epoch < s.epochs; ++epoch) {
    tg::extent step = 0;
    double total = 0;
    for (const auto& [images, labels] : order.epoch(static_cast<std::uint64_t>(epoch)).batch(s.batch).prefetch(2)) {
      total += static_cast<double>(std::get<0>(session.run(tg::fetch(loss, train), x = images, y = labels)));
      if (++step == steps) break;
    }
    std::printf("epoch %d: loss %.4f\n", epoch + 1, total / static_cast<double>(step));
  }
  session.run(finish);
  if (!role.is_chief()) return;
  while (session.run(finished) < workers) ::usleep(10'000);
  const float right = session.run(accuracy, x = data.test.images, y = data.test.labels);
  std::printf("test accuracy %.4f\n", static_cast<double>(right));
}

std::string read_line(const char* path) {
  std::ifstream in(path);
  std::string line;
  if (!std::getline(in, line)) tg::fail(tg::status_code::not_found, {"--secret-file: cannot read '", path, "'"});
  return line;
}

int main(int argc, char** argv) try {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  settings s;
  for (int i = 1; i + 1 < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--data") s.data = argv[i + 1];
    if (option == "--secret-file") s.secret = read_line(argv[i + 1]);
    if (option == "--epochs") s.epochs = std::atoi(argv[i + 1]);
    if (option == "--batch") s.batch = std::atoi(argv[i + 1]);
  }
  const tg::role role = tg::role_from(argc, argv);
  tg::server_options how;
  how.secret = s.secret;
  const tg::server server(role, how);
  std::printf("serves at %s\n", server.target().c_str());
  if (!role.is_ps()) switch (tg::setter_of(role.cluster()).ps_tasks) {
      case 0:
        work<0>(role, server, s);
        break;
      case 1:
        work<1>(role, server, s);
        break;
      case 2:
        work<2>(role, server, s);
        break;
      default:
        tg::fail(tg::status_code::unimplemented, "this program is written for two parameter servers at most");
    }
  if (!role.is_chief()) ::pause();  // goes on serving until it is ended
} catch (const tg::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
