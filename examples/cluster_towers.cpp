// SPDX-License-Identifier: BSL-1.0
// In-graph replication on a cluster: one client has both replicas in one program, and servers that know nothing of it
// run them. Workers compute gradients of half a batch each, their average updates the variables of the parameter
// server. That is training by one process with whole batches, but for the order of sums.
//
//     cluster_towers tagma://localhost:2222        # any server of a cluster with one ps and two workers
//
// Without arguments it starts these servers itself.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "tagma/servers.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr tg::extent half = 16;
constexpr auto x = tg::placeholder<"x", float, 2 * half, 8>();
constexpr auto y = tg::placeholder<"y", std::uint8_t, 2 * half>();
constexpr auto kernel = tg::variable<"kernel", float, 8, 3>(tg::glorot_uniform);
constexpr auto bias = tg::variable<"bias", float, 3>(tg::zeros);

auto mean_loss(const auto& rows, const auto& classes) {
  return tg::mean(tg::sparse_softmax_cross_entropy(tg::matmul(rows, kernel) + bias, classes));
}
/// The gradients of half of the batch, computed by a worker: gradients are where the operations are that they are of.
template <int Worker>
auto replica() {
  constexpr tg::range rows{Worker * half, (Worker + 1) * half};
  constexpr auto place = [](tg::op_info op) {
    return op.is_variable ? "/job:ps/task:0" : Worker == 0 ? "/job:worker/task:0" : "/job:worker/task:1";
  };
  return tg::compute_gradients(tg::on<place>(mean_loss(tg::slice<rows>(x), tg::slice<rows>(y))), kernel, bias);
}

/// The parameters after some steps.
auto train(auto& session, const auto& step) {
  tg::tensor<float> rows({2 * half, 8});
  tg::tensor<std::uint8_t> classes({2 * half});
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<float>(i * 29 % 64) / 32 - 1;
  for (std::size_t i = 0; i < classes.size(); ++i) classes[i] = static_cast<std::uint8_t>(i * 5 % 7 % 3);
  for (int i = 0; i < 20; ++i) session.run(step, x = rows, y = classes);
  return session.run(tg::fetch(kernel, bias));
}

int main(int argc, char** argv) try {
  std::string target = argc > 1 ? argv[1] : "";
  std::vector<std::unique_ptr<tg::server>> servers;
  if (target.empty()) {
    const tg::cluster cluster({{"ps", {"localhost:27186"}}, {"worker", {"localhost:27187", "localhost:27188"}}});
    for (const tg::role_options& who : {tg::role_options{"ps", 0}, {"worker", 0}, {"worker", 1}})
      servers.push_back(std::make_unique<tg::server>(tg::role(cluster, who)));
    target = servers[0]->target();
  }
  const auto step =
      tg::apply_gradients(tg::momentum{.learning_rate = 0.05}, tg::average_gradients(replica<0>(), replica<1>()));
  const auto replicated = tg::compile([=] { return tg::outputs(step, kernel, bias); });
  tg::remote_session cluster(replicated, target, {.container = "towers", .seed = 4});
  const auto [kernel_there, bias_there] = train(cluster, step);

  const auto whole_step =
      tg::apply_gradients(tg::momentum{.learning_rate = 0.05}, tg::compute_gradients(mean_loss(x, y), kernel, bias));
  tg::session here(tg::compile([=] { return tg::outputs(whole_step, kernel, bias); }), {.seed = 4});
  const auto [kernel_here, bias_here] = train(here, whole_step);

  float most = 0;
  for (std::size_t i = 0; i < kernel_here.size(); ++i)
    most = std::max(most, std::abs(kernel_here[i] - kernel_there[i]));
  for (std::size_t i = 0; i < bias_here.size(); ++i) most = std::max(most, std::abs(bias_here[i] - bias_there[i]));
  std::printf("largest difference from one process with whole batches: %s\n",
              most < 1e-5f ? "below 1e-5" : "too large");
} catch (const tg::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
