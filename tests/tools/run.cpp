// SPDX-License-Identifier: BSL-1.0
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tagma/io/npy.hpp"
#include "tagma/io/safetensors.hpp"
#include "tools/programs.hpp"

namespace tg = tagma;

namespace {

using nlohmann::json;
using tg::test::has;
using tg::test::workplace;

struct batch {
  tg::tensor<float> x{tg::shape{6, 8}};
  tg::tensor<int> labels{tg::shape{6}};

  batch() {
    for (tg::extent i = 0; i < 48; ++i) x[i] = static_cast<float>(std::sin(1.7 * static_cast<double>(i)));
    for (tg::extent i = 0; i < 6; ++i) labels[i] = static_cast<int>(i % 4);
  }
  /// Writes both as x.npy and labels.npy, and as one file of which the first has another name.
  void write(const workplace& here) const {
    tg::write_npy(here.files / "x.npy", x);
    tg::write_npy(here.files / "labels.npy", labels);
    const std::vector<tg::safetensors::named_tensor> both{{"images", tg::dtype::float32, x.dims(), x.data()},
                                                          {"labels", tg::dtype::int32, labels.dims(), labels.data()}};
    tg::safetensors::write(here.files / "both.safetensors", both);
  }
};

void check_near(const tg::tensor<float>& a, const tg::tensor<float>& b) {
  REQUIRE(a.dims() == b.dims());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a.data()[i] == Approx(b.data()[i]).margin(1e-4));
}

TEST_CASE("tagma-run computes what the compiled program does") {
  const workplace here;
  const batch data;
  data.write(here);
  const auto wanted = tg::test::ask_network(data.x, data.labels, 5);
  const std::string x = "x=" + here.files / "x.npy", labels = "labels=" + here.files / "labels.npy";
  const std::string logits = here.files / "logits.npy", all = here.files / "all.safetensors";
  const auto said = here.with_network({"--run", "--fetch", "logits", "--fetch", "loss", "--feed", x, "--feed", labels,
                                       "--seed", "5", "--output", "logits=" + logits, "--output", all, "--json"});
  REQUIRE(said.err.empty());
  REQUIRE(said.status == 0);
  const json j = json::parse(said.out);
  CHECK(j["nodes"] == 46);
  REQUIRE(j["results"].size() == 2);
  CHECK(j["results"][0]["name"] == "logits");
  CHECK(j["results"][0]["shape"] == json::parse("[6, 4]"));
  REQUIRE(j["results"][0]["elements"].size() == 24);
  CHECK(j["results"][0]["elements"][7].get<float>() == Approx(wanted.logits[7]).margin(1e-4));
  CHECK(j["results"][1]["elements"][0].get<float>() == Approx(wanted.loss).margin(1e-4));
  check_near(tg::read_npy<float>(logits), wanted.logits);
  const tg::safetensors::file written(all);
  check_near(written.load<float>("logits"), wanted.logits);
  CHECK(written.load<float>("loss").dims().rank == 0);

  // The same from the other kind of file, with a key and without; one output needs no name.
  const std::string both = here.files / "both.safetensors";
  const auto again = here.with_network({"--run", "--fetch", "logits", "--feed", "x=" + both + ":images", "--feed",
                                        "labels=" + both, "--seed", "5", "--output", logits});
  REQUIRE(again.err.empty());
  CHECK(has(again.out, "logits: float32 [6, 4]\n[["));
  check_near(tg::read_npy<float>(logits), wanted.logits);
  // An output may be fed, and what it needs is not.
  const auto fed = here.with_network({"--run", "--fetch=loss", "--feed=logits=zeros", "--feed=labels=1", "--batch=3"});
  REQUIRE(fed.err.empty());
  CHECK(has(fed.out, "loss: float32 [] 1.386"));
}

TEST_CASE("tagma-run makes inputs") {
  const workplace here;
  const auto run = [&](std::initializer_list<std::string> more) {
    std::vector<std::string> words{here.network, "--run", "--fetch", "logits"};
    words.insert(words.end(), more.begin(), more.end());
    const auto said = here.run(words);
    CHECK(said.err.empty());
    CHECK(said.status == 0);
    return said.out;
  };
  const std::string one = run({"--feed", "x=random", "--batch", "2", "--seed", "7"});
  CHECK(one == run({"--feed", "x=random:2,8", "--seed", "7"}));
  CHECK(one == run({"--feed", "random", "--size", "x=2", "--seed", "7"}));
  CHECK(one != run({"--feed", "x=random", "--batch", "2", "--seed", "8"}));
  CHECK(run({"--feed", "x=ones", "--batch", "2"}) == run({"--feed", "x=1", "--batch", "2"}));
  CHECK(run({"--feed", "x=zeros", "--batch", "2"}) == run({"--feed", "x=random:2,8:0..0"}));
  // Statistics of what is large.
  const std::string large = run({"--feed", "x=random", "--batch", "1000"});
  CHECK(has(large, "logits: float32 [1000, 4], min -"));
  CHECK(has(large, ", max "));
  CHECK(has(large, ", mean "));
  CHECK(has(large, ", norm "));
  const json j = json::parse(run({"--feed", "x=random:500,8:-3..5", "--json"}));
  CHECK(j["results"][0]["min"].get<double>() < j["results"][0]["mean"].get<double>());
  CHECK(j["results"][0]["max"].get<double>() > j["results"][0]["mean"].get<double>());
  CHECK(j["results"][0]["norm"].get<double>() > 0);
  CHECK(j["results"][0]["not_finite"] == 0);
  CHECK(has(run({"--feed", "x=nan", "--batch", "100"}), "not finite 400 of 400\n"));
}

TEST_CASE("tagma-run knows every element type") {
  const workplace here;
  const std::string path = here.files / "mixture.tagma";
  tg::test::write_mixture(path);
  CHECK(has(here.run({path}).out, "devices: /device:CPU:2\n"));
  std::vector<std::string> words{path, "--run", "--feed", "random", "--size", "d=20,30", "--batch", "3", "--json"};
  for (const char* name : {"d_out", "h_out", "i_out", "u_out", "b_out", "sum", "far"}) {
    words.emplace_back("--fetch");
    words.emplace_back(name);
  }
  words.insert(words.end(), {"--feed", "u=random::250..255", "--feed", "i=random::-4..-3", "--feed", "rate=0.25"});
  const auto said = here.run(words);
  REQUIRE(said.err.empty());
  const json results = json::parse(said.out)["results"];
  CHECK(results[0]["shape"] == json::parse("[20, 30]"));
  CHECK(std::abs(results[0]["min"].get<double>()) <= 2);
  CHECK(results[0]["max"].get<double>() > 1.9);
  CHECK(results[1]["dtype"] == "float16");
  CHECK(results[1]["elements"].size() == 3);
  for (const auto& i : results[2]["elements"]) CHECK((i == -8 || i == -6));
  for (const auto& u : results[3]["elements"]) CHECK((u >= 250 && u <= 255));
  CHECK(results[4]["elements"][0].is_boolean());
  CHECK(results[5]["elements"] == json::parse("[1.25]"));
  CHECK(results[6]["elements"] == json::parse("[0.5]"));
  // Texts come from a file of NumPy's.
  std::string header = "{'descr': '|S3', 'fortran_order': False, 'shape': (2,), }";
  header.resize(118, ' ');
  here.files.put("t.npy", std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + std::string("one\x1bx\x00", 6));
  const std::string text = "t=" + here.files / "t.npy";
  const auto texts = here.run({path, "--run", "--fetch", "t_out", "--feed", text});
  CHECK(texts.err.empty());
  CHECK(has(texts.out, R"("one")"));
  CHECK(has(texts.out, R"("\x1bx")"));
  CHECK(here.run({path, "--run", "--fetch", "t_out", "--feed", "t=zeros", "--batch", "2"}).status == 2);
  const auto unwritten =
      here.run({path, "--run", "--fetch", "t_out", "--feed", text, "--output", here.files / "o.npy"});
  CHECK(unwritten.status == 2);
  CHECK(has(unwritten.err, "'t_out' is string [1, ?], which no such file has"));
  const auto small = here.run({path, "--run", "--fetch=u_out", "--feed=u=256", "--batch=3"});
  CHECK(small.status == 2);
  CHECK(has(small.err, "elements of type uint8 are whole numbers from 0 to 255\n"));
  CHECK(here.run({path, "--run", "--fetch=i_out", "--feed=i=0.5", "--batch=3"}).status == 2);
}

TEST_CASE("tagma-run trains, saves and takes up again") {
  const workplace here;
  const batch data;
  data.write(here);
  const std::string x = "x=" + here.files / "x.npy", labels = "labels=" + here.files / "labels.npy";
  const std::string weights = here.files / "weights.safetensors";
  const auto trained =
      here.with_network({"--train", "20", "--feed", x, "--feed", labels, "--seed", "3", "--save", weights});
  REQUIRE(trained.err.empty());
  CHECK(has(trained.out, "step 1: loss "));
  CHECK(has(trained.out, "step 20: loss "));
  CHECK(has(trained.out, "trained 20 steps in "));
  CHECK(tg::safetensors::file(weights).metadata().at("step") == "20");
  const auto wanted = tg::test::ask_network(data.x, data.labels, 3, 20);
  const auto asked =
      here.with_network({"--run", "--fetch", "loss", "--feed", x, "--feed", labels, "--weights", weights, "--json"});
  REQUIRE(asked.err.empty());
  CHECK(json::parse(asked.out)["results"][0]["elements"][0].get<float>() ==
        Approx(wanted.loss).epsilon(0.02).margin(1e-4));
  // Everything in one process: training, then a run; the values of every step for scripts.
  const auto both = here.with_network(
      {"--train", "20", "--run", "--fetch", "loss", "--feed", x, "--feed", labels, "--seed", "3", "--json"});
  REQUIRE(both.err.empty());
  const json j = json::parse(both.out);
  CHECK(j["train"]["steps"] == 20);
  CHECK(j["train"]["outputs"] == json::parse(R"(["train", "loss"])"));
  REQUIRE(j["train"]["values"]["loss"].size() == 20);
  CHECK(j["train"]["values"]["loss"][19].get<double>() < j["train"]["values"]["loss"][0].get<double>() / 2);
  CHECK(j["results"][0]["elements"] == json::parse(asked.out)["results"][0]["elements"]);
  // Two halves are one whole.
  const std::string half = here.files / "half.safetensors";
  CHECK(here.with_network({"--train", "10", "--feed", x, "--feed", labels, "--seed", "3", "--save", half}).status == 0);
  const auto rest = here.with_network({"--train", "10", "--run", "--fetch", "loss", "--feed", x, "--feed", labels,
                                       "--seed", "3", "--weights", half, "--json"});
  REQUIRE(rest.err.empty());
  CHECK(json::parse(rest.out)["results"] == j["results"]);
  // A run behind a training does not update once more unless it is told to.
  const auto behind =
      here.with_network({"--train", "5", "--run", "--feed", x, "--feed", labels, "--json", "--save", half});
  REQUIRE(behind.err.empty());
  REQUIRE(json::parse(behind.out)["results"].size() == 2);
  CHECK(json::parse(behind.out)["results"][1]["name"] == "logits");
  // What updates is chosen by name, where there are several; a value that an update hands out is no loss.
  const std::string mixture = here.files / "mixture.tagma";
  tg::test::write_mixture(mixture);
  const auto summed = here.run({mixture, "--train=4", "--run", "--fetch=sum", "--feed=rate=2"});
  CHECK(summed.err.empty());
  CHECK(has(summed.out, "sum: float32 [] 11\n"));
}

TEST_CASE("tagma-run measures and writes timelines") {
  const workplace here;
  const auto said = here.with_network({"--benchmark", "7", "--feed", "random", "--batch", "4", "--threads", "1"});
  REQUIRE(said.err.empty());
  CHECK(has(said.out, "measured 7 runs behind 3 others, 1 thread\nmedian "));
  for (const char* part : {"\np10 ", "\np90 ", "\nsteps/s ", "\npeak bytes "}) CHECK(has(said.out, part));
  const auto for_scripts = here.with_network(
      {"--benchmark=9", "--fetch", "logits", "--feed", "random", "--batch", "4", "--threads", "2", "--json"});
  REQUIRE(for_scripts.err.empty());
  const json j = json::parse(for_scripts.out)["benchmark"];
  CHECK(j["runs"] == 9);
  CHECK(j["threads"] == 2);
  const std::vector<double> times{j["p10_seconds"], j["median_seconds"], j["p90_seconds"]};
  CHECK(std::is_sorted(times.begin(), times.end()));
  CHECK(j["steps_per_second"] > 0);
  CHECK(j["arena_bytes"] > 0);
  CHECK(j["peak_bytes"] == j["arena_bytes"].get<int>() + 2552);

  const std::string timeline = here.files / "timeline.json";
  CHECK(here.with_network({"--run", "--feed", "random", "--batch", "4", "--trace", timeline}).status == 0);
  CHECK(json::parse(tg::test::content_of(timeline))["traceEvents"].size() > 10);
}

TEST_CASE("tagma-run shows progress on a terminal, and nowhere else") {
  const workplace here;
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE(terminal >= 0);
  REQUIRE(::grantpt(terminal) == 0);
  REQUIRE(::unlockpt(terminal) == 0);
  const int other = ::open(::ptsname(terminal), O_RDWR | O_NOCTTY);
  REQUIRE(other >= 0);
  const auto said = here.run({here.network, "--train", "5", "--feed", "random", "--batch", "4", "--json"}, -1, other);
  CHECK(said.status == 0);
  CHECK(json::parse(said.out)["train"]["steps"] == 5);
  ::close(other);  // with nobody on the other side, reading ends behind what was written
  std::string seen, part(4096, '\0');
  for (ssize_t size = 0; (size = ::read(terminal, part.data(), part.size())) > 0;)
    seen.append(part, 0, static_cast<std::size_t>(size));
  CHECK(has(seen, "train "));
  CHECK(has(seen, "5/5"));
  CHECK(has(seen, "loss "));
  ::close(terminal);
}

TEST_CASE("tagma-run says when nobody takes its output") {
  const workplace here;
  const int full = ::open("/dev/full", O_WRONLY);
  REQUIRE(full >= 0);
  const auto said = here.run({here.network}, full);
  ::close(full);
  CHECK(said.status == 1);
  CHECK(said.err == "tagma-run: standard output cannot be written\n");
}

}  // namespace
