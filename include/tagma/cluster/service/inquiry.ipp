// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of inquiry.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/inquiry.hpp"

namespace tagma::service {

TAGMA_COLD TAGMA_DECL inquiry::~inquiry() {
  for (const auto& [address, out] : outlets_) out->close();
}

TAGMA_COLD TAGMA_DECL std::vector<inquiry_answer> inquiry::ask(const std::vector<inquiry_question>& questions) {
  std::vector<inquiry_answer> answers(questions.size());
  detail::open_questions open(questions.size());
  std::vector<std::unique_ptr<detail::open_questions::one>> calls;
  std::vector<std::shared_ptr<outlet>> whom;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const placed_task& t = questions[i].whom;
    std::shared_ptr<outlet>& out = outlets_[t.address];
    if (out == nullptr) out = std::make_shared<outlet>(network_, t.address, how_, t.id, within_ns_, loss());
    whom.push_back(out);
    calls.push_back(std::make_unique<detail::open_questions::one>(open, answers[i]));
  }
  for (std::size_t i = 0; i < questions.size(); ++i) {
    transport::outgoing m;
    m.kind = static_cast<std::uint16_t>(questions[i].kind);
    m.body = questions[i].body;
    whom[i]->ask(std::move(m), within_ns_, *calls[i]);
  }
  open.wait();
  return answers;
}

TAGMA_COLD TAGMA_DECL inquiry_answer inquiry::ask(const inquiry_question& question) {
  std::vector<inquiry_answer> one = ask(std::vector<inquiry_question>{question});
  if (one[0].problem.has_value()) throw error(*one[0].problem);
  return std::move(one[0]);
}

}  // namespace tagma::service
