// SPDX-License-Identifier: BSL-1.0
#include "tagma/runtime/placement_log.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>

#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using Catch::Contains;

static_assert(!tg::placement_log() && !tg::placement_log(false));

tg::tensor<float> numbers(const tg::shape& dims, float first) {
  tg::tensor<float> t(dims);
  for (std::size_t i = 0; i < t.size(); ++i) t.data()[i] = first + static_cast<float>(i) / 8;
  return t;
}

/// What `f` writes to standard error.
std::string standard_error(const auto& f) {
  std::FILE* const file = std::tmpfile();
  REQUIRE(file != nullptr);
  const int before = dup(2);
  dup2(fileno(file), 2);
  f();
  dup2(before, 2);
  close(before);
  std::string text(4096, '\0');
  std::rewind(file);
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

TEST_CASE("log_device_placement tells where nodes run and what is copied, once for each plan") {
  const auto v = tg::on<tg::cpu<0>>(tg::variable<"v", float, 4>(tg::zeros));
  const auto fed = tg::placeholder<"fed", float, 4>();
  const auto e = tg::on<tg::cpu<1>>(tg::exp(v) + fed);
  const auto program = tg::compile([=] { return tg::outputs(e); });
  const auto log = [&](const tg::session_options& options) {
    return standard_error([&] {
      tg::session session(program, options);
      session.run(e, fed = numbers({4}, 0));
      session.run(e, fed = numbers({4}, 1));
    });
  };
  CHECK(log({.cpu_devices = 2, .log_device_placement = true}) ==
        "v: (variable): /job:localhost/replica:0/task:0/device:CPU:0, asked for\n"
        "exp #1: (exp): /job:localhost/replica:0/task:0/device:CPU:1, asked for\n"
        "fed: (placeholder): /job:localhost/replica:0/task:0/device:CPU:0, fed there\n"
        "add #3: (add): /job:localhost/replica:0/task:0/device:CPU:1, asked for\n"
        "copy of variable 'v': /device:CPU:0 to /device:CPU:1, 16 bytes\n");
  CHECK_THAT(
      log({.allow_soft_placement = true, .log_device_placement = true}),
      Contains("v: (variable): /job:localhost/replica:0/task:0/device:CPU:0, asked for\n") &&
          Contains("exp #1: (exp): /job:localhost/replica:0/task:0/device:CPU:0, instead of what is asked for\n"));
}

TEST_CASE("whether placement is logged may be known at run time alone") {
  const auto v = tg::variable<"v", float>(tg::zeros);
  const auto program = tg::compile([=] { return tg::outputs(v); });
  for (const bool wanted : {false, true}) {
    CHECK(static_cast<bool>(tg::placement_log(wanted)) == wanted);
    CHECK(standard_error([&] { tg::session(program, {.log_device_placement = wanted}).run(v); }) ==
          (wanted ? "v: (variable): /job:localhost/replica:0/task:0/device:CPU:0, the only one\n" : ""));
  }
}

}  // namespace
