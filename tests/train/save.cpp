// SPDX-License-Identifier: BSL-1.0
#include "tagma/train/save.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/errors.hpp"
#include "support/temporary_directory.hpp"
#include "tagma/tagma.hpp"

using tagma::test::temporary_directory, tagma::test::thrown;

namespace fs = std::filesystem;
namespace st = tagma::safetensors;
namespace tg = tagma;
using tagma::dtype;
using tagma::status_code;

namespace {

/// The bytes of every variable.
auto bytes_of(auto& session) {
  std::vector<std::vector<std::byte>> all;
  auto& core = session.core();
  for (std::size_t i = 0; i < core.variables().size(); ++i) {
    const tg::raw_view value = core.variable(i).view();
    const auto* first = static_cast<const std::byte*>(value.data);
    all.emplace_back(first, first + static_cast<std::size_t>(value.dims.elements()) * tg::size_of(value.type));
  }
  return all;
}

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 2>();
constexpr auto w =
    tg::variable<"layer/kernel", float, 2, 3>(tg::static_initializer<tg::initializer_kind::glorot_uniform>{});
constexpr auto count = tg::variable<"count", std::int64_t>(tg::static_initializer<tg::initializer_kind::zeros>{});
constexpr auto y = tg::matmul(x, w);
constexpr auto loss = tg::mean(tg::square(y));

constexpr auto make_train = [] {
  return tg::group(tg::assign_sub(w, tg::constant<"rate">(0.1f) * tg::gradient(loss, w)), tg::assign_add(count, 1));
};
auto make_program() {
  return tg::compile([] { return tg::outputs(loss, make_train(), y); });
}
using program = decltype(make_program());

const tg::tensor<float> input(tg::shape{2, 2}, {1, -2, 0.5f, 3});

}  // namespace

TEST_CASE("a session takes up where another one stopped") {
  const temporary_directory dir;
  const std::string path = dir / "model.safetensors";
  const program p = make_program();
  const auto train = [](auto& session, int runs) {
    for (int i = 0; i < runs; ++i) session.run(make_train(), x = input);
  };
  tg::session uninterrupted(p, {.seed = 7});
  train(uninterrupted, 5);
  tg::session first(p, {.seed = 7});
  train(first, 2);
  tg::save(first, path, {{"epoch", "two"}});

  tg::session second(p, {.seed = 7, .initialize = false});
  CHECK(thrown([&] { second.run(y, x = input); }).code() == status_code::failed_precondition);
  const st::metadata texts = tg::restore(second, path);
  CHECK(texts.at("epoch") == "two");
  CHECK(texts.at("step") == "2");
  CHECK(bytes_of(second) == bytes_of(first));
  CHECK(second.core().step() == 2);
  train(second, 3);
  CHECK(bytes_of(second) == bytes_of(uninterrupted));
  CHECK(second.core().step() == uninterrupted.core().step());
  CHECK(bytes_of(second) != bytes_of(first));
}

TEST_CASE("what was saved is read by Python's standard library") {
  const temporary_directory dir;
  const std::string path = dir / "model.safetensors";
  tg::session session(make_program(), {.seed = 3});
  session.run(make_train(), x = input);
  tg::save(session, path);

  const fs::path script = fs::path(__FILE__).parent_path().parent_path() / "io" / "safetensors_reader.py";
  const std::string listing = dir / "listing";
  const std::string command = "python3 '" + script.string() + "' --list '" + path + "' > '" + listing + "'";
  REQUIRE(std::system(command.c_str()) == 0);
  std::string expected = "count I64 [] 1\nlayer/kernel F32 [2, 3]";
  const auto bytes = bytes_of(session);
  const auto& kernel = bytes[session.core().variable(0).name() == "count" ? 1 : 0];
  for (std::size_t i = 0; i < kernel.size() / sizeof(float); ++i) {
    float value = 0;
    std::memcpy(&value, kernel.data() + i * sizeof value, sizeof value);
    char text[64];
    std::snprintf(text, sizeof text, " %.9g", static_cast<double>(value));
    expected += text;
  }
  CHECK(tg::read_file(listing) == expected + "\n__metadata__ format=pt step=1\n");
}

TEST_CASE("a restore that fails leaves the session as it was") {
  const temporary_directory dir;
  const std::string path = dir / "model.safetensors", sound = dir / "sound.safetensors";
  tg::session session(make_program(), {.seed = 1});
  tg::save(session, sound);
  session.run(make_train(), x = input);
  const auto before = bytes_of(session);
  const auto step = session.core().step();

  const float numbers[6] = {1, 2, 3, 4, 5, 6};
  const std::int64_t one = 1;
  const st::named_tensor kernel{"layer/kernel", dtype::float32, {2, 3}, numbers},
      counter{"count", dtype::int64, {}, &one};
  const auto refused = [&](std::vector<st::named_tensor> tensors, const st::metadata& texts = {}) {
    st::write(path, tensors, texts);
    const auto e = thrown([&] { tg::restore(session, path); });
    CHECK(bytes_of(session) == before);
    CHECK(session.core().step() == step);
    return std::string(e.what());
  };
  CHECK(refused({kernel}) ==
        "NotFound: " + path +
            ": there is no tensor for variable 'count', which is int64 []; the nearest is 'layer/kernel'");
  CHECK(refused({counter}) ==
        "NotFound: " + path +
            ": there is no tensor for variable 'layer/kernel', which is float32 [2, 3]; the nearest is 'count'");
  CHECK(refused({counter, {"layer/kernel", dtype::float32, {3, 2}, numbers}}) ==
        "InvalidArgument: " + path +
            ": tensor 'layer/kernel' is float32 [3, 2], the variable of that name is float32 [2, 3]; the axes {1, 0} "
            "fit");
  CHECK(refused({{"count", dtype::int32, {}, &one}, kernel}) ==
        "InvalidArgument: " + path + ": tensor 'count' is int32 [], the variable of that name is int64 []");
  for (const char* text : {"x", "", "3x", "-1", "99999999999999999999"})
    CHECK(refused({counter, kernel}, {{"step", text}}) ==
          "DataLoss: " + path + ": the text \"step\" is \"" + text + "\", expected the number of a run");

  const std::string content = tg::read_file(sound);
  for (const std::size_t size : {content.size() - 1, content.size() - 30, std::size_t{9}, std::size_t{0}}) {
    const std::string_view pieces[] = {std::string_view(content).substr(0, size)};
    tg::replace_file(path, pieces);
    const auto e = thrown([&] { tg::restore(session, path); });
    CHECK(e.code() == status_code::data_loss);
    CHECK(std::string(e.what()).find(path) != std::string::npos);
    CHECK(bytes_of(session) == before);
  }
  CHECK(thrown([&] { tg::restore(session, dir / "none"); }).code() == status_code::not_found);
  CHECK(bytes_of(session) == before);

  SECTION("and one that succeeds ignores further tensors and keeps the number of runs where the file has none") {
    const st::named_tensor more[] = {kernel, {"other", dtype::float32, {2}, numbers}, counter};
    st::write(path, more);
    tg::restore(session, path);
    CHECK(bytes_of(session) != before);
    CHECK(session.core().step() == step);
    CHECK(session.run(y, x = input)(0, 2) == 3.0f - 2 * 6.0f);
  }
}

TEST_CASE("what cannot be saved is refused and leaves the old file") {
  const temporary_directory dir;
  const std::string path = dir / "model.safetensors";
  const std::string_view old[] = {"old"};
  tg::replace_file(path, old);
  tg::session empty(make_program(), {.initialize = false});
  const auto e = thrown([&] { tg::save(empty, path); });
  CHECK(e.code() == status_code::failed_precondition);
  CHECK(std::string(e.what()).find("has no value yet") != std::string::npos);
  tg::session session(make_program());
  CHECK(thrown([&] { tg::save(session, path, {{"step", "1"}}); }).code() == status_code::invalid_argument);
  CHECK(tg::read_file(path) == "old");
}

TEST_CASE("a file never has one half of an update") {
  const temporary_directory dir;
  const std::string path = dir / "model.safetensors";
  tg::session session(make_program(), {.seed = 5, .intra_op_threads = 1});
  tg::session replay(make_program(), {.seed = 5, .intra_op_threads = 1});
  std::thread trainer([&] {
    for (int i = 0; i < 300; ++i) session.run(make_train(), x = input);
  });
  std::int64_t runs = 0;
  for (int i = 0; i < 10; ++i) {
    tg::save(session, path);
    const st::file stored(path);
    const std::int64_t now = stored.load<std::int64_t>("count")();
    for (; runs < now; ++runs) replay.run(make_train(), x = input);
    const auto kernel = stored.load<float>("layer/kernel");
    tg::save(replay, path);
    CHECK(st::file(path).load<float>("layer/kernel").span()[0] == kernel.span()[0]);
    CHECK(stored.metadata().at("step") == std::to_string(now));
  }
  trainer.join();
}

TEST_CASE("a run that waits to update is not counted yet") {
  tg::session session(make_program(), {.seed = 5, .intra_op_threads = 1});
  session.run(make_train(), x = input);
  const std::uint64_t before = session.core().step();
  std::thread trainer;
  {
    const tg::runtime::session_core::pass saving(session.core(), false, {});
    trainer = std::thread([&] { session.run(make_train(), x = input); });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    CHECK(session.core().step() == before);
  }
  trainer.join();
  CHECK(session.core().step() == before + 1);
}

namespace {

/// Counts its runs: every element of `counted` is the number of runs.
constexpr auto counted = tg::variable<"counted", float, 500, 500>(tg::zeros);
constexpr auto add_one = [] {
  return tg::group(tg::assign(counted, counted + tg::constant<"one">(1.0f)), tg::assign_add(count, 1));
};
auto make_counter() {
  return tg::compile([] { return tg::outputs(add_one()); });
}
constexpr const char* path_of_child = "TAGMA_TEST_SAVER";

}  // namespace

// The process that the next test starts and kills.
TEST_CASE("saves after each step until it is killed", "[.]") {
  const char* const path = std::getenv(path_of_child);
  if (path == nullptr) return;
  tg::session session(make_counter(), {.intra_op_threads = 1});
  if (fs::exists(path)) tg::restore(session, path);
  for (int i = 0;; ++i) {
    session.run(add_one());
    tg::save(session, path);
    if (i == 0 && ::write(STDOUT_FILENO, "!", 1) != 1) return;
  }
}

TEST_CASE("a process that is killed while it saves leaves a whole checkpoint") {
  const temporary_directory dir;
  const std::string path = dir / "model.safetensors";
  ::setenv(path_of_child, path.c_str(), 1);
  std::mt19937 random(17);
  std::int64_t runs = 0;
  for (int kills = 0; kills < 40; ++kills) {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // it would go on for ever
      ::dup2(ends[1], STDOUT_FILENO);
      ::execl("/proc/self/exe", "tests_train", "-o", "/dev/null", "saves after each step until it is killed", nullptr);
      ::_exit(1);
    }
    ::close(ends[1]);
    char sign = 0;
    const bool saved = ::read(ends[0], &sign, 1) == 1;
    ::close(ends[0]);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 8000));
    ::kill(child, SIGKILL);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(saved);
    REQUIRE(WIFSIGNALED(status));

    const st::file stored(path);
    const auto now = stored.load<std::int64_t>("count")();
    CHECK(now > runs);
    CHECK(stored.metadata().at("step") == std::to_string(now));
    const auto values = stored.load<float>("counted");
    CHECK(std::count(values.span().begin(), values.span().end(), static_cast<float>(now)) == 250'000);
    runs = now;
  }
  ::unsetenv(path_of_child);
  tg::session session(make_counter(), {.intra_op_threads = 1});
  tg::restore(session, path);
  tg::save(session, path);
  CHECK(std::distance(fs::directory_iterator(dir.path), fs::directory_iterator()) == 1);
}

TEST_CASE("a folder that is missing is named") {
  const temporary_directory dir;
  tg::session session(make_counter());
  CHECK(std::string(thrown([&] { tg::save(session, dir / "runs/today/model.safetensors"); }).what()) ==
        "NotFound: " + (dir / "runs/today/model.safetensors") + ": cannot be created: directory " +
            (dir / "runs/today/") + ": No such file or directory");
}
