// SPDX-License-Identifier: BSL-1.0
// Files of comma-separated values on their way into batches: a producer names the files, five threads read lines, take
// them apart and enqueue the columns, a trainer takes batches until the data is over, and a coordinator ends them all.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "tagma/input.hpp"
#include "tagma/readers.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

namespace {

/// Writes rows of which the label says on which side of a line a point is; every tenth row lacks its weight.
void write_points(const std::string& path, int first) {
  std::ofstream to(path);
  to << "x,y,weight,label,remark\n";
  for (int i = first; i < first + 200; ++i) {
    const double x = 0.01 * (i * 37 % 200) - 1.0, y = 0.01 * (i * 91 % 200) - 1.0;
    to << x << ',' << y << ',' << (i % 10 == 0 ? "" : "1") << ',' << (x > 0.5 * y ? 1 : 0) << ",\"point, number " << i
       << "\"\n";
  }
}

}  // namespace

int main() {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("tagma_csv_input_" + std::to_string(std::random_device{}()));
  std::filesystem::create_directories(folder);
  const std::string paths[] = {(folder / "a.csv").string(), (folder / "b.csv").string()};
  write_points(paths[0], 0);
  write_points(paths[1], 200);

  constexpr tg::queue_of<"files", tg::queue_options{.capacity = 8}, tg::spec<std::string_view>> files;
  constexpr tg::reader_of<"lines", tg::reader_options{.skip_header_lines = 1}> lines;
  constexpr tg::queue_of<
      "points", tg::queue_options{.kind = tg::queue_kind::shuffle, .capacity = 200, .min_after_dequeue = 50, .seed = 1},
      tg::spec<float, 2>, tg::spec<float>, tg::spec<float>>
      points;

  const auto line = tg::read(lines, files);  // a key, the file and the line, by which errors call it; and the text
  const auto [point, weight, label] =
      tg::decode_csv<tg::csv_format{}, 0, 1, 2, 3>(line, tg::required_row<float, 2>, 0.5f, tg::required<float>);
  const auto put = tg::enqueue(points, point, weight, label);
  const auto loading = tg::compile([=] { return tg::outputs(put); });

  const auto [x, w, y] = tg::dequeue_many<40>(points);
  const auto score = tg::squeeze<1>(tg::dense<"line", 1>(x));
  const auto loss = tg::sum(w * tg::sigmoid_cross_entropy(score, y));
  const auto right = tg::mean(tg::cast<float>(tg::equal(tg::cast<float>(score > 0.0f), y)));
  const auto train = tg::minimize(loss, tg::sgd{.learning_rate = 0.02});
  const auto training = tg::compile([=] { return tg::outputs(right, train); });

  const tg::container state;
  tg::session loader(loading, {.state = state});
  tg::session trainer(training, {.seed = 1, .state = state});
  tg::coordinator coord;
  auto names = tg::string_input_producer(
      {paths[0], paths[1]}, {.num_epochs = 20, .seed = 1, .capacity = 8, .place = {.in = state, .name = "files"}});
  tg::queue_runner five(loader, points, put, {.threads = 5});
  names.start(coord);
  five.start(coord);

  int batches = 0;
  float late = 0;  // the share of points that the last 100 batches understood: which is in which depends on threads
  coord.stop_on_exception([&] {
    for (;; ++batches) {
      const float share = std::get<0>(trainer.run(tg::fetch(right, train)));
      if (batches >= 100) late += share / 100;
    }
  });
  coord.join();
  std::filesystem::remove_all(folder);
  std::printf("%d batches of 40 points; the last 100 were %s\n", batches,
              late > 0.9f ? "understood" : "not understood");
}
