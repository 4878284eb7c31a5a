// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Programs in files that tests of commands have, and the command itself.

#include <initializer_list>
#include <string>
#include <vector>

#include "support/command.hpp"
#include "support/temporary_directory.hpp"
#include "tagma/tensor/tensor.hpp"

namespace tagma::test {

/// A network for x, float32 [?, 8], and labels, int32 [?], that learns: "loss", "train", "logits" [?, 4].
void write_network(const std::string& path);
/// What the compiled network says about these inputs before any training.
struct network_says {
  float loss = 0;
  tensor<float> logits;
};
[[nodiscard]] network_says ask_network(const tensor<float>& x, const tensor<int>& labels, std::uint64_t seed,
                                       int steps = 0);

/// Outputs of many types of the inputs of these types: "d" float64 [?, ?], "h" float16 [3], "i" int64 [?], "u" uint8
/// [?], "b" bool [2, 2], "t" string [?], "rate" float32 []. The outputs are called the same with "_out" behind, and
/// "sum", float32 [], adds "rate" to a variable "v" and is its new value; "far" computes on the third CPU.
void write_mixture(const std::string& path);

/// A program whose only output, of a variable of data, has this name.
void write_named(const std::string& path, const std::string& name);

/// Files of one test, and the command beside them.
struct workplace {
  temporary_directory files;
  std::string network = files / "network.tagma";

  workplace() { write_network(network); }
  [[nodiscard]] command_result run(std::vector<std::string> arguments, int to = -1, int err = -1) const {
    arguments.insert(arguments.begin(), TAGMA_RUN);
    return run_command(arguments, files / "said", to, err);
  }
  /// `run` of the network.
  [[nodiscard]] command_result with_network(std::initializer_list<std::string> arguments) const {
    std::vector<std::string> all{network};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return run(all);
  }
};

[[nodiscard]] inline bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace tagma::test
