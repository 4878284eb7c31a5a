// SPDX-License-Identifier: BSL-1.0
// A step is a batch of 1,000 rows of ten numbers, read from a file of 100,000 rows that is gone through again and
// again.
#include "input_files.hpp"
#include "protocol.hpp"
#include "tagma/base/version.hpp"
#include "tagma/file_datasets.hpp"

namespace tg = tagma;

int main() {
  const peers::input_file file(".csv");
  peers::write_csv(file);
  const auto number = tg::io::csv_required<float>();
  const auto rows = tg::datasets::csv({file.name()}, {}, number, number, number, number, number, number, number, number,
                                      number, number);
  auto batches = rows.repeat().batch(1000).iterator();
  return peers::serve(TAGMA_VERSION,
                      [&](std::int64_t) { return static_cast<double>(std::get<9>(batches.next())[999]); });
}
