// SPDX-License-Identifier: BSL-1.0
// Examples of docs/reference/saving.md.
#include <catch2/catch.hpp>

#include <tagma/datasets.hpp>
#include <tagma/fit.hpp>
#include <tagma/tagma.hpp>
#include <tagma/train.hpp>

#include "support/errors.hpp"
#include "support/temporary_directory.hpp"
#include "support/texts.hpp"
#include "tagma/io/safetensors_index.hpp"

namespace tg = tagma;
using tagma::test::code_of;
using tagma::test::text;

TEST_CASE("reference: files of variables") {
  const tagma::test::working_directory folder;
  // example: save, restore
  auto w = tg::variable<"w", float, 2>(tg::zeros);
  auto up = tg::assign_add(w, tg::ones_like(w));
  auto program = tg::compile([=] { return tg::outputs(w, up); });
  tg::session session(program);
  session.run(up);
  tg::save(session, "model.safetensors",
           {{"epoch", "3"}});  // all variables, slots of optimizers, and the number of runs
  tg::session other(program);
  auto texts = tg::restore(other, "model.safetensors");  // texts["epoch"] is "3", texts["step"] the number of runs
  tg::tensor<float> again = other.run(w);                // [1, 1]
  // end
  CHECK(texts["epoch"] == "3");
  CHECK(texts["step"] == "1");
  CHECK(text(again) == "[1, 1]");

  // example: position_text, position_of_text
  auto examples = tg::datasets::range(100).batch(3);
  auto pass = examples.iterator();
  (void)pass.next();
  tg::save(session, "model.safetensors", {{"examples", tg::position_text(pass.state())}});
  auto saved = tg::restore(session, "model.safetensors");  // in another process, as well
  auto rest = examples.resume(tg::position_of_text(saved.at("examples")));
  tg::tensor<std::int64_t> following = rest.next();  // [3, 4, 5]
  // end
  CHECK(text(following) == "[3, 4, 5]");

  // example: safetensors::file, safetensors::stored_tensor, safetensors::metadata
  tg::safetensors::file file("model.safetensors");
  for (const tg::safetensors::stored_tensor& t : file.entries())
    std::printf("%s %s\n", t.name.c_str(), tg::to_string(t.dims).c_str());  // w [2]
  auto loaded = file.load<float>("w");                                      // [1, 1]
  // end
  CHECK(file.entries().size() == 1);
  CHECK(tg::to_string(file.entries()[0].dims) == "[2]");
  CHECK(text(loaded) == "[1, 1]");

  // example: safetensors::write, safetensors::named_tensor
  tg::tensor<float> kernel({2, 1}, {0.5f, 2});
  const tg::safetensors::named_tensor all[] = {{"kernel", tg::dtype::float32, kernel.dims(), kernel.data()}};
  tg::safetensors::write("model.safetensors", all, {{"made_by", "me"}});  // other libraries read it
  // end
  CHECK(text(tg::safetensors::file("model.safetensors").load<float>("kernel")) == "[[0.5], [2]]");
}

TEST_CASE("reference: summaries of models") {
  // example: summary, model_summary, layer_summary, summary_totals, to_string
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 8>();
  auto y = tg::dense<"hidden", 16>(x);
  tg::model_summary model = tg::summary(tg::compile([=] { return tg::outputs(y); }));
  std::int64_t parameters = model.totals.parameters;  // 144: 8 * 16 + 16
  std::string table = tg::to_string(model);           // a line for each layer and each of its variables
  // end
  CHECK(parameters == 144);
  CHECK(table.find("hidden") != std::string::npos);
}

TEST_CASE("reference: files of several machines") {
  const tagma::test::working_directory folder;
  // example: safetensors::index, safetensors::to_json, safetensors::index_from_json, safetensors::is_file_name
  tg::safetensors::index index;
  index.files["w"] = "model-00001-of-00002.safetensors";  // which file beside the index has which tensor
  index.total_size = 8;
  std::string json = tg::safetensors::to_json(index);
  tg::safetensors::index same = tg::safetensors::index_from_json(json, "model.safetensors.index.json");
  bool good = tg::safetensors::is_file_name("model-00001-of-00002.safetensors");  // true
  bool elsewhere = tg::safetensors::is_file_name("../w");                         // false: only files beside the index
  // end
  CHECK(same.files["w"] == "model-00001-of-00002.safetensors");
  CHECK(same.total_size == 8);
  CHECK(good);
  CHECK_FALSE(elsewhere);
  tg::output_file("model.safetensors.index.json").write(json.data(), json.size());
  // example: safetensors::read_index
  auto from_file = tg::safetensors::read_index("model.safetensors.index.json");  // NotFound if there is none
  const std::string& where = from_file.files["w"];                               // "model-00001-of-00002.safetensors"
  // end
  CHECK(where == "model-00001-of-00002.safetensors");
  CHECK(code_of([&] { (void)tg::safetensors::read_index("none"); }) == tg::status_code::not_found);
}

TEST_CASE("reference: training") {
  const tagma::test::working_directory folder;
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 1>();
  constexpr auto y = tg::placeholder<"y", float, tg::dyn, 1>();
  auto loss = tg::mean_squared_error(tg::dense<"line", 1>(x), y);
  auto train = tg::minimize(loss, tg::sgd{.learning_rate = 0.1});
  tg::session session(tg::compile([=] { return tg::outputs(loss, train); }), {.seed = 1});
  tg::tensor<float> xs({4, 1}, {0, 1, 2, 3}), ys({4, 1}, {1, 3, 5, 7});
  // example: fit, fit_options, fit_inputs, fit_report, training_history, training_epoch, report, inputs
  auto pairs = tg::datasets::from_slices(xs, ys);  // tuples of a row of xs and one of ys
  tg::training_history history = tg::fit(
      session, train, tg::inputs(x, y), [&](std::uint64_t epoch) { return pairs.shuffle(4, 7).epoch(epoch).batch(2); },
      {.epochs = 20, .checkpoints = "model", .restore_best = true, .progress = false}, tg::report("loss", loss));
  double at_first = history.epochs.front().training[0];  // the mean of "loss" over the first epoch
  double best = history.epochs[static_cast<std::size_t>(history.best)].training[0];  // far less
  // end
  CHECK(best < at_first / 10);
  CHECK(std::filesystem::exists("model-best.safetensors"));

  // example: evaluate
  double error =
      tg::evaluate(session, tg::inputs(x, y), pairs.batch(4), tg::report("loss", loss))[0];  // without an update
  // end
  CHECK(error < at_first);

  int called = 0;
  // example: fit_callbacks
  tg::fit_options options{.epochs = 5, .progress = false};
  options.call.epoch_ends = [&](const tg::training_history& so_far) {
    ++called;
    return so_far.epochs.size() < 2;  // false ends the training
  };
  tg::fit(
      session, train, tg::inputs(x, y), [&](std::uint64_t) { return pairs.batch(2); }, options,
      tg::report("loss", loss));
  // end
  CHECK(called == 2);
}
