// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Stages that begin a pipeline from memory: one element, rows of tensors, numbers, a function.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tagma/base/array_view.hpp"
#include "tagma/base/config.hpp"
#include "tagma/data/element.hpp"
#include "tagma/data/stage.hpp"

namespace tagma::datasets::detail {

/// A stage whose elements have numbers needs no cursor of its own.
template <class T>
class indexed_source : public stage<T> {
 public:
  indexed_source() { this->indexed_ = true; }
};

template <class T>
class one_element final : public indexed_source<T> {
 public:
  explicit one_element(T value) : value_(std::move(value)) {}

  [[nodiscard]] extent size() const override { return 1; }
  got get(extent, std::uint64_t, T& to, iteration&) const override {
    to = value_;
    return got::element;
  }
  TAGMA_COLD void describe(std::string& to) const override { to += "from_tensors"; }

 private:
  T value_;
};

class range_source final : public indexed_source<std::int64_t> {
 public:
  range_source(std::int64_t first, std::int64_t last, std::int64_t step);

  [[nodiscard]] extent size() const override { return size_; }
  TAGMA_DECL got get(extent i, std::uint64_t, std::int64_t& to, iteration&) const override;
  TAGMA_DECL void describe(std::string& to) const override;

 private:
  std::int64_t first_, step_;
  extent size_ = 0;
};

/// For any bytes, none too.
inline void copy_bytes(void* to, const void* from, std::size_t n) {
  if (n > 0) std::memcpy(to, from, n);
}

/// Whether a shape is that of the rows of another one.
[[nodiscard]] bool is_row_of(const shape& row, const shape& all);

template <class T>
TAGMA_COLD void make_row(tensor<T>& to, const shape& all) {
  tensor<T> row(all.sub(1, all.rank));
  swap(to, row);
}

/// Row `i` of a tensor as a tensor, in the memory that `to` has where it fits.
template <class T>
void assign_row(tensor<T>& to, const tensor<T>& from, extent i) {
  if (!detail::is_row_of(to.dims(), from.dims())) detail::make_row(to, from.dims());
  const std::size_t bytes = to.size() * sizeof(T);
  detail::copy_bytes(to.data(), reinterpret_cast<const std::byte*>(from.data()) + static_cast<std::size_t>(i) * bytes,
                     bytes);
}
template <class T>
void assign_row(T& to, const std::vector<T>& from, extent i) {
  to = from[static_cast<std::size_t>(i)];
}

/// What the rows of a component are; void if it has none.
template <class T>
struct row_of {
  using type = void;
};
template <class T>
struct row_of<tensor<T>> {
  using type = std::conditional_t<std::is_same_v<T, string_element>, void, tensor<T>>;
};
template <class T>
struct row_of<std::vector<T>> {
  using type = std::conditional_t<is_component<T>::value && !std::is_same_v<T, bool>, T, void>;
};

/// The rows of a component. Throws `invalid_argument` for a scalar.
[[nodiscard]] extent rows_of(const shape& dims);
template <class T>
[[nodiscard]] extent rows_of(const tensor<T>& t) {
  return detail::rows_of(t.dims());
}
template <class T>
[[nodiscard]] extent rows_of(const std::vector<T>& v) {
  return static_cast<extent>(v.size());
}

/// The rows that all components have. Throws `invalid_argument` unless they are equally many.
[[nodiscard]] extent common_rows(array_view<const extent> rows);
template <class... T>
[[nodiscard]] extent common_rows(const T&... components) {
  const extent rows[] = {detail::rows_of(components)...};
  return detail::common_rows(array_view<const extent>(rows, sizeof...(T)));
}

template <class... Components>
struct slices {
  using type = std::tuple<typename row_of<Components>::type...>;
};
template <class Component>
struct slices<Component> : row_of<Component> {};

template <class... Components>
class slices_source final : public indexed_source<typename slices<Components...>::type> {
  using row = typename slices<Components...>::type;

 public:
  TAGMA_COLD explicit slices_source(Components&&... components)
      : size_(detail::common_rows(components...)), components_(std::move(components)...) {}

  [[nodiscard]] extent size() const override { return size_; }
  got get(extent i, std::uint64_t, row& to, iteration&) const override {
    if constexpr (sizeof...(Components) == 1)
      assign_row(to, std::get<0>(components_), i);
    else
      assign(to, i, std::index_sequence_for<Components...>{});
    return got::element;
  }
  TAGMA_COLD ~slices_source() override = default;
  TAGMA_COLD void describe(std::string& to) const override { append_parts(to, {"from_slices ", size_}); }

 private:
  template <std::size_t... I>
  void assign(row& to, extent i, std::index_sequence<I...>) const {
    (assign_row(std::get<I>(to), std::get<I>(components_), i), ...);
  }

  extent size_;
  std::tuple<Components...> components_;
};

template <class T, class F>
class generator_source final : public stage<T> {
  class pass final : public cursor<T> {
   public:
    pass(const F& f, iteration& in) : f_(f), in_(in) {}
    got advance(T& to) override {
      if (ended_) return got::end;
      try {
        if (auto value = f_(); value.has_value()) {
          to = std::move(*value);
          ++given_;
          return got::element;
        }
      } catch (const end_of_data&) {
      } catch (...) {
        in_.error = std::current_exception();
        ++given_;
        return got::error;
      }
      ended_ = true;
      return got::end;
    }
    TAGMA_COLD void save(number_list& to) const override { to.push(given_); }
    TAGMA_COLD void restore(position_reader& from) override {
      extent n = from.take(endless);
      (void)this->pass_by(n);
    }

   private:
    F f_;
    iteration& in_;
    extent given_ = 0;
    bool ended_ = false;
  };

 public:
  explicit generator_source(F f) : f_(std::move(f)) {}
  [[nodiscard]] owned<cursor<T>> start(std::uint64_t, iteration& in) const override {
    return owned<cursor<T>>(new pass(f_, in));
  }
  TAGMA_COLD void describe(std::string& to) const override { to += "generator"; }

 private:
  F f_;
};

}  // namespace tagma::datasets::detail

#ifndef TAGMA_COMPILED
#include "tagma/data/sources.ipp"
#endif
