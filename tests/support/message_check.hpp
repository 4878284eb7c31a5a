// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What every body of a message of services has to be.

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <string_view>

#include "tagma/base/error.hpp"

namespace tagma::test {

/// What was written is read as it was; nothing shorter or longer is; and whatever is changed, what is read is refused
/// with a sentence or is a message that is written as it was read.
template <class Message>
void check_message(const Message& m) {
  const std::string body = m.body();
  CHECK(Message::read(body).body() == body);
  for (std::size_t size = 0; size < body.size(); ++size)
    CHECK_THROWS_AS(Message::read(std::string_view(body).substr(0, size)), error);
  CHECK_THROWS_AS(Message::read(body + '\0'), error);
  std::mt19937 random(7);
  for (int i = 0; i < 3000; ++i) {
    std::string changed = body;
    for (int k = 0; k <= static_cast<int>(random() % 3); ++k)
      changed[random() % changed.size()] = static_cast<char>(random() % 4 == 0 ? random() % 3 : random() % 256);
    try {
      const std::string again = Message::read(changed).body();
      CHECK(again == changed);
    } catch (const error& e) {
      CHECK((e.code() == status_code::invalid_argument || e.code() == status_code::resource_exhausted));
    }
  }
}

}  // namespace tagma::test
