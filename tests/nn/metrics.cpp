// SPDX-License-Identifier: BSL-1.0
#include "tagma/nn/metrics.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "tagma/tagma.hpp"

namespace tg = tagma;

TEST_CASE("means and accuracies accumulate over batches", "[metrics]") {
  const auto scores = tg::placeholder<"scores", float, tg::dyn, 4>();
  const auto labels = tg::placeholder<"labels", std::int32_t, tg::dyn>();
  const auto right = tg::metrics::accuracy<"right">(scores, labels);
  const auto near = tg::metrics::top_k_accuracy<"near", 2>(scores, labels);
  const auto average = tg::metrics::mean<"average">(tg::sparse_softmax_cross_entropy(scores, labels));
  const auto labelled = tg::metrics::mean<"labelled">(labels);
  const auto update = tg::group(right.update, near.update, average.update, labelled.update);
  const auto reset = tg::group(right.reset, near.reset, average.reset, labelled.reset);
  const auto got_right = right.result;
  const auto got_near = near.result;
  const auto got_average = average.result;
  const auto got_label = labelled.result;
  const auto count = tg::variable<"right/count", std::int64_t>(tg::zeros, tg::not_trainable);
  tg::session session(
      tg::compile([=] { return tg::outputs(update, reset, got_right, got_near, got_average, got_label, count); }));

  CHECK(session.run(got_right) == 0);  // of nothing
  for (int round = 0; round < 2; ++round) {
    session.run(update, scores = tg::tensor<float>({2, 4}, {1, 2, 3, 4, 4, 3, 2, 1}),
                labels = tg::tensor<std::int32_t>({2}, {3, 1}));
    session.run(update, scores = tg::tensor<float>({0, 4}), labels = tg::tensor<std::int32_t>(tg::shape{0}));
    session.run(update, scores = tg::tensor<float>({3, 4}, {0, 0, 1, 0, 5, 5, 0, 0, 1, 2, 3, 4}),
                labels = tg::tensor<std::int32_t>({3}, {2, 1, 0}));
    CHECK(session.run(count) == 5);
    CHECK(session.run(got_right) == Approx(2.0 / 5).epsilon(1e-15));  // of equal ones the first counts
    CHECK(session.run(got_near) == Approx(4.0 / 5).epsilon(1e-15));
    CHECK(session.run(got_label) == Approx(7.0 / 5).epsilon(1e-15));
    const double row = std::log(std::exp(-3) + std::exp(-2) + std::exp(-1) + 1);  // of 1, 2, 3, 4, less the 4
    const double all = row + (row + 1) + (std::log(std::exp(1) + 3) - 1) + std::log(2 + 2 * std::exp(-5)) + (row + 3);
    CHECK(session.run(got_average) == Approx(all / 5).epsilon(1e-6));
    session.run(reset);
    CHECK(session.run(count) == 0);
  }
}

TEST_CASE("precision, recall and the area under the curve count over batches", "[metrics]") {
  const auto p = tg::placeholder<"p", double, tg::dyn>();
  const auto truth = tg::placeholder<"truth", bool, tg::dyn>();
  const auto exact = tg::metrics::precision<"exact">(p, truth);
  const auto found = tg::metrics::recall<"found">(p, tg::cast<std::int32_t>(truth), 0.7);
  const auto area = tg::metrics::auc<"area">(p, truth);
  const auto coarse = tg::metrics::auc<"coarse", 3>(tg::cast<float>(p), truth);
  const auto update = tg::group(exact.update, found.update, area.update, coarse.update);
  const auto got_exact = exact.result;
  const auto got_found = found.result;
  const auto got_area = area.result;
  const auto got_coarse = coarse.result;
  const auto reset = tg::group(area.reset, exact.reset);
  tg::session session(
      tg::compile([=] { return tg::outputs(update, reset, got_exact, got_found, got_area, got_coarse); }));
  CHECK(session.run(got_exact) == 0);
  CHECK(session.run(got_area) == 0);

  std::vector<double> all;
  std::vector<bool> yes;
  double hits = 0, alarms = 0, found_hits = 0, positives = 0;
  for (int batch = 0; batch < 4; ++batch) {
    tg::tensor<double> ps(tg::shape{50 + batch});
    tg::tensor<bool> ys(ps.dims());
    for (tg::extent i = 0; i < ps.dims()[0]; ++i) {
      ps[i] = static_cast<double>((i * 37 + batch * 11) % 101) / 101 + 0.003;  // between thresholds
      ys[i] = (i * 53 + batch) % 7 < 3 ? ps[i] > 0.3 : i % 5 == 0;
      all.push_back(ps[i]), yes.push_back(ys[i]);
      hits += ps[i] > 0.5 && ys[i], alarms += ps[i] > 0.5 && !ys[i];
      found_hits += ps[i] > 0.7 && ys[i], positives += ys[i];
    }
    session.run(update, p = ps, truth = ys);
  }
  CHECK(session.run(got_exact) == Approx(hits / (hits + alarms)).epsilon(1e-15));
  CHECK(session.run(got_found) == Approx(found_hits / positives).epsilon(1e-15));
  // The share of pairs in order, which the curve has between 200 thresholds as long as values are further apart.
  double pairs = 0, ordered = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < all.size(); ++j)
      if (yes[i] && !yes[j]) ++pairs, ordered += all[i] > all[j] ? 1 : all[i] < all[j] ? 0 : 0.5;
  CHECK(session.run(got_area) == Approx(ordered / pairs).epsilon(1e-12));
  // Three thresholds: one point between the corners.
  double above_yes = 0, above_no = 0;
  for (std::size_t i = 0; i < all.size(); ++i) (yes[i] ? above_yes : above_no) += all[i] > 0.5;
  const double x = above_no / (static_cast<double>(all.size()) - positives), y = above_yes / positives;
  CHECK(session.run(got_coarse) == Approx(x * y / 2 + (1 - x) * (1 + y) / 2).epsilon(1e-12));
  session.run(reset);
  CHECK(session.run(got_area) == 0);
  CHECK(session.run(got_exact) == 0);
}
