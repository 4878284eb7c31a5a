// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Fashion-MNIST: 70,000 grey images of clothes, 28 by 28, in ten classes.
/// https://github.com/zalandoresearch/fashion-mnist

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <unistd.h>

#include "tagma/base/error.hpp"
#include "tagma/data/batches.hpp"
#include "tagma/io/idx.hpp"
#include "tagma/tensor/tensor.hpp"

namespace tagma {

/// The classes by label.
inline constexpr std::string_view fashion_mnist_classes[] = {
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"};

/// Both parts of the data set.
struct fashion_mnist_data {
  /// Images [n, 28, 28, 1] of floats from 0, white, to 1, black, and labels [n] from 0 to 9.
  using split = labelled<float, std::uint8_t>;
  split train;
  split test;
};

namespace detail {

/// The file with that name, or with ".gz" after it; empty if there is neither.
inline std::string idx_file(const std::string& directory, std::string_view name) {
  for (const char* ending : {"", ".gz"}) {
    std::string path = directory + "/" + std::string(name) + ending;
    if (::access(path.c_str(), F_OK) == 0) return path;
  }
  return {};
}

inline fashion_mnist_data::split fashion_mnist_split(const std::string& directory, const std::string& part) {
  const auto find = [&](const std::string& name) {
    std::string path = idx_file(directory, name);
    if (path.empty())
      fail(status_code::not_found,
           "Fashion-MNIST: there is neither " + directory + "/" + name + " nor " + name + ".gz beside it");
    return path;
  };
  const std::string images_path = find(part + "-images-idx3-ubyte"), labels_path = find(part + "-labels-idx1-ubyte");
  const tensor<std::uint8_t> pixels = read_idx(images_path);
  const extent n = pixels.dims()[0];
  if (!(pixels.dims() == shape{n, 28, 28}))
    fail(status_code::data_loss, images_path + ": has shape " + to_string(pixels.dims()) + ", expected [n, 28, 28]");
  fashion_mnist_data::split result{tensor<float>(shape{n, 28, 28, 1}), read_idx(labels_path)};
  if (!(result.labels.dims() == shape{n}))
    fail(status_code::data_loss, labels_path + ": has shape " + to_string(result.labels.dims()) + ", expected [" +
                                     std::to_string(n) + "], a label for each image");
  for (const std::uint8_t label : result.labels)
    if (label > 9)
      fail(status_code::data_loss, labels_path + ": has the label " + std::to_string(label) + ", expected 0 to 9");
  for (extent i = 0; i < static_cast<extent>(pixels.size()); ++i)
    result.images[i] = static_cast<float>(pixels[i]) / 255.0f;
  return result;
}

}  // namespace detail

/// Where the data set is: $TAGMA_DATA/fashion-mnist or $TAGMA_DATA if that variable is set, else the directory of
/// Debian's package dataset-fashion-mnist; empty if the training images are not there. Throws `not_found` if they are
/// not where the variable says.
[[nodiscard]] inline std::string fashion_mnist_directory() {
  const auto has_images = [](const std::string& directory) {
    return !detail::idx_file(directory, "train-images-idx3-ubyte").empty();
  };
  if (const char* data = std::getenv("TAGMA_DATA"); data != nullptr && *data != '\0') {
    const std::string direct = data, inside = direct + "/fashion-mnist";
    if (has_images(inside)) return inside;
    if (has_images(direct)) return direct;
    fail(status_code::not_found, {"TAGMA_DATA is '", direct, "', but neither ", inside, " nor ", direct,
                                  " has train-images-idx3-ubyte or train-images-idx3-ubyte.gz"});
  }
  const std::string installed = "/usr/share/datasets/fashion-mnist";
  return has_images(installed) ? installed : std::string();
}

/// Reads the four IDX files of the data set, plain or with the ending ".gz". Throws `not_found` if one is missing,
/// `data_loss` if its content is not what the data set has, and what `read_idx` throws.
[[nodiscard]] inline fashion_mnist_data fashion_mnist(const std::string& directory = fashion_mnist_directory()) {
  if (directory.empty())
    fail(status_code::not_found,
         "Fashion-MNIST is not on this machine: install Debian's package dataset-fashion-mnist, or set TAGMA_DATA to a "
         "directory that has train-images-idx3-ubyte and its three companions");
  return {detail::fashion_mnist_split(directory, "train"), detail::fashion_mnist_split(directory, "t10k")};
}

}  // namespace tagma
