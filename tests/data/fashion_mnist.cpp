// SPDX-License-Identifier: BSL-1.0
#include "tagma/data/fashion_mnist.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "support/temporary_directory.hpp"
#include "tagma/base/replace_file.hpp"

namespace fs = std::filesystem;
using tagma::extent;
using tagma::fashion_mnist;
using tagma::shape;
using tagma::test::temporary_directory;

namespace {

struct environment {
  std::string old;
  explicit environment(const char* value) {
    if (const char* before = std::getenv("TAGMA_DATA")) old = before;
    ::setenv("TAGMA_DATA", value, 1);
  }
  ~environment() { old.empty() ? ::unsetenv("TAGMA_DATA") : ::setenv("TAGMA_DATA", old.c_str(), 1); }
};

void put(const std::string& path, std::string_view content) {
  const std::string_view pieces[] = {content};
  tagma::replace_file(path, pieces);
}

std::string images(char count, char side) {
  const char header[] = {0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, side, 0, 0, 0, side};
  return std::string(header, sizeof header) + std::string(static_cast<std::size_t>(count * side * side), '\x33');
}
std::string labels(std::string_view values) {
  return std::string("\0\0\x08\x01\0\0\0", 7) + static_cast<char>(values.size()) + std::string(values);
}

void put_all(const std::string& directory) {
  put(directory + "/train-images-idx3-ubyte", images(3, 28));
  put(directory + "/train-labels-idx1-ubyte", labels(std::string_view("\0\x09\x01", 3)));
  put(directory + "/t10k-images-idx3-ubyte", images(2, 28));
  put(directory + "/t10k-labels-idx1-ubyte", labels("\x02\x03"));
}

std::string thrown(const std::string& directory) {
  try {
    (void)fashion_mnist(directory);
  } catch (const tagma::error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

}  // namespace

TEST_CASE("the four files become images from 0 to 1 and labels") {
  const temporary_directory dir;
  put_all(dir.path.string());
  const auto data = fashion_mnist(dir.path.string());
  CHECK(data.train.images.dims() == shape{3, 28, 28, 1});
  CHECK(data.train.images(2, 27, 27, 0) == 0.2f);
  CHECK(data.train.labels == tagma::tensor<std::uint8_t>({3}, {0, 9, 1}));
  CHECK(data.test.images.dims() == shape{2, 28, 28, 1});
  CHECK(data.test.labels == tagma::tensor<std::uint8_t>({2}, {2, 3}));
  int seen = 0;
  for (auto& [pixels, classes] : data.train.shuffle(3).batch(2).prefetch(2)) {
    CHECK(pixels.dims() == shape{classes.dims()[0], 28, 28, 1});
    ++seen;
  }
  CHECK(seen == 2);
  CHECK(tagma::fashion_mnist_classes[9] == "Ankle boot");
}

TEST_CASE("a data set that is not whole is refused with the file") {
  const temporary_directory dir;
  const std::string at = dir.path.string();
  put_all(at);
  fs::remove(dir / "t10k-labels-idx1-ubyte");
  CHECK(thrown(at) == "NotFound: Fashion-MNIST: there is neither " + (dir / "t10k-labels-idx1-ubyte") +
                          " nor t10k-labels-idx1-ubyte.gz beside it");
  put_all(at);
  put(dir / "train-labels-idx1-ubyte", labels("\x01\x02"));
  CHECK(thrown(at) ==
        "DataLoss: " + (dir / "train-labels-idx1-ubyte") + ": has shape [2], expected [3], a label for each image");
  put(dir / "train-labels-idx1-ubyte", labels("\x01\x02\x0a"));
  CHECK(thrown(at) == "DataLoss: " + (dir / "train-labels-idx1-ubyte") + ": has the label 10, expected 0 to 9");
  put_all(at);
  put(dir / "train-images-idx3-ubyte", images(3, 27));
  CHECK(thrown(at) ==
        "DataLoss: " + (dir / "train-images-idx3-ubyte") + ": has shape [3, 27, 27], expected [n, 28, 28]");
  CHECK(thrown("").starts_with("NotFound: Fashion-MNIST is not on this machine: "));
}

TEST_CASE("the directory is that of TAGMA_DATA, which has the data set or is an error") {
  const temporary_directory dir;
  {
    const environment unset("");
    CHECK_NOTHROW(tagma::fashion_mnist_directory());
  }
  const environment set(dir.path.c_str());
  const std::string text = "NotFound: TAGMA_DATA is '" + dir.path.string() + "', but neither " +
                           (dir / "fashion-mnist") + " nor " + dir.path.string() +
                           " has train-images-idx3-ubyte or train-images-idx3-ubyte.gz";
  CHECK_THROWS_WITH(tagma::fashion_mnist_directory(), text);
  CHECK_THROWS_WITH(fashion_mnist(), text);
  {
    const environment wrong((dir / "none").c_str());
    CHECK_THROWS_WITH(fashion_mnist(), Catch::StartsWith("NotFound: TAGMA_DATA is '" + (dir / "none") + "'"));
  }
  put_all(dir.path.string());
  CHECK(tagma::fashion_mnist_directory() == dir.path);
  CHECK(fashion_mnist().train.rows() == 3);
  fs::create_directory(dir.path / "fashion-mnist");
  put_all(dir / "fashion-mnist");
  CHECK(tagma::fashion_mnist_directory() == dir / "fashion-mnist");
}

#if defined(TAGMA_WITH_ZLIB) && TAGMA_WITH_ZLIB
TEST_CASE("the published data set has 60,000 and 10,000 images, as many of each class") {
  const std::string directory = tagma::fashion_mnist_directory();
  if (directory.empty()) {
    WARN("the data set is not on this machine");
    return;
  }
  const auto data = fashion_mnist(directory);
  CHECK(data.train.images.dims() == shape{60'000, 28, 28, 1});
  CHECK(data.test.images.dims() == shape{10'000, 28, 28, 1});
  for (const auto* part : {&data.train, &data.test}) {
    extent counts[10] = {};
    for (const std::uint8_t label : part->labels) ++counts[label];
    for (const extent n : counts) CHECK(n == part->rows() / 10);
    double sum = 0;
    for (const float x : part->images) sum += double{x};
    CHECK(sum / static_cast<double>(part->images.size()) == Approx(0.2865).margin(0.002));
  }
  CHECK(data.train.labels[0] == 9);
}
#endif
