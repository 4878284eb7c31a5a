// SPDX-License-Identifier: BSL-1.0
#include "tagma/train/fit.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "support/errors.hpp"
#include "support/temporary_directory.hpp"
#include "tagma/base/file.hpp"
#include "tagma/datasets.hpp"
#include "tagma/fit.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using tg::test::temporary_directory;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 3>();
constexpr auto y = tg::placeholder<"y", float, tg::dyn>();

const auto predicted = tg::reshape<tg::dyn>(tg::dense<"line", 1>(x));
const auto loss = tg::mean(tg::square(predicted - y));
const auto train = tg::minimize(loss, tg::sgd{.learning_rate = 0.1});
const auto program = tg::compile([] { return tg::outputs(train, loss); });
using sessions = tg::session<std::remove_const_t<decltype(program)>>;

struct examples {
  tg::tensor<float> inputs;
  tg::tensor<float> labels;
};
using batch = std::tuple<tg::tensor<float>, tg::tensor<float>>;

/// Batches of `rows` examples of y = x0 - 2 x1 + 1, and a last one of `last`.
template <class Batch = batch>
std::vector<Batch> line(std::uint64_t epoch, int batches = 5, tg::extent rows = 8, tg::extent last = 3) {
  std::vector<Batch> all;
  for (int b = 0; b <= batches; ++b) {
    const tg::extent n = b < batches ? rows : last;
    tg::tensor<float> in(tg::shape{n, 3}), out(tg::shape{n});
    for (tg::extent i = 0; i < n; ++i) {
      for (tg::extent k = 0; k < 3; ++k)
        in(i, k) =
            static_cast<float>(std::sin(static_cast<double>(epoch) * 1000 + static_cast<double>(b * 100 + i * 10 + k)));
      out(i) = in(i, 0) - 2 * in(i, 1) + 1;
    }
    all.push_back({std::move(in), std::move(out)});
  }
  return all;
}

TEST_CASE("fit does what the loop written by hand does") {
  sessions by_hand(program, {.seed = 5});
  std::vector<double> means;
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    double sum = 0, rows = 0;
    for (const auto& [in, out] : line(epoch)) {
      const auto [done, value] = by_hand.run(tg::fetch(train, loss), x = in, y = out);
      sum += static_cast<double>(value) * static_cast<double>(out.size()), rows += static_cast<double>(out.size());
    }
    means.push_back(sum / rows);
  }
  sessions session(program, {.seed = 5});
  std::vector<std::string> called;
  tg::fit_options options{.epochs = 3, .progress = false};
  options.call.training_begins = [&] { called.emplace_back("training"); };
  options.call.epoch_begins = [&](std::int64_t e) { called.push_back("epoch " + std::to_string(e)); };
  options.call.step_ends = [&](std::int64_t step, const std::vector<double>& values) {
    if (step == 5) called.push_back("step " + std::to_string(values.size()));
  };
  options.call.epoch_ends = [&](const tg::training_history& h) {
    called.push_back("end " + std::to_string(h.epochs.size()));
    return true;
  };
  options.call.training_ends = [&](const tg::training_history&) { called.emplace_back("over"); };
  const auto of_epoch = [](std::uint64_t epoch) { return line(epoch); };
  const auto history = tg::fit(session, train, tg::inputs(x, y), of_epoch, options, tg::report("loss", loss));
  REQUIRE(history.epochs.size() == 3);
  for (std::size_t e = 0; e < 3; ++e) {
    CHECK(history.epochs[e].training[0] == means[e]);
    CHECK(history.epochs[e].steps == 6);
    CHECK(history.epochs[e].rows == 43);
    CHECK(history.epochs[e].validation.empty());
  }
  CHECK(history.best == 2);
  CHECK_FALSE(history.stopped_early);
  CHECK(called == std::vector<std::string>{"training", "epoch 0", "step 1", "end 1", "epoch 1", "step 1", "end 2",
                                           "epoch 2", "step 1", "end 3", "over"});
  // What makes the elements may have a state of its own.
  sessions counting(program, {.seed = 5});
  const auto again = tg::fit(
      counting, train, tg::inputs(x, y), [next = std::uint64_t{0}](std::uint64_t) mutable { return line(next++); },
      {.epochs = 3, .progress = false}, tg::report("loss", loss));
  REQUIRE(again.epochs.size() == 3);
  CHECK(again.epochs[2].training[0] == means[2]);
  // Structs are taken apart as tuples are, and what is evaluated changes nothing.
  const double before = tg::evaluate(session, tg::inputs(x, y), line<examples>(9), tg::report("loss", loss))[0];
  CHECK(before == tg::evaluate(session, tg::inputs(x, y), line(9), tg::report("loss", loss))[0]);
  CHECK(std::isnan(tg::evaluate(session, tg::inputs(x, y), std::vector<batch>{}, tg::report("loss", loss))[0]));
  CHECK(before == tg::evaluate(session, tg::inputs(x, y), line(9, 5, 8, 3), tg::report("loss", loss))[0]);
  const double with_none = tg::evaluate(session, tg::inputs(x, y), line(9, 1, 8, 0), tg::report("loss", loss))[0];
  CHECK(with_none == tg::evaluate(session, tg::inputs(x, y), line(9, 0, 8, 8), tg::report("loss", loss))[0]);
}

TEST_CASE("training that was interrupted goes on as it would have, and the best epoch is kept") {
  const temporary_directory folder;
  const auto of_epoch = [](std::uint64_t epoch) { return line(epoch, 2); };
  const auto in = tg::inputs(x, y);
  const auto with = [&](const char* name, std::int64_t epochs, sessions& session) {
    return tg::fit_options{.epochs = epochs,
                           .validate = [&] { return tg::evaluate(session, in, line(77), tg::report("loss", loss)); },
                           .checkpoints = (folder.path / name).string(),
                           .keep = 2,
                           .resume = true,
                           .progress = false};
  };
  sessions whole(program, {.seed = 3});
  const auto all = tg::fit(whole, train, in, of_epoch, with("whole", 6, whole), tg::report("loss", loss));
  {
    sessions first(program, {.seed = 3});
    (void)tg::fit(first, train, in, of_epoch, with("parts", 4, first), tg::report("loss", loss));
  }
  sessions second(program, {.seed = 3});
  const auto rest = tg::fit(second, train, in, of_epoch, with("parts", 6, second), tg::report("loss", loss));
  REQUIRE(rest.epochs.size() == 2);
  CHECK(rest.epochs[0].number == 4);
  for (std::size_t e = 0; e < 2; ++e) {
    CHECK(rest.epochs[e].training == all.epochs[e + 4].training);
    CHECK(rest.epochs[e].validation == all.epochs[e + 4].validation);
  }
  const std::set<std::string> expected = {"parts-4.safetensors", "parts-5.safetensors", "parts-best.safetensors",
                                          "whole-4.safetensors", "whole-5.safetensors", "whole-best.safetensors"};
  CHECK(folder.files() == expected);
  const auto nothing = tg::fit(second, train, in, of_epoch, with("parts", 6, second), tg::report("loss", loss));
  CHECK(nothing.epochs.empty());
  // One that begins anew leaves nothing of an earlier one of that name; one that has waited long enough does not go on.
  auto anew = with("parts", 2, second);
  anew.resume = false;
  anew.validate = nullptr;
  anew.watch = "loss";
  anew.more_is_better = true;
  (void)tg::fit(second, train, in, of_epoch, anew, tg::report("loss", loss));
  CHECK(folder.files().count("parts-5.safetensors") == 0);
  CHECK(folder.files().count("parts-1.safetensors") == 1);
  anew.resume = true;
  anew.epochs = 9;
  anew.patience = 1;
  const auto over = tg::fit(second, train, in, of_epoch, anew, tg::report("loss", loss));
  CHECK(over.epochs.empty());
  CHECK(over.stopped_early);
}

TEST_CASE("training ends when nothing gets better, and what was best can be had back") {
  const temporary_directory folder;
  sessions session(program, {.seed = 3});
  const auto in = tg::inputs(x, y);
  std::vector<double> scores = {0.1, 0.5, 0.9, 0.95, 0.8, 0.7, 0.6};
  std::size_t next = 0;
  std::vector<double> kernel_of_best;
  tg::fit_options options{.epochs = 100,
                          .validate =
                              [&] {
                                return std::vector<double>{0, scores.at(next++)};
                              },
                          .watch = "score",
                          .more_is_better = true,
                          .least_change = 0.1,
                          .patience = 3,
                          .checkpoints = (folder.path / "deep" / "model").string(),
                          .restore_best = true,
                          .log_directory = (folder.path / "log").string(),
                          .picture = (folder.path / "curves.svg").string(),
                          .progress = false};
  options.call.epoch_ends = [&](const tg::training_history& h) {
    if (h.epochs.size() == 3) kernel_of_best = tg::evaluate(session, in, line(5), tg::report("loss", loss));
    return true;
  };
  const auto history = tg::fit(
      session, train, in, [](std::uint64_t e) { return line(e, 1); }, options, tg::report("loss", loss),
      tg::report("score", loss));
  CHECK(history.epochs.size() == 6);  // 0.95 is better by less than was asked for
  CHECK(history.best == 2);
  CHECK(history.stopped_early);
  CHECK(tg::evaluate(session, in, line(5), tg::report("loss", loss)) == kernel_of_best);
  const std::string picture = tg::read_file((folder.path / "curves.svg").string());
  CHECK(picture.find("<circle") != std::string::npos);
  CHECK(picture.find("score") != std::string::npos);
  CHECK(picture.rfind("</svg>") == picture.size() - 7);
  CHECK(folder.files().size() == 3);  // the folder of checkpoints, the picture and the directory of events
}

TEST_CASE("what cannot be asked for is told before anything runs") {
  sessions session(program, {.seed = 3});
  const auto in = tg::inputs(x, y);
  bool ran = false;
  const auto data = [&](std::uint64_t e) {
    ran = true;
    return line(e);
  };
  const auto problem = [&](tg::fit_options o) {
    return tg::test::text_of([&] { (void)tg::fit(session, train, in, data, o, tg::report("loss", loss)); });
  };
  CHECK(problem({.watch = "accuracy"}) ==
        "InvalidArgument: fit: no report is called 'accuracy', which is to be watched");
  CHECK(problem({.resume = true}).find("needs the name of checkpoints") != std::string::npos);
  CHECK(problem({.patience = -1}).starts_with("InvalidArgument: fit: epochs, patience"));
  CHECK_FALSE(ran);
  CHECK(problem({.epochs = 1,
                 .validate =
                     [] {
                       return std::vector<double>{1, 2};
                     },
                 .progress = false}) == "InvalidArgument: fit: validation gave 2 values for 1 reports");
  tg::training_history strange{{"a<b", "none"}, {}, -1, false};
  strange.epochs.push_back({0, 1, 1, 0, {std::nan(""), INFINITY}, {}});
  strange.epochs.push_back({1, 1, 1, 0, {1e300, 2}, {-1e300}});
  const std::string picture = strange.svg();
  CHECK(picture.find("a&lt;b") != std::string::npos);
  CHECK(picture.find("nan") == std::string::npos);
  CHECK(picture.find("inf") == std::string::npos);
  CHECK(tg::training_history{{"loss"}, {}, -1, false}.svg().rfind("</svg>") != std::string::npos);
}

}  // namespace
