// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Stages that group elements and take groups apart: batch, padded_batch, unbatch.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/data/collector.hpp"
#include "tagma/data/element.hpp"
#include "tagma/data/sources.hpp"
#include "tagma/data/stage.hpp"

namespace tagma::datasets {

namespace detail {

/// A collector, and the element that it is given next. What a collector throws is the error of the batch.
template <class T, class Collector>
struct collecting {
  template <class Options>
  TAGMA_COLD collecting(extent most, const Options& options) : by(most, options) {}
  collecting(const collecting&) = delete;
  collecting& operator=(const collecting&) = delete;
  TAGMA_COLD ~collecting() = default;

  [[nodiscard, gnu::noinline]] bool add(extent i, std::exception_ptr& error) {
    try {
      by.add(i, next, 0);
      return true;
    } catch (...) {
      error = std::current_exception();
      return false;
    }
  }
  [[nodiscard, gnu::noinline]] got take(extent count, typename Collector::type& to, std::exception_ptr& error) {
    try {
      by.take(count, to);
      return got::element;
    } catch (...) {
      error = std::current_exception();
      return got::error;
    }
  }

  Collector by;
  T next{};
};

/// The elements n * b to n * (b + 1) in one. Where one of them is an error, the batch is, and the others go with it.
template <class T, class Collector, class Options>
class batched final : public stage_behind<T, typename Collector::type> {
  using batch = typename Collector::type;

  class pass final : public cursor<batch> {
   public:
    pass(const batched& of, std::uint64_t epoch, iteration& in)
        : input_(datasets::start(of.input(), epoch, in)), of_(of), in_(in), collected_(of.most_of_one(), of.options_) {}
    TAGMA_COLD ~pass() override = default;
    got advance(batch& to) override {
      if (ended_) return got::end;
      boundary_.enter(*input_, in_);
      while (count_ < of_.most_) {
        if (failed_) {
          if (pass_rest() == got::interrupted) return got::interrupted;
          break;
        }
        const got g = input_->next(collected_.next);
        if (g == got::interrupted) return g;
        if (g == got::end) {
          ended_ = true;
          break;
        }
        if (g == got::error || !collected_.add(count_, in_.error)) fail_batch();
        ++count_;
        if (in_.stopping()) return got::interrupted;
      }
      boundary_.leave();
      const extent count = std::exchange(count_, 0);
      if (count == 0 || (count < of_.most_ && of_.drop_remainder_)) return got::end;
      if (failed_) [[unlikely]]
        return give_error();
      return collected_.take(count, to, in_.error);
    }
    TAGMA_COLD void save(number_list& to) const override {
      to.push(ended_ && !boundary_.inside() ? 1 : 0);
      boundary_.save(*input_, to);
    }
    TAGMA_COLD void restore(position_reader& from) override {
      ended_ = from.take(1) == 1;
      input_->restore(from);
    }
    TAGMA_COLD got pass_by(extent& n) override {
      while (n > 0) {
        if (ended_) return got::end;
        boundary_.enter(*input_, in_);
        if (pass_rest() == got::interrupted) return got::interrupted;
        boundary_.leave();
        const bool whole = std::exchange(count_, 0) > (of_.drop_remainder_ ? of_.most_ - 1 : 0);
        if (whole) --n;
      }
      return got::element;
    }

   private:
    /// Passes the elements by that the batch still lacks.
    TAGMA_COLD got pass_rest() {
      extent rest = of_.most_ - count_;
      const got g = input_->skip(rest);
      count_ = of_.most_ - rest;
      ended_ = g == got::end;
      return g;
    }
    TAGMA_COLD void fail_batch() {
      failed_ = true;
      error_ = in_.take_error();
    }
    TAGMA_COLD got give_error() {
      failed_ = false;
      in_.give_error(error_);
      return got::error;
    }

    owned<cursor<T>> input_;
    const batched& of_;
    iteration& in_;
    boundary boundary_;
    collecting<T, Collector> collected_;
    std::exception_ptr error_;
    extent count_ = 0;
    bool failed_ = false, ended_ = false;
  };

 public:
  batched(stage_of<T> input, extent most, bool drop_remainder, Options options)
      : stage_behind<T, batch>(std::move(input)),
        most_(most),
        drop_remainder_(drop_remainder),
        options_(std::move(options)) {
    this->indexed_ = this->input_->indexed();
  }
  TAGMA_COLD ~batched() override = default;

  [[nodiscard]] extent size() const override {
    const extent all = this->input_->size();
    if (all == unknown_size || all == endless) return all;
    return all / most_ + (all % most_ != 0 && !drop_remainder_ ? 1 : 0);
  }
  got get(extent i, std::uint64_t epoch, batch& to, iteration& in) const override {
    const extent first = i * most_, left = this->input_->size() - first, most = most_ < left ? most_ : left;
    collecting<T, Collector> collected(most_of_one(), options_);
    detail::reuse(collected.by, to);
    extent count = 0;
    while (count < most) {
      const got g = datasets::get(*this->input_, first + count, epoch, collected.next, in);
      if (g == got::end) {
        if (in.ends_part) return g;  // elements of the next part belong to this batch
        in.ends_behind = true;
        break;
      }
      if (g != got::element) return g;
      if (!collected.add(count, in.error)) return got::error;
      if (in.given_up()) return got::interrupted;
      ++count;
      if (in.ends_behind) break;
    }
    if (count == 0 || (count < most_ && drop_remainder_)) {
      in.ends_behind = false;
      return got::end;
    }
    return collected.take(count, to, in.error);
  }
  [[nodiscard]] TAGMA_COLD owned<cursor<batch>> start(std::uint64_t epoch, iteration& in) const override {
    return owned<cursor<batch>>(new pass(*this, epoch, in));
  }
  TAGMA_COLD void describe(std::string& to) const override {
    this->input_->describe(to);
    append_parts(to, {".batch ", most_, drop_remainder_ ? " whole" : ""});
    if constexpr (requires { options_.shapes; }) {
      to += " padded";
      for (const shape& s : options_.shapes) append_parts(to, {" ", to_string(s)});
      for (const double v : options_.values) append_parts(to, {" ", std::bit_cast<std::int64_t>(v)});
    }
  }

 private:
  /// The most elements that one batch has.
  [[nodiscard]] extent most_of_one() const {
    const extent all = this->input_->size();
    return all == unknown_size || most_ < all ? most_ : all;
  }

  extent most_;
  bool drop_remainder_;
  Options options_;
};

}  // namespace detail

/// How padded_batch pads. Components that are no tensors are batched as they are.
struct padding_options {
  /// Of each component the shape that its elements are padded to, `dyn` for the largest extent of the batch; none: the
  /// largest extents of the batch everywhere.
  std::vector<shape> shapes{};
  /// Of each component the value that is put behind its elements, one that its type has; none: 0.
  std::vector<double> values{};
  /// Whether a last batch that is smaller is left out.
  bool drop_remainder = false;
};

namespace detail {

/// The types that the components of an element are padded with, `none` for those that are batched as they are.
/// @{
template <class T>
inline constexpr dtype padded_type = dtype::none;
template <class T>
inline constexpr dtype padded_type<tensor<T>> = dtype_of<T>;
template <class... T>
struct padded_types_of {
  static constexpr std::size_t count = sizeof...(T);
  static constexpr dtype all[count + 1] = {padded_type<T>...};
};
template <class T>
struct padded_types : padded_types_of<T> {};
template <class... T>
struct padded_types<std::tuple<T...>> : padded_types_of<T...> {};
template <class A, class B>
struct padded_types<std::pair<A, B>> : padded_types_of<A, B> {};
/// @}
/// Throws `invalid_argument` for shapes and values of components that there are not, and values that a type lacks.
void check_padding(const padding_options& options, const dtype* types, std::size_t count);

/// Pads one component: tensors. All else is batched as it is.
template <class T>
[[nodiscard]] auto padded(std::vector<T>&& all, const padding_options&, std::size_t component) {
  collector<T> plain(static_cast<extent>(all.size()), no_options{});
  for (std::size_t i = 0; i < all.size(); ++i) {
    T one = std::move(all[i]);  // of bools, a vector has no elements to refer to
    plain.add(static_cast<extent>(i), one, component);
  }
  typename collector<T>::type result;
  plain.take(static_cast<extent>(all.size()), result);
  return result;
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
      if (here > most) most = here;
    }
    dims.push_back(most);
  }
  tensor<T> result(dims);
  const double value = component < options.values.size() ? options.values[component] : 0;
  for (std::size_t i = 0; value != 0 && i < result.size(); ++i) result[i] = static_cast<T>(value);
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
      detail::copy_bytes(result.data() + i * row + target, from.data() + at, run * sizeof(T));
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
  void add(extent i, T& x, std::size_t) {
    if (i == 0) all_.clear();
    all_.push_back(std::move(x));
  }
  void take(extent, type& to) { to = all(std::exchange(all_, {})); }

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
    pass(owned<cursor<T>> input, iteration& in) : input_(std::move(input)), in_(in) {}
    got advance(row& to) override {
      while (next_ >= rows_) {
        if (const got g = fetch(); g != got::element) return g;
        if (rows_ == 0 && in_.stopping()) return got::interrupted;
      }
      assign(to, next_++);
      return got::element;
    }
    TAGMA_COLD got pass_by(extent& n) override {
      while (n > 0) {
        if (next_ < rows_) {
          const extent some = n < rows_ - next_ ? n : rows_ - next_;
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
    TAGMA_COLD void save(number_list& to) const override {
      to.push(next_ < rows_ ? next_ : -1);
      if (next_ < rows_)
        to.push(before_);
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

    owned<cursor<T>> input_;
    iteration& in_;
    T from_{};
    number_list before_;
    extent next_ = 0, rows_ = 0;
  };

 public:
  explicit unbatched_stage(stage_of<T> input) : stage_behind<T, row>(std::move(input)) {}

  [[nodiscard]] extent size() const override { return this->input_->size() == 0 ? 0 : unknown_size; }
  [[nodiscard]] TAGMA_COLD owned<cursor<row>> start(std::uint64_t epoch, iteration& in) const override {
    return owned<cursor<row>>(new pass(datasets::start(*this->input_, epoch, in), in));
  }
  TAGMA_COLD void describe(std::string& to) const override {
    this->input_->describe(to);
    to += ".unbatch";
  }
};

}  // namespace detail

}  // namespace tagma::datasets

#ifndef TAGMA_COMPILED
#include "tagma/data/batching.ipp"
#endif
