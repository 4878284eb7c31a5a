// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Positions of datasets as texts, for checkpoints.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tagma/base/config.hpp"

namespace tagma {

/// A position of a dataset, `dataset_iterator::state`, as a text that a checkpoint takes along, so that variables and
/// position are of the same step:
///
///     tg::save(session, "run.safetensors", {{"examples", tg::position_text(pass.state())}});
///
/// @param at whole numbers, `datasets::position`
[[nodiscard]] std::string position_text(const std::vector<std::int64_t>& at);

/// The position that a text says, for `dataset::resume`:
///
///     auto texts = tg::restore(session, "run.safetensors");
///     auto pass = examples.resume(tg::position_of_text(texts.at("examples")));
///
/// Throws InvalidArgument for a text that `position_text` does not give.
[[nodiscard]] std::vector<std::int64_t> position_of_text(std::string_view text);

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/train/position.ipp"
#endif
