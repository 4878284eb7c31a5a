// SPDX-License-Identifier: BSL-1.0
// A trainer for kills.py, which kills what it needs:
//
//     kill_client CLUSTER WORKER chief|other|restoring STEPS
//
// It fits a line on one worker with variables on two parameter servers, until its first counter has counted STEPS. A
// line of standard output says what it finds whenever it has a session, "made COUNT COUNT", what each run has counted,
// "ran COUNT COUNT", and at the end "fit SLOPE OFFSET". With TAGMA_TEST_INSECURE it goes to other hosts without a secret.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tagma/servers.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

tg::any_program program() {
  return tg::any_program(
      tg::compile([] {
        constexpr auto x = tg::placeholder<"x", float, 16>();
        const auto slope = tg::on<"/job:ps/task:0">(tg::variable<"slope", float>(0.0f));
        const auto offset = tg::on<"/job:ps/task:1">(tg::variable<"offset", float>(0.0f));
        const auto first = tg::on<"/job:ps/task:0">(tg::variable<"first", std::int64_t>(tg::zeros));
        const auto second = tg::on<"/job:ps/task:1">(tg::variable<"second", std::int64_t>(tg::zeros));
        const auto wrong = x * slope + offset - (3.0f * x + 1.0f);
        const auto a = tg::on<"/job:ps/task:0">(tg::assign_sub(slope, 0.2f * tg::mean(wrong * x)));
        const auto b = tg::on<"/job:ps/task:1">(tg::assign_sub(offset, 0.2f * tg::mean(wrong)));
        const auto one = tg::on<"/job:ps/task:0">(tg::assign_add(first, std::int64_t{1}) * std::int64_t{1});
        const auto two = tg::on<"/job:ps/task:1">(tg::assign_add(second, std::int64_t{1}) * std::int64_t{1});
        return tg::outputs(a, b, one, two, tg::on<"/job:ps/task:0">(first * std::int64_t{1}),
                           tg::on<"/job:ps/task:1">(second * std::int64_t{1}), tg::on<"/job:ps/task:0">(slope * 1.0f),
                           tg::on<"/job:ps/task:1">(offset * 1.0f));
      }),
      {"a", "b", "one", "two", "first", "second", "slope", "offset"});
}

int main(int count, char** arguments) try {
  if (count != 5) return 2;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const tg::cluster members = tg::cluster_from_json(arguments[1]);
  const std::string kind = arguments[3];
  const std::int64_t steps = std::atoll(arguments[4]);
  tg::transport::asio::network network;
  tg::cluster_session_options how;
  how.link.self = {.job = "client", .role = "client", .incarnation = tg::service::draw_number() | 1};
  how.link.insecure = std::getenv("TAGMA_TEST_INSECURE") != nullptr;
  how.again_ns = 2'000'000'000;
  how.connect_ns = 20'000'000'000;
  how.run_ns = 30'000'000'000;
  tg::run_hooks hooks;
  hooks.session_made = [](tg::cluster_session& s) {
    const auto at = s.run({"first", "second"});
    std::printf("made %lld %lld\n", static_cast<long long>(at[0].value<std::int64_t>()),
                static_cast<long long>(at[1].value<std::int64_t>()));
  };
  tg::monitored_options options;
  options.chief = kind != "other";
  options.again_ns = 20'000'000;
  if (kind == "restoring") options.checkpoints = "fit", options.save_every_ns = 100'000'000;
  tg::monitored_session session(network, members, {"worker", std::atoi(arguments[2])}, program(), how, options,
                                {hooks});
  tg::tensor<float> x({16});
  for (std::int64_t at = 0; at < steps;) {
    for (int i = 0; i < 16; ++i) x[i] = static_cast<float>((at * 7 + i * 5) % 32) / 16.0f - 1.0f;
    const auto got = session.run({"a", "b", "one", "two"}, {tg::feed_to("x", x)});
    at = got[2].value<std::int64_t>();
    std::printf("ran %lld %lld\n", static_cast<long long>(at), static_cast<long long>(got[3].value<std::int64_t>()));
  }
  const auto fit = session.run({"slope", "offset"});
  std::printf("fit %.4f %.4f\n", static_cast<double>(fit[0].value<float>()),
              static_cast<double>(fit[1].value<float>()));
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
