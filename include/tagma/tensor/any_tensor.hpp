// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A tensor whose element type is known only at run time.

#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/base/counted.hpp"
#include "tagma/tensor/tensor.hpp"

namespace tagma {

/// Owns elements of any type. Copies share them; nobody changes them.
class any_tensor {
 public:
  /// Nothing: no type, no elements.
  any_tensor() = default;
  template <element T>
  explicit any_tensor(tensor<T> elements) : held_(new holder<T>(std::move(elements))) {}
  /// A copy of elements. Throws ResourceExhausted if there is no memory.
  TAGMA_COLD static any_tensor copy_of(const raw_view& from) {
    return copy_as(from, std::make_index_sequence<detail::dtype_count>{});
  }

  /// The element type.
  [[nodiscard]] dtype type() const { return view().type; }
  /// The shape.
  [[nodiscard]] shape dims() const { return view().dims; }
  /// The elements, their type and shape.
  [[nodiscard]] raw_view view() const { return held_ ? held_->view : raw_view{}; }
  /// The elements. Throws InvalidArgument if they are not of type `T`.
  template <element T>
  [[nodiscard]] tagma::view<const T> as() const {
    return view().as<T>();
  }
  /// The only element of a scalar. Throws InvalidArgument if there are more, or they are not of type `T`.
  template <element T>
  [[nodiscard]] T value() const {
    const tagma::view<const T> all = as<T>();
    if (all.size() != 1)
      fail(status_code::invalid_argument, {"a tensor of shape ", to_string(all.dims()), " is no single value"});
    return all[0];
  }

 private:
  struct held : counted_object {
    raw_view view;
  };
  template <class T>
  struct holder final : held {
    explicit holder(tensor<T>&& t) : elements(std::move(t)) {
      this->view = {elements.data(), dtype_of<T>, elements.dims()};
    }
    tensor<T> elements;
  };

  template <std::size_t... D>
  static any_tensor copy_as(const raw_view& from, std::index_sequence<D...>) {
    any_tensor copy;
    const auto take = [&]<dtype Type>(std::integral_constant<dtype, Type>) {
      if constexpr (Type != dtype::none) {
        using T = element_of<Type>;
        if (from.type != Type) return;
        tensor<T> elements(tagma::view<const T>(static_cast<const T*>(from.data), from.dims));
        if constexpr (std::is_same_v<T, string_element>) elements.own_characters();
        copy = any_tensor(std::move(elements));
      }
    };
    (take(std::integral_constant<dtype, static_cast<dtype>(D)>{}), ...);
    return copy;
  }

  counted<held> held_;
};

}  // namespace tagma
