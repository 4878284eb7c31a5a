// SPDX-License-Identifier: BSL-1.0
#include <tagma/tagma.hpp>

#include <string>
#include <vector>

std::string sentence_of_another_file() {
  try {
    tagma::detail::fail_rank(7);
  } catch (const tagma::error& e) {
    return e.what();
  }
  return {};
}
