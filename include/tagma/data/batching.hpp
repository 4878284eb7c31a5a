// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Stages that group elements and take groups apart: batch, padded_batch, unbatch.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/data/element.hpp"
#include "tagma/data/sources.hpp"
#include "tagma/data/stage.hpp"

namespace tagma::datasets {

namespace detail {

template <class T>
inline constexpr bool is_number = element<T> && !std::is_same_v<T, string_element>;

/// Copies the first rows of a tensor.
template <class T>
[[nodiscard]] tensor<T> first_rows(const tensor<T>& from, extent rows, extent all) {
  shape dims = from.dims();
  dims[0] = all;
  tensor<T> to(dims);
  const std::size_t row = dims[0] == 0 ? 0 : to.size() / static_cast<std::size_t>(all);
  std::copy_n(from.data(), row * static_cast<std::size_t>(rows), to.data());
  return to;
}

/// Of plain batches.
struct no_options {};

/// Collects one component of the elements of a batch. Memory grows with the elements, not with what they may be.
template <class T>
class collector;

template <class T>
  requires is_number<T>
class collector<T> {
 public:
  using type = tensor<T>;
  collector(extent most, const no_options&) : most_(most), all_({std::min(most, at_first)}) {}
  void add(extent i, T& x, std::size_t) {
    if (i == all_.dims()[0]) all_ = detail::first_rows(all_, i, i > most_ / 2 ? most_ : i * 2);
    all_[i] = x;
  }
  [[nodiscard]] type take(extent count) {
    return count == all_.dims()[0] ? std::move(all_) : detail::first_rows(all_, count, count);
  }

 private:
  static constexpr extent at_first = 1024;
  extent most_;
  tensor<T> all_;
};

template <class T>
class collector<tensor<T>> {
 public:
  using type = tensor<T>;
  collector(extent most, const no_options&) : most_(most) {}
  void add(extent i, tensor<T>& x, std::size_t component) {
    if (i == 0) {
      row_ = x.dims();
      if (row_.rank == max_rank)
        fail(status_code::invalid_argument, {"a batch of tensors of shape ", to_string(row_), " has too many axes"});
      if (!fits(std::min(most_, at_first))) all_ = tensor<T>(rows(std::min(most_, at_first)));
    }
    if (!(x.dims() == row_))
      fail(status_code::invalid_argument,
           {"a batch needs elements of one shape: component ", component, " of the first element has shape ",
            to_string(row_), " and that of element ", i, " has shape ", to_string(x.dims())});
    if (i == all_.dims()[0]) all_ = detail::first_rows(all_, i, i > most_ / 2 ? most_ : i * 2);
    std::copy_n(x.data(), x.size(), all_.data() + static_cast<std::size_t>(i) * x.size());
  }
  [[nodiscard]] type take(extent count) {
    return count == all_.dims()[0] ? std::move(all_) : detail::first_rows(all_, count, count);
  }
  /// Memory of a batch that nobody needs any more.
  void reuse(type& old) { all_ = std::move(old); }

 private:
  static constexpr extent at_first = 256;
  /// Whether there is memory for `n` rows or more, and none that no batch needs.
  [[nodiscard]] bool fits(extent n) const {
    const shape& have = all_.dims();
    return have.rank == row_.rank + 1 && have[0] >= n && have[0] <= most_ && have == rows(have[0]);
  }
  [[nodiscard]] shape rows(extent n) const {
    shape dims{n};
    for (const extent e : row_.span()) dims.push_back(e);
    return dims;
  }
  extent most_;
  shape row_;
  tensor<T> all_;
};

template <>
class collector<std::string> {
 public:
  using type = std::vector<std::string>;
  collector(extent, const no_options&) {}
  void add(extent, std::string& x, std::size_t) { all_.push_back(std::move(x)); }
  [[nodiscard]] type take(extent) { return std::move(all_); }

 private:
  type all_;
};

/// Gives a collector the memory of a batch that was there before, if it can use that.
template <class Collector, class Batch>
void reuse(Collector& by, Batch& old) {
  if constexpr (requires { by.reuse(old); }) by.reuse(old);
}

/// Of tuples and pairs.
template <class Row, class... T>
class collector_of_parts {
 public:
  collector_of_parts(extent most, const no_options& options) : parts_(collector<T>(most, options)...) {}
  void add(extent i, Row& x, std::size_t) { add(i, x, std::index_sequence_for<T...>{}); }
  template <class Batch>
  void reuse(Batch& old) {
    reuse(old, std::index_sequence_for<T...>{});
  }

 protected:
  std::tuple<collector<T>...> parts_;

 private:
  template <std::size_t... I>
  void add(extent i, Row& x, std::index_sequence<I...>) {
    (std::get<I>(parts_).add(i, std::get<I>(x), I), ...);
  }
  template <class Batch, std::size_t... I>
  void reuse(Batch& old, std::index_sequence<I...>) {
    (detail::reuse(std::get<I>(parts_), std::get<I>(old)), ...);
  }
};
template <class... T>
class collector<std::tuple<T...>> : public collector_of_parts<std::tuple<T...>, T...> {
 public:
  using type = std::tuple<typename collector<T>::type...>;
  using collector_of_parts<std::tuple<T...>, T...>::collector_of_parts;
  [[nodiscard]] type take(extent count) {
    return std::apply([&](auto&... part) { return type(part.take(count)...); }, this->parts_);
  }
};
template <class A, class B>
class collector<std::pair<A, B>> : public collector_of_parts<std::pair<A, B>, A, B> {
 public:
  using type = std::pair<typename collector<A>::type, typename collector<B>::type>;
  using collector_of_parts<std::pair<A, B>, A, B>::collector_of_parts;
  [[nodiscard]] type take(extent count) {
    return {std::get<0>(this->parts_).take(count), std::get<1>(this->parts_).take(count)};
  }
};

template <class T>
struct can_batch : std::bool_constant<is_number<T> || std::is_same_v<T, std::string>> {};
template <class T>
struct can_batch<tensor<T>> : std::true_type {};
template <class... T>
struct can_batch<std::tuple<T...>> : std::bool_constant<(can_batch<T>::value && ...)> {};
template <class A, class B>
struct can_batch<std::pair<A, B>> : std::bool_constant<can_batch<A>::value && can_batch<B>::value> {};

/// What a batch of elements is; void if there is none.
template <class T>
struct batch_of {
  using type = void;
};
template <class T>
requires can_batch<T>::value struct batch_of<T> {
  using type = typename collector<T>::type;
};

/// Calls a collector; what it throws is the error of the batch.
template <class Collector, class T>
[[nodiscard]] bool add(Collector& to, extent i, T& x, std::exception_ptr& error) {
  try {
    to.add(i, x, 0);
    return true;
  } catch (...) {
    error = std::current_exception();
    return false;
  }
}
template <class Collector>
[[nodiscard]] got take(Collector& from, extent count, typename Collector::type& to, std::exception_ptr& error) {
  try {
    to = from.take(count);
    return got::element;
  } catch (...) {
    error = std::current_exception();
    return got::error;
  }
}

/// The elements n * b to n * (b + 1) in one. Where one of them is an error, the batch is, and the others go with it.
template <class T, class Collector, class Options>
class batched final : public stage_behind<T, typename Collector::type> {
  using batch = typename Collector::type;

  class pass final : public cursor<batch> {
   public:
    pass(std::unique_ptr<cursor<T>> input, const batched& of, iteration& in)
        : input_(std::move(input)), of_(of), in_(in), collected_(of.collect()) {}
    got next(batch& to) override {
      if (ended_) return got::end;
      boundary_.enter(*input_, in_);
      while (count_ < of_.most_ && !ended_) {
        if (failed_) {
          extent rest = of_.most_ - count_;
          const got g = input_->skip(rest);
          count_ = of_.most_ - rest;
          if (g == got::interrupted) return g;
          ended_ = g == got::end;
          continue;
        }
        const got g = input_->next(from_);
        if (g == got::interrupted) return g;
        if (g == got::end) {
          ended_ = true;
          break;
        }
        if (g == got::error || !detail::add(collected_, count_, from_, in_.error)) {
          failed_ = true;
          error_ = std::exchange(in_.error, nullptr);
        }
        ++count_;
        if (in_.stopping()) return got::interrupted;
      }
      return give(to);
    }
    TAGMA_COLD void save(position& to) const override {
      to.push_back(ended_ && !boundary_.inside() ? 1 : 0);
      boundary_.save(*input_, to);
    }
    TAGMA_COLD void restore(position_reader& from) override {
      ended_ = from.take(1) == 1;
      input_->restore(from);
    }
    TAGMA_COLD got skip(extent& n) override {
      while (n > 0) {
        if (ended_) return got::end;
        boundary_.enter(*input_, in_);
        extent rest = of_.most_ - count_;
        const got g = input_->skip(rest);
        count_ = of_.most_ - rest;
        if (g == got::interrupted) return g;
        boundary_.leave();
        ended_ = g == got::end;
        const bool whole = std::exchange(count_, 0) > (of_.drop_remainder_ ? of_.most_ - 1 : 0);
        if (whole) --n;
      }
      return got::element;
    }

   private:
    got give(batch& to) {
      boundary_.leave();
      const extent count = std::exchange(count_, 0);
      if (count == 0 || (count < of_.most_ && of_.drop_remainder_)) return got::end;
      if (std::exchange(failed_, false)) {
        in_.error = std::exchange(error_, nullptr);
        collected_ = of_.collect();
        return got::error;
      }
      std::swap(old_, to);
      const got g = detail::take(collected_, count, to, in_.error);
      collected_ = of_.collect();
      if (!ended_) detail::reuse(collected_, old_);
      return g;
    }

    std::unique_ptr<cursor<T>> input_;
    const batched& of_;
    iteration& in_;
    boundary boundary_;
    Collector collected_;
    std::exception_ptr error_;
    T from_{};
    batch old_{};
    extent count_ = 0;
    bool failed_ = false, ended_ = false;
  };

 public:
  batched(stage_of<T> input, extent most, bool drop_remainder, Options options)
      : stage_behind<T, batch>(std::move(input)),
        most_(most),
        drop_remainder_(drop_remainder),
        options_(std::move(options)) {}

  [[nodiscard]] extent size() const override {
    const extent all = this->input_->size();
    if (all == unknown_size || all == endless) return all;
    return all / most_ + (all % most_ != 0 && !drop_remainder_ ? 1 : 0);
  }
  [[nodiscard]] bool indexed() const override { return this->input_->indexed(); }
  got get(extent i, std::uint64_t epoch, batch& to, iteration& in) const override {
    const extent first = i * most_, left = this->input_->size() - first, most = std::min(most_, left);
    Collector collected = collect();
    detail::reuse(collected, to);
    T from{};
    extent count = 0;
    for (; count < most; ++count) {
      const got g = datasets::get(*this->input_, first + count, epoch, from, in);
      if (g == got::end || in.ends_behind) {
        in.ends_behind = true;
        if (g == got::end) break;
      }
      if (g != got::element) return g;
      if (!detail::add(collected, count, from, in.error)) return got::error;
      if (in.given_up()) return got::interrupted;
      if (in.ends_behind) {
        ++count;
        break;
      }
    }
    if (count == 0 || (count < most_ && drop_remainder_)) {
      in.ends_behind = false;
      return got::end;
    }
    return detail::take(collected, count, to, in.error);
  }
  [[nodiscard]] TAGMA_COLD std::unique_ptr<cursor<batch>> start(std::uint64_t epoch, iteration& in) const override {
    return std::make_unique<pass>(datasets::start(*this->input_, epoch, in), *this, in);
  }
  TAGMA_COLD void describe(std::string& to) const override {
    this->input_->describe(to);
    append_parts(to, {".batch ", most_, drop_remainder_ ? " whole" : ""});
  }

 private:
  [[nodiscard]] Collector collect() const {
    const extent all = this->input_->size();
    return Collector(all == unknown_size ? most_ : std::min(most_, all), options_);
  }

  extent most_;
  bool drop_remainder_;
  Options options_;
};

}  // namespace detail

/// How padded_batch pads.
struct padding_options {
  /// Of each component the shape that its elements are padded to, `dyn` for the largest extent of the batch; none: the
  /// largest extents of the batch everywhere.
  std::vector<shape> shapes{};
  /// Of each component the value that is put behind its elements; none: 0. Texts are padded with empty ones.
  std::vector<double> values{};
  /// Whether a last batch that is smaller is left out.
  bool drop_remainder = false;
};

namespace detail {

/// Pads one component: tensors. All else is batched as it is.
template <class T>
[[nodiscard]] auto padded(std::vector<T>&& all, const padding_options&, std::size_t component) {
  collector<T> plain(static_cast<extent>(all.size()), no_options{});
  for (std::size_t i = 0; i < all.size(); ++i) plain.add(static_cast<extent>(i), all[i], component);
  return plain.take(static_cast<extent>(all.size()));
}
template <class T>
[[nodiscard]] tensor<T> padded(std::vector<tensor<T>>&& all, const padding_options& options, std::size_t component) {
  const int rank = all[0].dims().rank;
  shape to;
  if (component < options.shapes.size())
    to = options.shapes[component];
  else
    for (int axis = 0; axis < rank; ++axis) to.push_back(dyn);
  if (rank == max_rank)
    fail(status_code::invalid_argument,
         {"a batch of tensors of shape ", to_string(all[0].dims()), " has too many axes"});
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].dims().rank != to.rank)
      fail(status_code::invalid_argument, {"component ", component, " of element ", i, " of a batch has shape ",
                                           to_string(all[i].dims()), ", which cannot be padded to ", to_string(to)});
  shape dims{static_cast<extent>(all.size())};
  for (int axis = 0; axis < to.rank; ++axis) {
    extent most = to[axis];
    for (std::size_t i = 0; i < all.size(); ++i) {
      const extent here = all[i].dims()[axis];
      if (to[axis] != dyn && here > to[axis])
        fail(status_code::data_loss, {"component ", component, " of element ", i, " of a batch has shape ",
                                      to_string(all[i].dims()), ", which is larger than ", to_string(to)});
      most = std::max(most, here);
    }
    dims.push_back(most);
  }
  tensor<T> result(dims);
  const double value = component < options.values.size() ? options.values[component] : 0;
  if (value != 0) std::fill_n(result.data(), result.size(), static_cast<T>(value));
  const std::size_t row = result.size() / all.size();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const tensor<T>& from = all[i];
    if (from.size() == 0) continue;
    const std::size_t run = rank == 0 ? 1 : static_cast<std::size_t>(from.dims()[rank - 1]);
    for (std::size_t at = 0; at < from.size(); at += run) {
      // Where the run from `at` on stands in the larger tensor.
      std::size_t rest = at / run, target = 0, stride = rank == 0 ? 1 : static_cast<std::size_t>(dims[rank]);
      for (int axis = rank - 2; axis >= 0; --axis) {
        const auto here = static_cast<std::size_t>(from.dims()[axis]);
        target += rest % here * stride;
        rest /= here;
        stride *= static_cast<std::size_t>(dims[axis + 1]);
      }
      std::copy_n(from.data() + at, run, result.data() + i * row + target);
    }
  }
  return result;
}

/// Keeps the elements of a batch until all their shapes are known.
template <class T>
class padding_collector {
 public:
  using type = typename batch_of<T>::type;
  padding_collector(extent, const padding_options& options) : options_(&options) {}
  void add(extent, T& x, std::size_t) { all_.push_back(std::move(x)); }
  [[nodiscard]] type take(extent) { return all(std::move(all_)); }

 private:
  template <class Row>
  [[nodiscard]] type all(std::vector<Row>&& rows) {
    return detail::padded(std::move(rows), *options_, 0);
  }
  template <class... Part>
  [[nodiscard]] type all(std::vector<std::tuple<Part...>>&& rows) {
    return parts<Part...>(rows, std::index_sequence_for<Part...>{});
  }
  template <class A, class B>
  [[nodiscard]] type all(std::vector<std::pair<A, B>>&& rows) {
    return parts<A, B>(rows, std::index_sequence<0, 1>{});
  }
  template <class... Part, class Rows, std::size_t... I>
  [[nodiscard]] type parts(Rows& rows, std::index_sequence<I...>) {
    return type(detail::padded(part<I, Part>(rows), *options_, I)...);
  }
  template <std::size_t I, class Part, class Rows>
  [[nodiscard]] static std::vector<Part> part(Rows& rows) {
    std::vector<Part> result;
    result.reserve(rows.size());
    for (auto& row : rows) result.push_back(std::move(std::get<I>(row)));
    return result;
  }

  const padding_options* options_;
  std::vector<T> all_;
};

/// What the rows of an element are; void if it has none.
template <class T>
struct unbatched {
  using type = typename row_of<T>::type;
};
template <class... T>
struct unbatched<std::tuple<T...>> {
  using type = std::conditional_t<(std::is_void_v<typename row_of<T>::type> || ...), void,
                                  std::tuple<typename row_of<T>::type...>>;
};
template <class A, class B>
struct unbatched<std::pair<A, B>> {
  using type = std::conditional_t<std::is_void_v<typename row_of<A>::type> || std::is_void_v<typename row_of<B>::type>,
                                  void, std::pair<typename row_of<A>::type, typename row_of<B>::type>>;
};

template <class T>
class unbatched_stage final : public stage_behind<T, typename unbatched<T>::type> {
  using row = typename unbatched<T>::type;

  class pass final : public cursor<row> {
   public:
    pass(std::unique_ptr<cursor<T>> input, iteration& in) : input_(std::move(input)), in_(in) {}
    got next(row& to) override {
      while (next_ >= rows_) {
        if (const got g = fetch(); g != got::element) return g;
        if (rows_ == 0 && in_.stopping()) return got::interrupted;
      }
      assign(to, next_++);
      return got::element;
    }
    TAGMA_COLD got skip(extent& n) override {
      while (n > 0) {
        if (next_ < rows_) {
          const extent some = std::min(n, rows_ - next_);
          next_ += some;
          n -= some;
          continue;
        }
        const got g = fetch();
        if (g == got::end || g == got::interrupted) return g;
        if (g == got::error) --n;
      }
      return got::element;
    }
    TAGMA_COLD void save(position& to) const override {
      to.push_back(next_ < rows_ ? next_ : -1);
      if (next_ < rows_)
        to.insert(to.end(), before_.begin(), before_.end());
      else
        input_->save(to);
    }
    TAGMA_COLD void restore(position_reader& from) override {
      const std::int64_t at = from.take();
      input_->restore(from);
      if (at < 0) return;
      if (fetch() != got::element || at >= rows_) position_reader::wrong();
      next_ = at;
    }

   private:
    got fetch() {
      before_.clear();
      input_->save(before_);
      next_ = rows_ = 0;
      const got g = input_->next(from_);
      if (g != got::element) return g;
      try {
        rows_ = count(from_);
      } catch (...) {
        in_.error = std::current_exception();
        return got::error;
      }
      return g;
    }
    template <class Part>
    [[nodiscard]] static extent count(const Part& part) {
      if constexpr (is_tuple<Part>)
        return std::apply([](const auto&... parts) { return detail::common_rows(parts...); }, part);
      else
        return detail::rows_of(part);
    }
    void assign(row& to, extent i) const {
      if constexpr (is_tuple<T>)
        assign(to, i, std::make_index_sequence<std::tuple_size_v<T>>{});
      else
        detail::assign_row(to, from_, i);
    }
    template <std::size_t... I>
    void assign(row& to, extent i, std::index_sequence<I...>) const {
      (detail::assign_row(std::get<I>(to), std::get<I>(from_), i), ...);
    }

    std::unique_ptr<cursor<T>> input_;
    iteration& in_;
    T from_{};
    position before_;
    extent next_ = 0, rows_ = 0;
  };

 public:
  explicit unbatched_stage(stage_of<T> input) : stage_behind<T, row>(std::move(input)) {}

  [[nodiscard]] extent size() const override { return this->input_->size() == 0 ? 0 : unknown_size; }
  [[nodiscard]] TAGMA_COLD std::unique_ptr<cursor<row>> start(std::uint64_t epoch, iteration& in) const override {
    return std::make_unique<pass>(datasets::start(*this->input_, epoch, in), in);
  }
  TAGMA_COLD void describe(std::string& to) const override {
    this->input_->describe(to);
    to += ".unbatch";
  }
};

}  // namespace detail

}  // namespace tagma::datasets
