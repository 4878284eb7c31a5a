// SPDX-License-Identifier: BSL-1.0
// Examples of docs/reference/looking.md.
#include <catch2/catch.hpp>

#include <tagma/data.hpp>
#include <tagma/explain.hpp>
#include <tagma/summaries.hpp>
#include <tagma/tagma.hpp>

#include <filesystem>

#include "support/temporary_directory.hpp"

namespace tg = tagma;

TEST_CASE("reference: looking at programs") {
  const tagma::test::working_directory folder;
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 2>();
  auto y = tg::sum(tg::tanh(x));
  auto program = tg::compile([=] { return tg::outputs(y); });
  tg::session session(program);
  tg::tensor<float> rows({1, 2}, {0, 0});
  // example: explain, to_dot
  std::string table = tg::explain(program, /*batch*/ 32);  // a row for each node: step, type, loop, memory; then totals
  std::string of_y = tg::explain(program, tg::outputs(y), 32);  // of a run that fetches y alone
  std::string dot = tg::to_dot(program);                        // draw it with: dot -Tsvg
  // end
  CHECK(table.find("tanh") != std::string::npos);
  CHECK(of_y.find("tanh") != std::string::npos);
  CHECK(dot.find("digraph") != std::string::npos);

  // example: trace, trace_to
  tg::trace timeline;  // outlives the runs
  session.run(y, x = rows, tg::trace_to(timeline));
  timeline.save("steps.json");  // open it at ui.perfetto.dev
  // end
  CHECK(timeline.size() > 0);
  CHECK(std::filesystem::exists("steps.json"));

  // example: build_info
  std::string built = tg::build_info();  // version, compiler, math library, instruction set, threads
  // end
  CHECK(built.find(TAGMA_VERSION) != std::string::npos);

  // example: placement_log
  tg::session told(program, {.log_device_placement = true});  // standard error: where each node runs, for each plan
  // end
}

TEST_CASE("reference: progress") {
  // example: progress_line
  std::string line = tg::progress_line("epoch 3", "images", 24000, 60000, /*seconds*/ 2.0, "loss 0.41");
  // "epoch 3  40% [########            ] 24000/60000, 12000 images/s, 3s left, loss 0.41"
  // end
  CHECK(line == "epoch 3  40% [########            ] 24000/60000, 12000 images/s, 3s left, loss 0.41");

  std::FILE* const nowhere = std::fopen("/dev/null", "w");
  int sum = 0;
  // example: progress, progress_bar
  for (int epoch : tg::progress(3, "epoch", nowhere)) sum += epoch;  // 0, 1, 2; without a file it is standard error
  tg::progress_bar bar("learning", "steps", nowhere);
  for (int step = 1; step <= 100; ++step) bar.update(step, 100, "loss 0.41");
  // end
  CHECK(sum == 3);
  std::fclose(nowhere);
}

TEST_CASE("reference: TensorBoard") {
  const tagma::test::working_directory folder;
  // example: summary_writer, hyperparameter
  tg::summary_writer writer("runs/first");  // a directory for each run
  writer.hyperparameters({{"learning rate", 0.1}, {"nesterov", true}, {"optimizer", "momentum"}});
  writer.scalar("loss/train", 0.41, /*step*/ 100);
  writer.histogram("weights", tg::tensor<float>({3}, {-1, 0, 1}), 100);
  writer.text("notes", "**two** layers", 100);
  // end
  CHECK(std::filesystem::file_size(writer.path()) > 0);
}
