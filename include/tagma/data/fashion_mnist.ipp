// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of fashion_mnist.hpp: in the compiled half, or else in each file that includes it.

#include <unistd.h>

#include <cstdlib>

#include "tagma/base/config.hpp"
#include "tagma/data/fashion_mnist.hpp"

namespace tagma::detail {

TAGMA_DECL std::string idx_file(const std::string& directory, std::string_view name) {
  for (const char* ending : {"", ".gz"}) {
    std::string path = directory + "/" + std::string(name) + ending;
    if (::access(path.c_str(), F_OK) == 0) return path;
  }
  return {};
}

TAGMA_DECL fashion_mnist_data::split fashion_mnist_split(const std::string& directory, const std::string& part) {
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

}  // namespace tagma::detail

namespace tagma {

TAGMA_DECL std::string fashion_mnist_directory() {
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

TAGMA_DECL fashion_mnist_data fashion_mnist(const std::string& directory) {
  if (directory.empty())
    fail(status_code::not_found,
         "Fashion-MNIST is not on this machine: install Debian's package dataset-fashion-mnist, or set TAGMA_DATA to a "
         "directory that has train-images-idx3-ubyte and its three companions");
  return {detail::fashion_mnist_split(directory, "train"), detail::fashion_mnist_split(directory, "t10k")};
}

}  // namespace tagma
