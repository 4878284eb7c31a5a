// SPDX-License-Identifier: BSL-1.0
// A step is a batch of 1,000 records of 100 bytes of a TFRecord file that is gone through again and again.
#include "input_files.hpp"
#include "protocol.hpp"
#include "tagma/base/version.hpp"
#include "tagma/file_datasets.hpp"

namespace tg = tagma;

int main() {
  const peers::input_file file(".tfrecord");
  peers::write_tf_record(file);
  auto batches = tg::datasets::tf_record({file.name()}).repeat().batch(1000).iterator();
  return peers::serve(TAGMA_VERSION, [&](std::int64_t) { return static_cast<double>(batches.next()[999][0]); });
}
