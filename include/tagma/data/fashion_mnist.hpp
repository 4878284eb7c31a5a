// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Fashion-MNIST: 70,000 grey images of clothes, 28 by 28, in ten classes.
/// https://github.com/zalandoresearch/fashion-mnist

#include <cstdint>
#include <string>
#include <string_view>

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
std::string idx_file(const std::string& directory, std::string_view name);

fashion_mnist_data::split fashion_mnist_split(const std::string& directory, const std::string& part);

}  // namespace detail

/// Where the data set is: $TAGMA_DATA/fashion-mnist or $TAGMA_DATA if that variable is set, else the directory of
/// Debian's package dataset-fashion-mnist; empty if the training images are not there. Throws `not_found` if they are
/// not where the variable says.
[[nodiscard]] std::string fashion_mnist_directory();

/// Reads the four IDX files of the data set, plain or with the ending ".gz". Throws `not_found` if one is missing,
/// `data_loss` if its content is not what the data set has, and what `read_idx` throws.
[[nodiscard]] fashion_mnist_data fashion_mnist(const std::string& directory = fashion_mnist_directory());

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/data/fashion_mnist.ipp"
#endif
