// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What layers are told that do one thing while a model learns and another when it is used.

#include <type_traits>

namespace tagma {

/// The types of `phase::training` and `phase::inference`.
/// @{
struct training_phase {};
struct inference_phase {};
/// @}

/// Whether `batch_norm` and `dropout` are for training or for inference, as an argument, so that one function is the
/// model of both:
///
///     constexpr auto model = [](const auto& x, auto phase) {
///       const auto h = tg::batch_norm<"norm">(tg::dense<"hidden", 64>(x), phase);
///       return tg::dense<"out", 10>(tg::dropout(tg::relu(h), 0.5, phase));
///     };
///     const auto loss = tg::mean(tg::sparse_softmax_cross_entropy(model(x, tg::phase::training), labels));
///     const auto scores = model(x, tg::phase::inference);  // the same variables
struct phase {
  static constexpr training_phase training{};
  static constexpr inference_phase inference{};
};

namespace diagnose {
/// `tagma::phase::training` or `tagma::phase::inference`.
template <class Phase>
inline constexpr bool is_phase = std::is_same_v<Phase, training_phase> || std::is_same_v<Phase, inference_phase>;
}  // namespace diagnose

}  // namespace tagma
