// SPDX-License-Identifier: BSL-1.0
// A run that adds a number to one variable on every parameter server, as many as the batch is said to be.
#include <string>
#include <vector>

#include "client.hpp"
#include "protocol.hpp"
#include "tagma/base/version.hpp"
#include "tagma/graph_builder.hpp"

namespace tg = tagma;

int main(int count, char** arguments) {
  const peers::options options(count, arguments);
  tg::graph_builder b;
  std::vector<std::string> names;
  for (int server = 0; server < options.batch; ++server) names.push_back("add" + std::to_string(server));
  std::vector<tg::named_output> updates;
  for (int server = 0; server < options.batch; ++server) {
    const std::string number = std::to_string(server);
    const auto there = b.on("/job:ps/task:" + number);
    const auto v = b.variable("v" + number, tg::dtype::float32, {}, tg::zeros);
    updates.push_back(
        {names[static_cast<std::size_t>(server)], b.add("assign_add", {v, b.number(tg::dtype::float32, 1)})});
  }
  tg::remote_session session(b.build(updates), peers::target(), peers::session_options());
  const std::vector<tg::output_name> wanted(names.begin(), names.end());
  return peers::serve(TAGMA_VERSION,
                      [&](std::int64_t) { return static_cast<double>(session.run(wanted).front().value<float>()); });
}
